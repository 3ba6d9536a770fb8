"""Several Bluetooth adapters: the same one is used at each start, and it is the one that is reset."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from gateway_agent.bluez import Adapter, choose
from played_bluez import PlayedBluez
from private_bus import PrivateBus
from running_agent import StartAgent
from scenarios import SCAN, one_a_second_each
from subscriber import Subscriber
from waiting import eventually

LOWEST = "B8:27:EB:00:00:01"
OTHERS = {f"hci{number}": f"DC:A6:32:00:00:0{number}" for number in (0, 1, 2, 4, 5)}


@pytest.fixture
def several(bus: PrivateBus) -> Iterator[PlayedBluez]:
    """Six adapters; of these hci3 has the lowest address."""
    with PlayedBluez(bus.address, "hci3", others=OTHERS) as bluez:
        yield bluez


@pytest.mark.parametrize(
    ("wanted", "used"),
    [("", "hci3"), ("hci1", "hci1"), ("DC:A6:32:00:00:04", "hci4"), ("dc:a6:32:00:00:04", "hci4")],
)
def test_the_same_adapter_is_used_at_each_start(several: PlayedBluez, bus: PrivateBus, wanted: str, used: str) -> None:
    command = [sys.executable, "-m", "gateway_agent", "scan", "--seconds", "0.1", "--adapter", wanted]
    for seed in ("1", "2", "3") if not wanted else ("1",):  # Python's sets have another order with each
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert set(several.started_on) == {used}


def test_the_adapter_in_use_is_the_one_that_is_reset(
    start_agent: StartAgent, several: PlayedBluez, platform: Subscriber
) -> None:
    agent = start_agent(scan={**SCAN, "window_ms": 200, "restart_after_s": 1, "reset_after_s": 3.5})
    eventually(lambda: several.scanning and platform.status() == "online", 30, agent.log)
    several.play(one_a_second_each(), 50)
    eventually(lambda: platform.adverts(), 30, agent.log)
    several.wedged = True
    eventually(lambda: several.power_cycles, 60, agent.log)
    assert several.switched == ["hci3"]
    heard = sum(platform.adverts().values())
    eventually(lambda: sum(platform.adverts().values()) > heard, 30, agent.log)
    eventually(lambda: f"hci3 {LOWEST}" in agent.known(), 30, agent.log)
    doctor = agent.command("doctor").stdout
    assert f"LOOK adapter       hci3 {LOWEST} is used" in doctor
    assert 'scan.adapter = "B8:27:EB:00:00:01"' in doctor


def test_an_adapter_that_is_off_is_used_only_when_it_is_asked_for() -> None:
    off, on, later = (
        Adapter("hci0", "00:00:00:00:00:01", False),
        Adapter("hci2", "00:00:00:00:00:02", True),
        Adapter("hci10", "00:00:00:00:00:02", True),
    )
    for found in ([off, on, later], [later, on, off]):
        assert choose(found, "") == on
        assert choose(found, "hci0") == off
        assert choose(found, "hci7") is None
    assert choose([off], "") == off
