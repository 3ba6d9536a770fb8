"""Scanners that fall silent, a bluetoothd that restarts, an adapter that goes and comes: readings flow again.

The watchdog's times are shortened here; `bench scanning` measures with the real ones.
"""

from collections.abc import Callable

import pytest
from fake_bluez import FakeBluez
from running_agent import StartAgent
from scan_faults import FAULTS, RATE, seconds_until_readings, wedged
from scenarios import SCAN, each_beacon_once_a_second
from subscriber import Subscriber
from waiting import eventually

QUICK = {**SCAN, "window_ms": 200, "restart_after_s": 1, "reset_after_s": 3.5}
AGAIN_WITHIN_S = 40


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_readings_flow_again(
    fault: Callable[[FakeBluez], float], start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber
) -> None:
    agent = start_agent(scan=QUICK)
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    bluez.start_traffic(each_beacon_once_a_second(), RATE)
    eventually(lambda: sum(platform.adverts().values()) > RATE, 30, agent.log)
    fault(bluez)
    seconds_until_readings(agent, bluez, platform, AGAIN_WITHIN_S)
    assert agent.running
    eventually(lambda: platform.messages("health")[-1].body["scan_restarts"] >= 1, 30, agent.log)
    if fault is wedged:
        assert bluez.power_cycles == 1
        assert "switched off and on through BlueZ" in agent.log()
        assert platform.messages("health")[-1].body["adapter_resets"] == 1
