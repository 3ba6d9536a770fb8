"""Scenarios shared by the quick tests and the long benchmarks."""

import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle, islice

from beacons import address, ibeacon, ibeacon_id, number_of
from fake_bluez import Advert, FakeBluez
from gateway_agent.clock import Clock
from gateway_agent.outbox import FILE, Outbox
from gateway_agent.readings import Reading
from real_broker import Broker
from running_agent import RunningAgent
from subscriber import Subscriber
from waiting import eventually

BEACONS = 200
READINGS_PER_S = 200
SCAN = {"allow": [ibeacon_id(number) for number in range(BEACONS)]}


def each_beacon_once_a_second() -> Iterator[Advert]:
    """Adverts of 200 beacons in turn."""
    return cycle([ibeacon(number, -40 - number % 50) for number in range(BEACONS)])


def crowd(addresses: int, registered: int, seed: int = 1) -> Iterator[Advert]:
    """Adverts of ``addresses`` beacons at random, the first ``registered`` of them listed."""
    rnd = random.Random(seed)  # noqa: S311 - traffic, not secrets
    while True:
        yield ibeacon(
            rnd.randrange(addresses) if rnd.random() < 0.9 else rnd.randrange(registered), -40 - rnd.randrange(50)
        )


def with_random_addresses(traffic: Iterator[Advert], every: int, seed: int = 1) -> Iterator[Advert]:
    """Every ``every``-th advert has a random address that occurs only once."""
    rnd = random.Random(seed)  # noqa: S311 - traffic, not secrets
    while True:
        yield from islice(traffic, every - 1)
        yield Advert(address(rnd.randrange(1 << 40), first=0x40), -80, {0x004C: rnd.randbytes(20)})


@dataclass(frozen=True, slots=True)
class Count:
    """Number of adverts emitted, number that arrived in readings (n), and the duration."""

    emitted: int
    arrived: int
    seconds: float

    @property
    def lost(self) -> int:
        """Adverts that never arrived."""
        return self.emitted - self.arrived


def emitted(bluez: FakeBluez) -> int:
    """Adverts so far."""
    return sum(bluez.emitted.values())


def wait_for_adverts(bluez: FakeBluez, adverts: int) -> None:
    """Wait until that many more adverts were emitted."""
    until = emitted(bluez) + adverts
    eventually(lambda: emitted(bluez) >= until, adverts / READINGS_PER_S * 3 + 30, "the fake BlueZ emits too little")


def wait_until_all_arrived(bluez: FakeBluez, platform: Subscriber, within_s: float) -> None:
    """Wait until every emitted advert has arrived exactly once."""
    expected = {ibeacon_id(number_of(key)): count for key, count in bluez.emitted.items()}

    def difference() -> str:
        arrived = platform.adverts()
        wrong = {key: (count, arrived.get(key, 0)) for key, count in expected.items() if arrived.get(key, 0) != count}
        return f"{len(wrong)} beacons differ (emitted, arrived): {dict(list(wrong.items())[:5])}"

    eventually(lambda: platform.adverts() == expected, within_s, difference)


def broker_outage(
    agent: RunningAgent,
    bluez: FakeBluez,
    broker: Broker,
    platform: Subscriber,
    end: Callable[[], None],
    seconds: float,
    begin: Callable[[], None] | None = None,
    forgets: bool = False,
) -> Count:
    """The broker is down for ``seconds`` under load; every advert must arrive.

    ``forgets``: the ingest disconnects just before, so that only the broker has some acknowledged messages.
    """
    bluez.start_traffic(each_beacon_once_a_second(), READINGS_PER_S)
    wait_for_adverts(bluez, READINGS_PER_S)
    broker.save()
    if forgets:
        platform.disconnect()
    wait_for_adverts(bluez, READINGS_PER_S)
    end()
    wait_for_adverts(bluez, int(seconds * READINGS_PER_S))
    (begin or broker.start)()
    back = time.monotonic()
    if forgets:
        platform.reconnect()
    wait_for_adverts(bluez, READINGS_PER_S)
    bluez.stop_traffic()
    wait_until_all_arrived(bluez, platform, 60 + seconds)
    assert agent.running
    return Count(emitted(bluez), sum(platform.adverts().values()), time.monotonic() - back)


def everything_sent(agent: RunningAgent, platform: Subscriber) -> bool:
    """Whether every batch in the agent's outbox is acknowledged and has arrived."""
    path = agent.state / FILE
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT id, acked FROM batch").fetchall()
    return all(acked is not None for _, acked in rows) and {batch for batch, _ in rows} <= platform.sequence()


def kill_agent(agent: RunningAgent, bluez: FakeBluez, platform: Subscriber, times: int, seed: int) -> list[int]:
    """Kill the agent at random moments under load and restart it; returns the adverts lost with each kill."""
    rnd, losses = random.Random(seed), list[int]()  # noqa: S311 - moments, not secrets
    for number in range(times):
        eventually(lambda: bluez.scanning, 20, agent.log)
        bluez.start_traffic(each_beacon_once_a_second(), READINGS_PER_S)
        wait_for_adverts(bluez, rnd.randrange(READINGS_PER_S, 3 * READINGS_PER_S))
        agent.kill()
        bluez.stop_traffic()
        agent.start()
        eventually(lambda: agent.log().count("connected to") == number + 2, 30, agent.log)  # noqa: B023 - used at once
        eventually(lambda: everything_sent(agent, platform), 30, agent.log)
        losses.append(emitted(bluez) - sum(platform.adverts().values()) - sum(losses))
    return losses


def fill_outbox(agent: RunningAgent, readings: int, a_batch: int) -> None:
    """Put readings of the last hours into the outbox of an agent that is not running."""
    dropped: Counter[str] = Counter()
    outbox = Outbox(agent.state, Clock().boot, 256 << 20, dropped)
    now, boot_now = Clock().wall_ms(), Clock().boot_ms()
    body = "[" + ",".join(Reading(f"AA{number:010X}", -60).to_json() for number in range(a_batch)) + "]"
    batches = readings // a_batch
    for number in range(batches):
        ago_ms = (batches - number) * 1000
        outbox.add([(a_batch, body)], boot_now - ago_ms, now - ago_ms)
    outbox.close()


@dataclass(frozen=True, slots=True)
class Drain:
    """How fast the backlog drained, and the age of live batches on arrival."""

    readings: int
    seconds: float
    oldest_live_s: float
    live: int


def drain(agent: RunningAgent, bluez: FakeBluez, platform: Subscriber, readings: int, a_batch: int) -> Drain:
    """Start an agent on a large outbox while 200 readings per second arrive."""
    fill_outbox(agent, readings, a_batch)
    agent.start()
    agent.wait_for_log("connected to")
    began, started_ms = time.monotonic(), time.time() * 1000
    eventually(lambda: bluez.scanning, 20, agent.log)
    bluez.start_traffic(each_beacon_once_a_second(), READINGS_PER_S)

    def backlog() -> int:
        return sum(
            len(message.body["readings"])
            for message in platform.messages("readings")
            if message.body["ts"] < started_ms
        )

    eventually(lambda: len(platform.messages("readings")) * a_batch >= readings, 600, agent.log)
    eventually(lambda: backlog() >= readings, 600, agent.log)
    seconds = time.monotonic() - began
    wait_for_adverts(bluez, 2 * READINGS_PER_S)
    bluez.stop_traffic()
    ages = [
        message.at - message.body["ts"] / 1000
        for message in platform.messages("readings")
        if message.body["ts"] > started_ms
    ]
    return Drain(readings, seconds, max(ages), len(ages))
