"""A machine that boots in the past: its first batches get the right time later, never a wrong one."""

import time
from pathlib import Path

from beacons import ibeacon, ibeacon_id
from fake_bluez import FakeBluez
from gateway_agent.clock import Clock
from gateway_agent.outbox import peek
from real_broker import Broker
from running_agent import StartAgent
from subscriber import Subscriber
from waiting import eventually
from wrong_clock import WrongClock

YEARS_BACK_S = -5 * 365 * 86400
EIGHT_DAYS_S = 8 * 86400
WINDOW_S = 0.2
BUSY_S = 2.0
"""Tolerance for a busy machine; a wrong clock is off by years."""
SCAN = {"window_ms": int(WINDOW_S * 1000), "allow": [ibeacon_id(number) for number in range(10)]}


def test_batches_get_the_right_time_once_the_clock_is_right(
    start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber, tmp_path: Path
) -> None:
    synchronised = tmp_path / "synchronised"
    clock = WrongClock(tmp_path, YEARS_BACK_S)
    agent = start_agent(scan=SCAN, clock={"source": str(synchronised)}, environment=clock.environment)
    eventually(lambda: bluez.scanning, 30, agent.log)
    agent.wait_for_log("the clock is not synchronised yet")
    agent.wait_for_log("[certificate_time]")  # the broker's certificate is not valid yet for this clock
    sent_at: dict[str, float] = {}

    def advertise(number: int) -> None:
        sent_at[ibeacon_id(number)] = time.time()
        assert bluez.advertise(ibeacon(number))

    advertise(0)
    eventually(lambda: (found := peek(agent.state)) and found[0].timeless == 1, 30, agent.log)
    agent.kill()
    agent.start()
    eventually(lambda: bluez.scanning, 30, agent.log)
    advertise(1)
    eventually(lambda: (found := peek(agent.state)) and found[0].timeless == 2, 30, agent.log)
    assert not platform.messages("readings")

    clock.set(0)
    advertise(2)  # after the step, before the agent notices
    synchronised.touch()
    eventually(lambda: len(platform.adverts()) == 3, 30, agent.log)
    synchronised.unlink()  # the clock stays right without a time server
    advertise(3)
    eventually(lambda: len(platform.adverts()) == 4, 30, agent.log)
    for beacon, ts in platform.readings():
        assert 0 <= ts / 1000 - sent_at[beacon] < WINDOW_S + BUSY_S, beacon
    messages = platform.messages("readings") + platform.messages("health")
    assert all(message.body["ts"] > (time.time() - 600) * 1000 for message in messages)


def test_a_clock_jump_loses_nothing_and_is_followed_once_synchronised(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber, tmp_path: Path
) -> None:
    synchronised = tmp_path / "synchronised"
    synchronised.touch()
    clock = WrongClock(tmp_path, 0)
    broker.stop()
    agent = start_agent(scan=SCAN, clock={"source": str(synchronised)}, environment=clock.environment)
    sent_at: dict[str, float] = {}

    def advertise(number: int) -> None:
        eventually(lambda: bluez.scanning, 30, agent.log)
        sent_at[ibeacon_id(number)] = time.time()
        assert bluez.advertise(ibeacon(number))
        eventually(lambda: (found := peek(agent.state)) and found[0].waiting == number + 1, 30, agent.log)

    advertise(0)
    agent.stop()
    synchronised.unlink()
    clock.set(EIGHT_DAYS_S)  # older than the platform takes, by this clock; the start looks for what is too old
    agent.start()
    agent.wait_for_log("the clock jumped by +691200 s")
    advertise(1)
    synchronised.touch()
    agent.wait_for_log("batches get the new time from now on")
    advertise(2)
    clock.set(0)
    agent.wait_for_log("the clock jumped by -691200 s")
    agent.wait_for_log("1 waiting batches had a time in the future")
    advertise(3)
    broker.start()
    eventually(lambda: len(platform.readings()) == 4, 30, agent.log)
    for beacon, ts in platform.readings():
        assert 0 <= ts / 1000 - sent_at[beacon] < WINDOW_S + BUSY_S, beacon
    eventually(lambda: platform.messages("health"), 30, agent.log)
    health = platform.messages("health")[-1].body
    assert (health["dropped"], health["clock_jumps"]) == (0, 2)
    assert "WARN clock" in agent.command("doctor").stdout


def test_the_boot_clock_continues_over_restarts(tmp_path: Path) -> None:
    clock = Clock("trust")
    before = clock.boot_ms()
    assert clock.boot_ms() >= before
    assert clock.boot == Clock("trust").boot
    assert abs(clock.boot_epoch_ms() + clock.boot_ms() - time.time() * 1000) < 1000
    assert clock.sync().synchronised
    assert not Clock(str(tmp_path / "none")).sync().synchronised


def test_the_kernel_is_asked() -> None:
    sync = Clock("kernel").sync()
    assert sync.offset_ms is None or abs(sync.offset_ms) < 60_000
