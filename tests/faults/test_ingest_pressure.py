"""Floods of unregistered beacons and of invalid messages."""

import itertools
import uuid

from ingest.case import CASES, load
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, influx, now_ms, publish
from support.stored import stored_readings

UNREGISTERED = 10_000
BAD = 5_000


def series(stack: RunningStack) -> int:
    """Series that grow with what comes in: a receiver has one, a registered beacon some."""
    return sum(
        row["count"] for row in influx(stack, "readings", "SHOW SERIES EXACT CARDINALITY FROM batch, heard, measured")
    )


def stored(stack: RunningStack, receiver: str) -> list[dict[str, object]]:
    return stored_readings(stack, f"receiver = '{receiver}'")


def good(stack: RunningStack, demo: Building, receiver: str) -> None:
    """Publish a valid message from `receiver` and wait until it is stored."""
    publish(stack, (f"gateway/{receiver}/readings", batch((demo.beacons[0].id, -61))))
    eventually(lambda: stored(stack, receiver), within_s=60, what="a good message after the flood")


def test_ten_thousand_unregistered_beacons_make_no_series(stack: RunningStack, demo: Building) -> None:
    receiver = f"crowd-{uuid.uuid4().hex[:8]}"
    good(stack, demo, receiver)
    before = series(stack)
    beacons = iter(f"F{number:011X}" for number in range(UNREGISTERED))
    messages = []
    while readings := list(itertools.islice(beacons, 100)):
        messages.append((f"gateway/{receiver}/readings", batch(*((beacon, -70) for beacon in readings))))
    publish(stack, *messages)
    good(stack, demo, f"{receiver}-end")
    assert series(stack) == before + 1, "the one good message at the end makes one"
    assert len(stored(stack, receiver)) == 1


def test_good_messages_arrive_after_a_flood_of_bad_ones(stack: RunningStack, demo: Building) -> None:
    run, beacons, now = uuid.uuid4().hex[:8], [beacon.id for beacon in demo.beacons], now_ms()
    names = [path.parent.name for path in CASES.glob("*/expected.json") if path.read_text() == "[]\n"]
    bad = [load(name, f"{run}-bad", beacons, now) for name in sorted(names)]
    bad = [case for case in bad if case.topic.startswith("sda/v1/gateway/") and len(case.payload) < 60_000]
    flood = itertools.islice(itertools.cycle(bad), BAD)
    publish(stack, *((case.topic.removeprefix("sda/v1/"), case.payload) for case in flood))
    good(stack, demo, f"{run}-good")
    assert stored(stack, f"{run}-bad") == []
