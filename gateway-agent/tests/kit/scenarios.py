"""What befalls an agent: the same code for the quick tests and the long benchmarks, which differ in seconds."""

import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle, islice

from beacons import address, ibeacon, ibeacon_id, number_of
from gateway_agent.clock import Clock
from gateway_agent.outbox import Outbox
from gateway_agent.outbox_view import FILE
from gateway_agent.record import Reading
from played_bluez import Advert, PlayedBluez
from played_broker import Broker
from running_agent import RunningAgent
from subscriber import Subscriber
from waiting import eventually

BEACONS = 200
READINGS_PER_S = 200
SCAN = {"allow": [ibeacon_id(number) for number in range(BEACONS)]}


def one_a_second_each() -> Iterator[Advert]:
    """Adverts of 200 beacons in turn."""
    return cycle([ibeacon(number, -40 - number % 50) for number in range(BEACONS)])


def crowd(addresses: int, registered: int, seed: int = 1) -> Iterator[Advert]:
    """Adverts of ``addresses`` beacons at random, the first ``registered`` of them listed."""
    rnd = random.Random(seed)  # noqa: S311 - traffic, not secrets
    while True:
        yield ibeacon(
            rnd.randrange(addresses) if rnd.random() < 0.9 else rnd.randrange(registered), -40 - rnd.randrange(50)
        )


def with_strangers(traffic: Iterator[Advert], every: int, seed: int = 1) -> Iterator[Advert]:
    """Each so-manieth advert is of a random address that is never heard again."""
    rnd = random.Random(seed)  # noqa: S311 - traffic, not secrets
    while True:
        yield from islice(traffic, every - 1)
        yield Advert(address(rnd.randrange(1 << 40), first=0x40), -80, {0x004C: rnd.randbytes(20)})


@dataclass(frozen=True, slots=True)
class Count:
    """Adverts emitted and adverts that arrived in readings (n), by beacon; and seconds that it took."""

    emitted: int
    arrived: int
    seconds: float

    @property
    def lost(self) -> int:
        """Adverts that never arrived."""
        return self.emitted - self.arrived


def emitted(bluez: PlayedBluez) -> int:
    """Adverts so far."""
    return sum(bluez.emitted.values())


def let_pass(bluez: PlayedBluez, adverts: int) -> None:
    """Wait until so many more adverts were emitted."""
    until = emitted(bluez) + adverts
    eventually(lambda: emitted(bluez) >= until, adverts / READINGS_PER_S * 3 + 30, "the played BlueZ emits too little")


def all_arrived(bluez: PlayedBluez, platform: Subscriber, within_s: float) -> None:
    """Wait until every advert that was emitted has arrived, each exactly once."""
    expected = {ibeacon_id(number_of(key)): count for key, count in bluez.emitted.items()}

    def difference() -> str:
        arrived = platform.adverts()
        wrong = {key: (count, arrived.get(key, 0)) for key, count in expected.items() if arrived.get(key, 0) != count}
        return f"{len(wrong)} beacons differ (emitted, arrived): {dict(list(wrong.items())[:5])}"

    eventually(lambda: platform.adverts() == expected, within_s, difference)


def broker_away(
    agent: RunningAgent,
    bluez: PlayedBluez,
    broker: Broker,
    platform: Subscriber,
    end: Callable[[], None],
    seconds: float,
    begin: Callable[[], None] | None = None,
    forgets: bool = False,
) -> Count:
    """The broker goes away for ``seconds`` under load and comes back; every advert must arrive.

    ``forgets``: the ingest is away just before, so that the broker has acknowledged what it alone knows.
    """
    bluez.play(one_a_second_each(), READINGS_PER_S)
    let_pass(bluez, READINGS_PER_S)
    broker.save()
    if forgets:
        platform.leave()
    let_pass(bluez, READINGS_PER_S)
    end()
    let_pass(bluez, int(seconds * READINGS_PER_S))
    (begin or broker.start)()
    back = time.monotonic()
    if forgets:
        platform.come_back()
    let_pass(bluez, READINGS_PER_S)
    bluez.rest()
    all_arrived(bluez, platform, 60 + seconds)
    assert agent.running
    return Count(emitted(bluez), sum(platform.adverts().values()), time.monotonic() - back)


def everything_sent(agent: RunningAgent, platform: Subscriber) -> bool:
    """Whether every batch in the agent's outbox is acknowledged and has arrived."""
    path = agent.state / FILE
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT id, acked FROM batch").fetchall()
    return all(acked is not None for _, acked in rows) and {batch for batch, _ in rows} <= platform.sequence()


def agent_killed(agent: RunningAgent, bluez: PlayedBluez, platform: Subscriber, times: int, seed: int) -> list[int]:
    """SIGKILL at random moments under load, and a fresh start each time; adverts lost with each kill."""
    rnd, losses = random.Random(seed), list[int]()  # noqa: S311 - moments, not secrets
    for number in range(times):
        eventually(lambda: bluez.scanning, 20, agent.log)
        bluez.play(one_a_second_each(), READINGS_PER_S)
        let_pass(bluez, rnd.randrange(READINGS_PER_S, 3 * READINGS_PER_S))
        agent.kill()
        bluez.rest()
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
    """Readings a second of the backlog, and how old live batches were on arrival, in seconds."""

    readings: int
    seconds: float
    oldest_live_s: float
    live: int


def drain(agent: RunningAgent, bluez: PlayedBluez, platform: Subscriber, readings: int, a_batch: int) -> Drain:
    """Start an agent on a large outbox while 200 readings a second come in."""
    fill_outbox(agent, readings, a_batch)
    agent.start()
    agent.wait_for_log("connected to")
    began, started_ms = time.monotonic(), time.time() * 1000
    eventually(lambda: bluez.scanning, 20, agent.log)
    bluez.play(one_a_second_each(), READINGS_PER_S)

    def backlog() -> int:
        return sum(
            len(heard.body["readings"]) for heard in platform.messages("readings") if heard.body["ts"] < started_ms
        )

    eventually(lambda: len(platform.messages("readings")) * a_batch >= readings, 600, agent.log)
    eventually(lambda: backlog() >= readings, 600, agent.log)
    seconds = time.monotonic() - began
    let_pass(bluez, 2 * READINGS_PER_S)
    bluez.rest()
    ages = [
        heard.at - heard.body["ts"] / 1000 for heard in platform.messages("readings") if heard.body["ts"] > started_ms
    ]
    return Drain(readings, seconds, max(ages), len(ages))
