"""More comes in than can be located: the present goes first, what is skipped is located later, and history is whole."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from chaos import history
from support import web
from support.building import Building
from support.metrics import figures
from support.running import RunningStack
from support.stack_client import batch, eventually, get, now_ms, publish

PHONES, SECONDS, MOVED_S = 200, 30, 20
"""A message each a second; then all of them go to another room."""
HEARD = 40
"""Beacons in a message: what takes long to locate."""
RUNS_S, RESTS_S = 0.02, 0.08
"""Node-RED gets a fifth of the time of any machine until it is behind."""
OTHER_SHARE = 0.01
"""So many rooms may be others until what follows a backlog is located once more, two minutes later (interfaces.md)."""


def _readings(demo: Building, number: int, second: int) -> list[tuple[str, int]]:
    """One beacon nearby, and many far away; the one nearby is another one after MOVED_S."""
    start = number * 7 + (60 if second >= MOVED_S else 0)
    ids = [demo.beacons[(start + n) % len(demo.beacons)].id for n in range(HEARD)]
    return [(beacon, -45 if n == 0 else -80 - n // 4) for n, beacon in enumerate(ids)]


def test_what_the_flows_cannot_locate_in_time_is_located_later_and_the_present_at_once(
    stack: RunningStack, demo: Building
) -> None:
    run = uuid.uuid4().hex[:8]
    staff = [f"over-{run}-{number}" for number in range(PHONES)]
    skipped_before = figures(stack)["sda_located_later_total"]
    stack.freeze("node-red")
    start_ms = now_ms() // 1000 * 1000 - SECONDS * 1000
    publish(
        stack,
        *(
            (f"phone/{who}/readings", batch(*_readings(demo, number, second), ts=start_ms + second * 1000))
            for second in range(SECONDS)
            for number, who in enumerate(staff)
        ),
    )
    with _slowed(stack):
        part = eventually(lambda: _overloaded(stack), what="the overload in /health")
    assert part["reason"].startswith("overloaded: offered "), part
    assert "taken " in part["reason"], part
    assert "behind by " in part["reason"], part

    # The present: everybody is in the second room before the time in the first one is located.
    rooms = {who: demo.beacons[(number * 7 + 60) % len(demo.beacons)].room for number, who in enumerate(staff)}
    elsewhere: list[dict[str, str]] = []

    def is_there() -> bool:
        where = _where(stack, staff)
        elsewhere[:] = [{who: where.get(who, "nowhere")} for who, room in rooms.items() if where.get(who) != room]
        return not elsewhere

    try:
        eventually(is_there, what="everybody in the last room")
    except AssertionError as error:
        raise AssertionError(f"{len(elsewhere)} of {len(staff)} are elsewhere: {elsewhere[:5]}") from error
    skipped = figures(stack)["sda_located_later_total"] - skipped_before
    assert skipped > 0
    assert _complete_until_ms(stack, staff, start_ms) < start_ms + SECONDS * 1000, "nothing by halves"

    # The past: all of it, as if nothing had been skipped.
    end_ms = start_ms + SECONDS * 1000
    readings = eventually(lambda: _stored(stack, start_ms, end_ms, staff), what="all readings in the database")
    expected = history.undisturbed(readings, [], stack.building).locations
    assert len(expected) == PHONES * SECONDS
    eventually(lambda: _others(stack, start_ms, end_ms, staff, expected) <= OTHER_SHARE, 180, "an undisturbed history")
    eventually(lambda: _live(stack)["status"] == "up", what="the end of the overload")


def _others(
    stack: RunningStack, start_ms: int, end_ms: int, staff: list[str], expected: set[history.Location]
) -> float:
    """The share of locations that are not those of an undisturbed run; 1 where any lacks."""
    stored = history.stored_history(stack, start_ms, end_ms, set(staff)).locations
    if {one[:2] for one in stored} != {one[:2] for one in expected}:
        return 1.0
    return len(stored - expected) / len(expected)


@contextmanager
def _slowed(stack: RunningStack) -> Iterator[None]:
    """Node-RED, frozen before, runs a little at a time during the block, and as usual after it."""
    over = Event()

    def alternate() -> None:
        while not over.is_set():
            stack.thaw("node-red")
            over.wait(RUNS_S)
            stack.suspend("node-red")
            over.wait(RESTS_S)

    thread = Thread(target=alternate, name="slowed")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        stack.thaw("node-red")


def _stored(stack: RunningStack, start_ms: int, end_ms: int, staff: list[str]) -> list[history.Reading]:
    found = history.stored_readings(stack, start_ms, end_ms, set(staff))
    return found if len(found) == PHONES * SECONDS * HEARD else []


def _live(stack: RunningStack) -> dict[str, Any]:
    part: dict[str, Any] = web.get(f"{stack.http_url}/health").json()["parts"]["live"]
    return part


def _overloaded(stack: RunningStack) -> dict[str, Any]:
    part = _live(stack)
    return part if part["overloaded"] else {}


def _where(stack: RunningStack, staff: list[str]) -> dict[str, str]:
    """The room of each of them now."""
    known = set(staff)
    found = get(stack, "/api/v1/staff", limit=1000).json()["staff"]
    return {one["staff_id"]: one["presence"]["room"] for one in found if one["staff_id"] in known and one["presence"]}


def _complete_until_ms(stack: RunningStack, staff: list[str], start_ms: int) -> int:
    """Up to where nothing lacks of the last of them."""
    window = {"start_time": start_ms // 1000, "end_time": start_ms // 1000 + SECONDS}
    return int(get(stack, "/extractbeacon", staff_id=staff[-1], **window).headers["X-Complete-Until-Ms"])
