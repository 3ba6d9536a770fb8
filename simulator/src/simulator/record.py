"""Recordings with known rooms: start, tap, stop and fetch over the HTTP API, and write into a folder."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from simulator.report import clock

TIMEOUT_S = 60.0  # a long recording is some megabytes
SET_FILES = ("building.json", "set.json")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


class RecordError(Exception):
    """The action failed; the message says why and what to do."""


class NoAnswerError(RecordError):
    """The platform could not be reached."""


class KeyRefusedError(RecordError):
    """The platform refused the key."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action: `start` with a staff id, `tap` with a room, `get` and `delete` with a recording's name."""

    verb: str
    subject: str | None = None
    name: str | None = None
    folder: Path | None = None


async def run(url: str, key: str | None, action: Action, log: Callable[[str], None]) -> dict[str, Any]:
    """Run the action and return the platform's answer. Raises RecordError."""
    headers = {"X-API-Key": key} if key else {}
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        return await _Recorder(session, f"{url}/api/v1/recordings", log).run(action)


class _Recorder:
    def __init__(self, session: aiohttp.ClientSession, base: str, log: Callable[[str], None]) -> None:
        self._session, self._base, self._log = session, base, log

    async def run(self, action: Action) -> dict[str, Any]:
        if action.verb == "start":
            body = {"staff_id": action.subject, **({"name": action.name} if action.name else {})}
            started = await self._request("POST", "", body)
            self._log(f"{started['name']}: records staff {started['staff_id']}; tap a room now")
            return started
        if action.verb == "show":
            known = await self._request("GET", "")
            for one in known["recordings"]:
                self._log(describe(one, time.time()))
            if not known["recordings"]:
                self._log("there is no recording")
            return known
        if action.verb in ("get", "delete"):
            found = await self._named(str(action.subject))
            return await (self._get(found, action.folder) if action.verb == "get" else self._delete(found))
        return await self._change(await self._running(), action)

    async def _change(self, running: dict[str, Any], action: Action) -> dict[str, Any]:
        at = f"/{running['id']}"
        if action.verb == "tap":
            done = await self._request("POST", f"{at}/taps", {"room": action.subject})
            self._log(f"{done['name']}: in {action.subject or 'no room'}, {_count(done['taps_count'], 'tap')}")
        elif action.verb == "undo":
            taps = (await self._request("GET", at))["taps"]
            if not taps:
                raise RecordError(f"{running['name']} has no tap to remove")
            done = await self._request("DELETE", f"{at}/taps/{taps[-1]['tap']}")
            room = done["taps"][-1]["room"] if done["taps"] else None
            self._log(f"{done['name']}: in {room or 'no room'} again")
        else:
            done = await self._request("POST", f"{at}/stop")
            self._log(describe(done, time.time()))
        return done

    async def _get(self, found: dict[str, Any], folder: Path | None) -> dict[str, Any]:
        answer = await self._request("GET", f"/{found['id']}/files")
        target = folder or Path(found["name"])
        write(target, answer["files"])
        self._log(f"{found['name']} is in {target}; to measure: make accuracy DATA={target.resolve()}")
        return {"name": found["name"], "folder": str(target), "files": sorted(answer["files"])}

    async def _delete(self, found: dict[str, Any]) -> dict[str, Any]:
        gone = await self._request("DELETE", f"/{found['id']}")
        self._log(f"{gone['name']} is deleted")
        return gone

    async def _running(self) -> dict[str, Any]:
        for one in (await self._request("GET", ""))["recordings"]:
            if one["stopped_ms"] is None:
                return dict(one)
        raise RecordError("nothing is being recorded: begin with 'simulator record start STAFF_ID'")

    async def _named(self, name: str) -> dict[str, Any]:
        known = (await self._request("GET", ""))["recordings"]
        for one in known:
            if name in (one["name"], one["id"]):
                return dict(one)
        names = ", ".join(one["name"] for one in known) or "none"
        raise RecordError(f"there is no recording {name!r}; there are: {names}")

    async def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        sent = body if method == "GET" else body or {}  # aiohttp sets a content type only with a body
        try:
            async with self._session.request(method, f"{self._base}{path}", json=sent) as response:
                answer = await response.json(content_type=None)
        except aiohttp.ClientConnectorError as error:
            raise NoAnswerError(f"{self._base}: no connection: {error.os_error.strerror or error.os_error}") from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise NoAnswerError(f"{self._base}: no answer: {error or type(error).__name__}") from error
        except ValueError as error:
            raise RecordError(f"{self._base} answered something else than JSON: is that the platform?") from error
        if response.status >= 400:
            error_text = answer.get("error") if isinstance(answer, dict) else None
            kind = KeyRefusedError if response.status in (401, 403) else RecordError
            raise kind(str(error_text or f"HTTP {response.status}"))
        return dict(answer)


def describe(one: dict[str, Any], now_s: float) -> str:
    """A recording as a line of text."""
    end_ms = one["stopped_ms"]
    lasts_s = (now_s * 1000 if end_ms is None else end_ms) / 1000 - one["started_ms"] / 1000
    readings = one["gateway_readings"] + one["phone_readings"]
    state = "is running" if end_ms is None else "is over"
    return (
        f"{one['name']} {state}: staff {one['staff_id']}, {clock(max(0.0, lasts_s))}, "
        f"{_count(readings, 'reading')}, {_count(one['taps_count'], 'tap')}"
        + (f", {one['lost_readings']:,} lost" if one["lost_readings"] else "")
        + (f", {one['outside_readings']:,} of another time" if one["outside_readings"] else "")
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def write(folder: Path, files: dict[str, str]) -> None:
    """Write a recording into a folder, which may have others of the same building and walker. Raises RecordError."""
    for name in files:
        if not _FILE_NAME.fullmatch(name):
            raise RecordError(f"the platform names a file {name!r}, which is not written")
    building = folder / "building.json"
    if building.exists() and json.loads(building.read_text()) != json.loads(files["building.json"]):
        raise RecordError(f"{folder} holds recordings of another building or walker: take another folder (--to)")
    kept = folder / "set.json"
    if kept.exists() and json.loads(kept.read_text())["mode"] != json.loads(files["set.json"])["mode"]:
        raise RecordError(f"{folder} holds recordings of the other mode (gateway, phone): take another folder (--to)")
    own = {name: text for name, text in files.items() if name not in SET_FILES}
    if there := [name for name in own if (folder / name).exists()]:
        raise RecordError(f"{folder / there[0]} is there already: nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            if name in own or not (folder / name).exists():
                (folder / name).write_text(text)
    except OSError as error:
        raise RecordError(f"{folder} cannot be written: {error}") from error
