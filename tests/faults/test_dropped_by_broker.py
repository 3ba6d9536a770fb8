"""The broker drops what it queued for the flows: it is stored, and located from there without being asked for."""

from collections.abc import Iterator
from typing import Any

import pytest
from chaos import history
from support import web
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import batch, eventually, get, influx, now_ms, publish

QUEUE = 200
"""Messages that this broker keeps for an absent subscriber."""
PHONES, SECONDS, MOVED_S = 12, 8, 4
"""A message each a second; then all of them go to another room."""
BREAK_MS = 20_000
"""What is newer when the flows are back is located once more in any case."""


@pytest.fixture
def stack() -> Iterator[RunningStack]:
    """Its broker has a small queue."""
    with running_stack() as running:
        (running.data_dir / "broker" / "listeners.d" / "0-queue.conf").write_text(f"max_queued_messages {QUEUE}\n")
        running.stop("mosquitto")
        running.start("mosquitto")
        running.wait_until_healthy()
        again_ms = now_ms()
        eventually(lambda: len(_probes(running, again_ms)) >= 2, what="probes that came back through the flows' queue")
        yield running


def _probes(stack: RunningStack, from_ms: int) -> list[dict[str, Any]]:
    """Those that the flows have sent since then, as they are stored."""
    return influx(stack, "readings", f"SELECT ms FROM probe WHERE time >= {from_ms}ms")  # noqa: S608 - a number


def test_what_the_broker_dropped_of_the_flows_queue_is_located_by_itself(stack: RunningStack, demo: Building) -> None:
    staff = [f"dropped-{number}" for number in range(PHONES)]
    stack.freeze("node-red")
    start_ms = now_ms() // 1000 * 1000 + 1000
    end_ms = start_ms + SECONDS * 1000
    eventually(lambda: "exceeded timeout" in stack.log("mosquitto"), what="the end of the flows' connection")
    beacon = demo.beacons[0].id
    publish(stack, *(("phone/filler/readings", batch((beacon, -60), ts=start_ms + n)) for n in range(QUEUE + 20)))
    publish(
        stack,
        *(
            (f"phone/{who}/readings", batch(*_readings(demo, number, second), ts=start_ms + second * 1000))
            for second in range(SECONDS)
            for number, who in enumerate(staff)
        ),
    )
    eventually(lambda: now_ms() > end_ms + BREAK_MS, what="a time that a break of the connection does not cover")
    stack.thaw("node-red")

    reason = eventually(lambda: _rebuild(stack).get("reason", ""), what="the loss in /health")
    assert "the broker has dropped messages that waited for the flows" in reason
    assert _rebuild(stack)["complete_until_ms"] < start_ms
    assert _complete_until_ms(stack, staff[0], start_ms) < end_ms, "nothing by halves"

    readings = eventually(lambda: _stored(stack, start_ms, end_ms, staff), what="all readings in the database")
    expected = history.undisturbed(readings, [], stack.building).locations
    assert len(expected) == PHONES * SECONDS
    eventually(
        lambda: history.stored_history(stack, start_ms, end_ms, set(staff)).locations == expected,
        within_s=180,
        what="an undisturbed history",
    )
    eventually(lambda: _rebuild(stack)["complete_until_ms"] > end_ms, what="a complete history")
    stack.wait_until_healthy()


def _readings(demo: Building, number: int, second: int) -> list[tuple[str, int]]:
    """One beacon nearby, another one after MOVED_S."""
    near = demo.beacons[(number * 7 + (60 if second >= MOVED_S else 0)) % len(demo.beacons)]
    return [(near.id, -45)]


def _stored(stack: RunningStack, start_ms: int, end_ms: int, staff: list[str]) -> list[history.Reading]:
    found = history.stored_readings(stack, start_ms, end_ms, set(staff))
    return found if len(found) == PHONES * SECONDS else []


def _rebuild(stack: RunningStack) -> dict[str, Any]:
    part: dict[str, Any] = web.get(f"{stack.http_url}/health", timeout=10).json()["parts"]["rebuild"]
    return part


def _complete_until_ms(stack: RunningStack, who: str, start_ms: int) -> int:
    """Up to where nothing lacks of somebody."""
    window = {"start_time": start_ms // 1000, "end_time": start_ms // 1000 + SECONDS}
    return int(get(stack, "/extractbeacon", staff_id=who, **window).headers["X-Complete-Until-Ms"])
