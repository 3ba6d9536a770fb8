"""The measured cases: each runs its loads on a running stack and returns rows of results."""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from stack.install import print_line
from support.building import Building
from support.running import DEMO_BUILDING, RunningStack
from support.stack_client import connect, eventually, now_ms
from support.stored import stored_readings

from bench.pages import open_pages

from .data import FIVE, MONTH_S, Past, moving, polling, settle
from .machine import Cost, costing
from .oha import Load, Result, attack, timed

SLICE_S = 10.0
"""A list of URLs has fixed times, so a poll of the last 10 s is one of the last 10 to 20."""
LEVEL = "L1"
DASHBOARDS = 10
MANY = 128
"""Connections for a fixed rate: enough that no request waits for another."""
HOURS_RECORDS = 9_000
FULL = "as fast as 16 callers can"
CHANCE = random.Random(1)  # noqa: S311 - which URL comes next, no secret


@dataclass(frozen=True, slots=True)
class Options:
    """Duration and amount of the loads."""

    seconds: float
    phones: int
    stored: int


@dataclass(frozen=True, slots=True)
class Row:
    """One load with its target; `verdict`: target reached without errors."""

    title: str
    offered: str
    wanted: str
    verdict: bool
    result: Result
    cost: Cost
    note: str = ""


Wanted = Callable[[Result], bool]


def recent(stack: RunningStack, options: Options) -> Iterator[Row]:
    """`/extractbeacon` over the last 10 s, of everybody, with and without incoming readings."""
    rate = options.phones / 4

    def slices(seconds: float) -> Iterator[Load]:
        for _ in range(max(1, round(seconds / SLICE_S))):
            now_s = int(time.time())
            yield Load(_polls(stack, options.phones, now_s - 10, now_s + int(SLICE_S)), SLICE_S, 1000.0, MANY)

    with moving(stack, options.phones, 4.0):
        timed(slices(SLICE_S))  # both sides warm
        result, cost = costing(stack, lambda: timed(slices(options.seconds)))
        end_s = int(time.time())
        title = f"a poll of 10 s, {options.phones} SDAs, {rate:g} messages/s come in"
        yield _row(title, "1,000/s", "p99 ≤ 50 ms", result, cost, result.p99_s <= 0.050)
    urls = _polls(stack, options.phones, end_s - 10, end_s)
    result, cost = costing(stack, partial(attack, Load(urls, min(options.seconds, 30))))
    yield _row("the same at rest", FULL, "≥ 4,000/s", result, cost, result.rate >= 4000)


def older(stack: RunningStack, options: Options) -> Iterator[Row]:
    """`/extractbeacon` with 1,800 records of one of five staff, with few and with many stored records."""
    past = Past(stack)
    past.of_five()
    first = 0.0
    for many in (False, True):
        if many:
            print_line(f"  storing {options.stored:,} records …")
            past.and_more(options.stored)
        window = f"start_time={past.start_s}&end_time={past.end_s}"
        size = settle(stack, f"/extractbeacon?staff_id={FIVE[0]}&{window}", "1,800 records")
        urls = [f"{stack.http_url}/extractbeacon?staff_id={staff}&{window}" for staff in FIVE]
        attack(Load(urls, min(options.seconds, 5)))  # both sides warm
        result, cost = costing(stack, partial(attack, Load(urls, options.seconds)))
        whole = result.bytes == size * result.answers
        title = f"1,800 records of one of five, {past.locations:,} stored"
        if many:
            ratio = result.p50_s / first
            note = f"{ratio:.2f} times"
            yield _row(title, FULL, "median ≤ 1.3 times that", result, cost, whole and ratio <= 1.3, note)
        else:
            first = result.p50_s
            good = result.rate >= 250 and result.p99_s <= 0.080
            yield _row(title, FULL, "≥ 250/s, p99 ≤ 80 ms", result, cost, whole and good)


def telemetry(stack: RunningStack, options: Options) -> Iterator[Row]:
    """`/api/v1/beacons/{beacon}/telemetry` by minutes."""
    beacon = Building(DEMO_BUILDING).beacons[0].id
    start_s = Past(stack).telemetry(beacon)
    end_s = start_s + MONTH_S
    for name, from_s, points, rate in (
        ("a month", start_s, MONTH_S // 60, 60),
        ("six hours", end_s - 6 * 3600 - 60, 361, 1000),
    ):
        path = f"/api/v1/beacons/{beacon}/telemetry?every=minute&limit=50000&start={from_s}&end={end_s}"
        size = settle(stack, path, f"{name}, {points} points")
        result, cost = costing(stack, partial(attack, Load([f"{stack.http_url}{path}"], options.seconds)))
        good = result.bytes == size * result.answers and result.rate >= rate
        yield _row(f"minutes of telemetry, {name}", FULL, f"≥ {rate:,}/s", result, cost, good)


def detections(stack: RunningStack, options: Options) -> Iterator[Row]:
    """`/newbeacondetect`: every detection must be in InfluxDB afterwards."""
    beacons = [beacon.id for beacon in Building(DEMO_BUILDING).beacons]
    body = [f"staff_id={n % 1000}&beacon_address={beacons[n // 1000 % len(beacons)]}&rssi=-60" for n in range(100_000)]
    began_ms = now_ms()
    with _overhearing(stack) as heard:
        load = Load([f"{stack.http_url}/newbeacondetect"], options.seconds, 2000.0, MANY, body)
        result, cost = costing(stack, partial(attack, load))
        eventually(lambda: heard()[0] >= result.statuses[200], 30, "the broker passes on what it acknowledged")
    messages, points = heard()

    def stored() -> int:
        return len(stored_readings(stack, f"time >= {began_ms}ms"))

    eventually(lambda: stored() >= points, 60, "the detections are in InfluxDB")
    found = stored()
    note = f"{messages} published, {found} in InfluxDB"
    good = result.rate >= 1980 and found == points == messages == result.statuses[200]
    yield _row("/newbeacondetect", "2,000/s", "≥ 2,000/s, all stored", result, cost, good, note)


def playbook(stack: RunningStack, options: Options) -> Iterator[Row]:
    """The predecessor's tests, with HACS polling and ten dashboards open."""
    past = Past(stack)
    past.of_hours(HOURS_RECORDS)
    beacons = [beacon.id for beacon in Building(DEMO_BUILDING).beacons]
    detect = [f"{stack.http_url}/newbeacondetect"]
    body = [f"user_address={n % 50}&beacon_address={beacons[n % len(beacons)]}&rssi=-60" for n in range(6000)]
    retrieve = [
        f"{stack.http_url}/extractbeacon?staff_id={CHANCE.choice(FIVE)}"
        f"&start_time={past.end_s - CHANCE.randrange(600, HOURS_RECORDS + 1) + 1}&end_time={past.end_s}"
        for _ in range(1000)
    ]
    with moving(stack, 50, 2.0), polling(stack, "0-49"), open_pages(stack, DASHBOARDS, LEVEL) as got:
        before = got()["snapshots"]
        for name, what, urls, rate, wanted, good in (
            ("PERF-TP-1", "insert", detect, 3.5, "3.5/s", _keeps(3.5)),
            ("PERF-TP-1", "insert", detect, 35.0, "35/s", _keeps(35)),
            ("PERF-TP-2", "retrieve", retrieve, 1.433, "1.433/s", _keeps(1.433)),
            ("PERF-TP-2", "retrieve", retrieve, 14.3, "14.3/s", _keeps(14.3)),
            ("PERF-RT-1", "insert", detect, 63.0, "mean ≤ 1 s", lambda one: one.mean_s <= 1),
            ("PERF-RT-2", "retrieve 600 to 9,000 records", retrieve, 14.3, "99 % ≤ 1 s", lambda one: one.p99_s <= 1),
        ):
            load = Load(urls, options.seconds, rate, 16, body if urls is detect else ())
            result, cost = costing(stack, partial(attack, load))
            yield _row(f"{name}, {what}", f"{rate:g}/s", wanted, result, cost, good(result))
        assert got()["snapshots"] > before, "the dashboards got nothing meanwhile"


CASES: dict[str, Callable[[RunningStack, Options], Iterator[Row]]] = {
    "recent": recent, "older": older, "telemetry": telemetry, "detections": detections, "playbook": playbook,
}  # fmt: skip


def _keeps(rate: float) -> Wanted:
    """Whether the offered rate was reached, with a tolerance for the first and last requests."""
    return lambda one: one.rate >= 0.98 * rate


def _row(title: str, offered: str, wanted: str, result: Result, cost: Cost, good: bool, note: str = "") -> Row:
    return Row(title, offered, wanted, result.errors == 0 and good, result, cost, note)


def _polls(stack: RunningStack, people: int, start_s: int, end_s: int) -> list[str]:
    return [
        f"{stack.http_url}/extractbeacon?staff_id={staff}&start_time={start_s}&end_time={end_s}"
        for staff in range(people)
    ]


@contextmanager
def _overhearing(stack: RunningStack) -> Iterator[Callable[[], tuple[int, int]]]:
    """Subscribe to the broker; returns the number of detections and of their points."""
    messages = 0
    points: set[tuple[str, int, str]] = set()
    subscribed = threading.Event()
    client = connect(stack, "nodered")

    def hear(_client: Any, _data: Any, message: Any) -> None:
        nonlocal messages
        messages += 1
        said = json.loads(message.payload)
        points.update((message.topic, said["ts"], one["beacon"]) for one in said["readings"])

    client.on_message = hear
    client.on_subscribe = lambda *_: subscribed.set()
    client.subscribe("sda/v1/phone/+/readings", qos=1)
    assert subscribed.wait(10), "the broker confirms the subscription"
    try:
        yield lambda: (messages, len(points))
    finally:
        client.disconnect()
        client.loop_stop()
