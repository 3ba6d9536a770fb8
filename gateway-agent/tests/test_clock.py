"""A machine that boots in the past: what it hears then gets its right time afterwards, never a wrong one."""

import time
from pathlib import Path

from beacons import ibeacon, ibeacon_id
from gateway_agent.clock import Clock
from gateway_agent.outbox_view import peek
from played_bluez import PlayedBluez
from running_agent import StartAgent
from subscriber import Subscriber
from waiting import eventually
from wrong_clock import WrongClock

YEARS_BACK_S = -5 * 365 * 86400
WINDOW_S = 0.2
BUSY_S = 2.0
"""A busy machine hears so much later; a wrong clock is years away."""
SCAN = {"window_ms": int(WINDOW_S * 1000), "allow": [ibeacon_id(number) for number in range(10)]}


def test_batches_before_the_clock_is_right_get_their_right_time(
    start_agent: StartAgent, bluez: PlayedBluez, platform: Subscriber, tmp_path: Path
) -> None:
    synchronised = tmp_path / "synchronised"
    clock = WrongClock(tmp_path, YEARS_BACK_S)
    agent = start_agent(scan=SCAN, clock={"source": str(synchronised)}, environment=clock.environment)
    eventually(lambda: bluez.scanning, 30, agent.log)
    agent.wait_for_log("the clock is not synchronised yet")
    agent.wait_for_log("[certificate_time]")  # the broker's certificate is not valid yet for this clock
    heard: dict[str, float] = {}

    def hear(number: int) -> None:
        heard[ibeacon_id(number)] = time.time()
        assert bluez.advertise(ibeacon(number))

    hear(0)
    eventually(lambda: (found := peek(agent.state)) and found[0].timeless == 1, 30, agent.log)
    agent.kill()
    agent.start()
    eventually(lambda: bluez.scanning, 30, agent.log)
    hear(1)
    eventually(lambda: (found := peek(agent.state)) and found[0].timeless == 2, 30, agent.log)
    assert not platform.messages("readings")

    clock.set(0)
    hear(2)  # between the step and our notice of it
    synchronised.touch()
    eventually(lambda: len(platform.adverts()) == 3, 30, agent.log)
    synchronised.unlink()  # a lost time server does not make a right clock wrong
    hear(3)
    eventually(lambda: len(platform.adverts()) == 4, 30, agent.log)
    for beacon, ts in platform.readings():
        assert 0 <= ts / 1000 - heard[beacon] < WINDOW_S + BUSY_S, beacon
    said = platform.messages("readings") + platform.messages("health")
    assert all(heard_now.body["ts"] > (time.time() - 600) * 1000 for heard_now in said)


def test_the_clock_since_boot_goes_on(tmp_path: Path) -> None:
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
