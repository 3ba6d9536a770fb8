"""Asks about the past all the while, keeps every answer, and polls how far everything is complete."""

import gzip
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
from support import web
from support.running import RunningStack
from support.stack_client import now_ms

from . import answers

AGO_S = (16.0, 200.0)
"""Windows end so long ago; a location is decided and published within 15 s."""
LONG_S = (5.0, 240.0)
EVERYBODYS_S = 20.0
ASK_EVERY_S, POLL_S = 0.25, 0.5
TIMEOUT_S = 10.0
BY_NAME = ("extractbeacon", "locations", "stays")
"""Routes that are about the named people alone."""
LIMIT = 1000
COMPLETE_UNTIL = "X-Complete-Until-Ms"
"""Header of `/extractbeacon`; kept in the body as `complete_until_ms`, where the others have it."""


@dataclass(frozen=True, slots=True)
class Question:
    """`staff`: the people it is about; empty: everybody."""

    route: str
    path: str
    params: dict[str, Any]
    staff: tuple[str, ...]
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, when it was asked, and its answer; status 0: there was none."""

    question: Question
    asked_ms: int
    status: int
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Poll:
    """/health and everybody's coverage at one moment; `until_ms`: complete up to there, None: refused."""

    at_ms: int
    until_ms: int | None
    reason: str
    health: str
    """`up`, `degraded`, or empty: no answer."""
    rebuild: str
    unwell: dict[str, str]


class Asker:
    """Threads that ask until `stop`; `alone`: nobody else is located, so that questions may be about everybody."""

    def __init__(self, stack: RunningStack, seed: int, since_ms: int, folder: Path, *, alone: bool) -> None:
        self.polls: list[Poll] = []
        self.kept = folder / "answers.jsonl.gz"
        self.counts: dict[tuple[str, int], int] = {}
        self._stack, self._since_ms = stack, since_ms
        self._routes = answers.ROUTES if alone else BY_NAME
        self._many = (1, 1, 5, 0) if alone else (1, 5)
        self._rng = random.Random(f"{seed}/questions")  # noqa: S311 - play, not secrets
        self._staff: list[str] = []
        self._rooms = _rooms(stack.building)
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._ask_on, self._poll_health)]

    def start(self, staff: Sequence[str]) -> None:
        self._staff = list(staff)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def kept_answers(self) -> Iterator[Asked]:
        """Every answer with status 200, as it was given."""
        with gzip.open(self.kept, "rt") as lines:
            for line in lines:
                row = json.loads(line)
                row["question"]["staff"] = tuple(row["question"]["staff"])
                yield Asked(Question(**row.pop("question")), **row)

    def _ask_on(self) -> None:
        with gzip.open(self.kept, "wt") as file, self._client() as client:
            while not self._stopped.wait(ASK_EVERY_S):
                question = self._question()
                if question is None:
                    continue
                asked = ask(client, question)
                key = (question.route, asked.status)
                self.counts[key] = self.counts.get(key, 0) + 1
                if asked.status == httpx.codes.OK:
                    file.write(json.dumps(asdict(asked)) + "\n")

    def _poll_health(self) -> None:
        with self._client() as client:
            while not self._stopped.wait(POLL_S):
                self.polls.append(self._poll(client))

    def _client(self) -> web.Client:
        return web.Client(base_url=self._stack.http_url, timeout=TIMEOUT_S, retry_503=False)

    def _question(self) -> Question | None:
        rng, asked_ms = self._rng, now_ms()
        route = rng.choice(self._routes)
        ago_s = min(AGO_S[1], (asked_ms - self._since_ms) / 1000 - 1)
        to_ms = asked_ms - round(rng.uniform(AGO_S[0], max(ago_s, AGO_S[0])) * 1000)
        people = rng.choice(self._many) if route == "extractbeacon" else 0 if route in _ABOUT_ALL else 1
        long_s = EVERYBODYS_S if route == "extractbeacon" and people == 0 else rng.uniform(*LONG_S)
        from_ms = max(to_ms - round(long_s * 1000), self._since_ms)
        if to_ms - from_ms < 1000:
            return None
        staff = tuple(rng.sample(self._staff, min(people, len(self._staff))))
        return question_of(route, staff, rng.choice(self._rooms), from_ms, to_ms)

    def _poll(self, client: web.Client) -> Poll:
        polled_ms = now_ms()
        params = {"start": self._since_ms / 1000, "end": polled_ms / 1000, "limit": 1}
        stays = get(client, "/api/v1/stays", params)
        health = get(client, "/health", {})
        parts: dict[str, Any] = health[1].get("parts", {})
        unwell = {name: str(part.get("reason")) for name, part in parts.items() if part.get("status") != "up"}
        until_ms = int(stays[1]["complete_until_ms"]) if stays[0] == httpx.codes.OK else None
        return Poll(polled_ms, until_ms, str(stays[1].get("error", "")), str(health[1].get("status", "")),
                    str(parts.get("rebuild", {}).get("state", "")), unwell)  # fmt: skip


_ABOUT_ALL = ("visits", "events", "patrols")


def question_of(route: str, staff: tuple[str, ...], room: str, from_ms: int, to_ms: int) -> Question:
    """A question about these people (none: everybody), or about a room."""
    window: dict[str, Any] = {"start": from_ms / 1000, "end": to_ms / 1000, "limit": LIMIT}
    one = staff[0] if staff else ""
    if route == "extractbeacon":
        window = {"staff_id": ",".join(staff) or "*", "start_time": from_ms // 1000 + 1, "end_time": to_ms // 1000 - 1}
    path = {
        "extractbeacon": "/extractbeacon",
        "locations": f"/api/v1/staff/{one}/locations",
        "stays": f"/api/v1/staff/{one}/stays",
        "contacts": f"/api/v1/staff/{one}/contacts",
        "visits": f"/api/v1/rooms/{room}/visits",
        "patrols": "/api/v1/patrols",
        "events": "/api/v1/events",
    }[route]
    about = () if route == "contacts" else staff
    return Question(route, path, window, about, from_ms, to_ms)


def ask(client: web.Client, question: Question) -> Asked:
    asked_ms = now_ms()
    status, body = get(client, question.path, question.params)
    return Asked(question, asked_ms, status, body)


def get(client: web.Client, path: str, params: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Status and body, with up to when it is complete; 0 where Node-RED is not there, or breaks off."""
    try:
        answer = client.get(path, params=params)
        body = answer.json()
    except (httpx.TransportError, ValueError):
        return 0, {}
    if not isinstance(body, dict):
        return answer.status_code, {}
    if COMPLETE_UNTIL in answer.headers:
        body["complete_until_ms"] = int(answer.headers[COMPLETE_UNTIL])
    return answer.status_code, body


def eventually_asked(client: web.Client, question: Question, within_s: float) -> Asked:
    """The first answer that is no 503."""
    deadline = time.monotonic() + within_s
    while (asked := ask(client, question)).status != httpx.codes.OK and time.monotonic() < deadline:
        time.sleep(0.2)
    return asked


def _rooms(building: Path) -> list[str]:
    levels = json.loads(Path(building).read_text())["levels"]
    return [room["id"] for level in levels for room in level["rooms"]]


Report = Callable[[str], None]
