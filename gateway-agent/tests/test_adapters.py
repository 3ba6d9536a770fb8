"""Several Bluetooth adapters: each start uses the same one, and only that one is reset."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from fake_bluez import FakeBluez
from gateway_agent.bluez import Adapter, choose
from private_bus import PrivateBus
from running_agent import StartAgent
from scenarios import SCAN, each_beacon_once_a_second
from subscriber import Subscriber
from waiting import eventually

LOWEST = "B8:27:EB:00:00:01"
OTHERS = {f"hci{number}": f"DC:A6:32:00:00:0{number}" for number in (0, 1, 2, 4, 5)}


@pytest.fixture
def several(bus: PrivateBus) -> Iterator[FakeBluez]:
    """Six adapters; hci3 has the lowest address."""
    with FakeBluez(bus.address, "hci3", others=OTHERS) as bluez:
        yield bluez


@pytest.mark.parametrize(
    ("wanted", "used"),
    [("", "hci3"), ("hci1", "hci1"), ("DC:A6:32:00:00:04", "hci4"), ("dc:a6:32:00:00:04", "hci4")],
)
def test_the_same_adapter_is_used_at_each_start(several: FakeBluez, bus: PrivateBus, wanted: str, used: str) -> None:
    command = [sys.executable, "-m", "gateway_agent", "scan", "--seconds", "0.1", "--adapter", wanted]
    for seed in ("1", "2", "3") if not wanted else ("1",):  # Python's sets have another order with each
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert set(several.started_on) == {used}


def test_only_the_adapter_in_use_is_reset(start_agent: StartAgent, several: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent(scan={**SCAN, "window_ms": 200, "restart_after_s": 1, "reset_after_s": 3.5})
    eventually(lambda: several.scanning and platform.status() == "online", 30, agent.log)
    several.start_traffic(each_beacon_once_a_second(), 50)
    eventually(lambda: platform.adverts(), 30, agent.log)
    several.wedged = True
    eventually(lambda: several.power_cycles, 60, agent.log)
    assert several.switched == ["hci3"]
    before = sum(platform.adverts().values())
    eventually(lambda: sum(platform.adverts().values()) > before, 30, agent.log)
    eventually(lambda: f"hci3 {LOWEST}" in agent.state_text(), 30, agent.log)
    doctor = agent.command("doctor").stdout
    assert f"WARN adapter       hci3 {LOWEST} is used" in doctor
    assert 'scan.adapter = "B8:27:EB:00:00:01"' in doctor


def test_a_powered_off_adapter_is_used_only_when_configured() -> None:
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
