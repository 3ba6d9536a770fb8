"""The audit log: every lookup is logged for admins; a kill loses a minute at most."""

import json
import re
import stat
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from support import web
from support.keys import admin, asking, named_key
from support.running import RunningStack
from support.stack_client import now_ms

HOUR_S = 3600


def _folder(stack: RunningStack) -> Path:
    return stack.data_dir / "node-red" / "audit"


def _entries(stack: RunningStack, **asked: str | int) -> list[dict[str, Any]]:
    """All entries of a query, page by page."""
    found: list[dict[str, Any]] = []
    question: dict[str, str | int] = {"limit": 1000, **asked}
    with admin(stack) as caller:
        while True:
            answer = caller.get("/api/v1/audit", params=question)
            answer.raise_for_status()
            found += answer.json()["entries"]
            if (further := answer.json()["next"]) is None:
                return found
            question["cursor"] = further


def _look_up(caller: httpx.Client, staff_id: str, from_s: float, to_s: float) -> None:
    window: dict[str, str | int] = {"staff_id": staff_id, "start_time": int(from_s), "end_time": int(to_s)}
    caller.get("/extractbeacon", params=window).raise_for_status()


def test_a_history_lookup_is_logged_at_once(stack: RunningStack) -> None:
    key = named_key(stack, "historian", "history")
    now_s = int(time.time())
    with asking(stack, key) as caller:
        _look_up(caller, "audited-1", now_s - 2 * HOUR_S, now_s - HOUR_S)
    (entry,) = _entries(stack, subject="audited-1", who="historian")
    assert abs(entry.pop("ts") - now_ms()) < 60_000
    assert entry == {
        "kind": "lookup",
        "who": "historian",
        "key": key.split("_")[1],
        "address": "127.0.0.1",
        "route": "/extractbeacon",
        "subjects": ["audited-1"],
        "subjects_count": 1,
        "from_ms": (now_s - 2 * HOUR_S) * 1000,
        "to_ms": (now_s - HOUR_S) * 1000 + 999,
        "count": 1,
    }


@pytest.mark.parametrize(
    ("path", "subjects"),
    [
        ("/api/v1/staff/{id}/locations", "one"),
        ("/api/v1/staff/{id}/stays", "one"),
        ("/api/v1/staff/{id}/contacts", "one"),
        ("/api/v1/events", "everybody"),
        ("/api/v1/stays", "everybody"),
        ("/api/v1/stays?staff_id=0", "one"),
        ("/api/v1/rankings/staff", "everybody"),
    ],
)
def test_every_kind_of_lookup_is_logged(stack: RunningStack, path: str, subjects: str) -> None:
    name = "by" + re.sub(r"\W+", "-", path.removeprefix("/api/v1").replace("{id}", "id"))
    asked = {"staff_id": "0"} if "?" in path else {}
    path = path.split("?")[0]
    now_s = int(time.time())
    with asking(stack, named_key(stack, name, "history")) as caller:
        window: dict[str, str | int] = {"start": now_s - 2 * HOUR_S, "end": now_s - HOUR_S, **asked}
        answer = caller.get(path.replace("{id}", "0"), params=window)
        assert answer.status_code == 200, answer.text
    entries = _entries(stack, who=name)
    assert entries
    for entry in entries:  # more than one where a 503 was asked again, which is logged as well
        assert entry["route"] == path.replace("{id}", "{staff_id}")
        assert entry["subjects"] == (["0"] if subjects == "one" else "*")
        assert (entry["from_ms"], entry["to_ms"]) == ((now_s - 2 * HOUR_S) * 1000, (now_s - HOUR_S) * 1000)


def test_lookups_of_several_and_all_people_are_logged(stack: RunningStack) -> None:
    now_s = time.time()
    with asking(stack, named_key(stack, "bulk", "history")) as caller:
        _look_up(caller, "5,6,7,9", now_s - HOUR_S, now_s - HOUR_S + 5)
        _look_up(caller, "*", now_s - HOUR_S, now_s - HOUR_S + 5)
        window: dict[str, str | int] = {"start": int(now_s) - HOUR_S, "end": int(now_s)}
        stays = caller.get("/api/v1/stays", params={"staff_id": "5,6,7,9", **window})
        assert stays.is_success
    assert [entry["subjects"] for entry in _entries(stack, who="bulk")] == [[["5", "7"], "9"], "*", [["5", "7"], "9"]]
    assert len(_entries(stack, who="bulk", subject="6")) == 3
    assert len(_entries(stack, who="bulk", subject="8")) == 1


def test_a_trusted_caller_is_logged_by_its_address(stack: RunningStack) -> None:
    now_s = time.time()
    with web.Client(base_url=stack.http_url) as caller:
        _look_up(caller, "audited-2", now_s - HOUR_S, now_s - HOUR_S + 9)
    (entry,) = (one for one in _entries(stack, subject="audited-2", who="127.0.0.1") if one["subjects"] != "*")
    assert entry["key"] is None


def test_only_admins_read_the_log_and_reads_are_logged(stack: RunningStack) -> None:
    with asking(stack, named_key(stack, "nosy", "history", "presence")) as caller:
        assert caller.get("/api/v1/audit").status_code == 403
    assert web.get(f"{stack.http_url}/api/v1/audit").status_code == 401
    start = int(time.time()) - 5
    _entries(stack, subject="audited-3", start=start)
    reads = [entry for entry in _entries(stack, who="SDA_API_KEY", start=start) if entry["kind"] == "audit_read"]
    assert any("audited-3" in entry["about"] for entry in reads)


def test_new_and_revoked_keys_are_logged(stack: RunningStack) -> None:
    start = int(time.time()) - 1
    named_key(stack, "passing", "presence")
    named_key(stack, "passing", "presence")
    deeds = [
        (entry["kind"], entry["about"].split(" ")[0], entry["who"])
        for entry in _entries(stack, start=start)
        if entry["kind"].startswith("key_") and entry["about"].startswith("passing ")
    ]
    assert deeds == [
        ("key_added", "passing", "SDA_API_KEY"),
        ("key_revoked", "passing", "SDA_API_KEY"),
        ("key_added", "passing", "SDA_API_KEY"),
    ]


def test_polls_are_aggregated_and_a_kill_loses_only_those(stack: RunningStack) -> None:
    """A clean stop writes aggregated entries; a kill loses only these."""
    key = named_key(stack, "poller", "history")
    tracer = named_key(stack, "tracer", "admin")
    start = int(time.time()) - 1

    def poll() -> None:
        with asking(stack, key) as caller:
            for staff_id in [*range(20), *range(20)]:
                _look_up(caller, str(staff_id), time.time() - 10, time.time())

    poll()
    with asking(stack, tracer) as caller:  # a trace is a lookup of the present too
        assert caller.get("/api/v1/staff/0/trace").status_code == 200
    stack.stop("node-red")
    stack.start("node-red")
    (trace,) = _entries(stack, who="tracer", start=start, subject="0")
    assert (trace["route"], trace["subjects"], trace["count"]) == ("/api/v1/staff/{staff_id}/trace", ["0"], 1)
    assert abs(trace["to_ms"] - now_ms()) < 120_000
    entries = _entries(stack, who="poller", start=start)
    assert sum(entry["count"] for entry in entries) == 40, "one line, or two where a minute ended in between"
    assert len(entries) <= 2
    assert all(entry["subjects"] == [["0", "19"]] or entry["subjects_count"] < 20 for entry in entries)
    poll()
    with asking(stack, key) as caller:
        _look_up(caller, "before-the-kill", time.time() - HOUR_S, time.time())
    stack.kill("node-red")
    stack.start("node-red")
    assert [one["subjects"] for one in _entries(stack, who="poller", start=start)][-1] == ["before-the-kill"]
    for line in _file(stack).read_text().splitlines():
        json.loads(line)


def test_only_the_owner_can_read_the_file(stack: RunningStack) -> None:
    assert stat.S_IMODE(_folder(stack).stat().st_mode) == 0o700
    assert stat.S_IMODE(_file(stack).stat().st_mode) == 0o600


def _file(stack: RunningStack) -> Path:
    return max(_folder(stack).glob("*.jsonl"))
