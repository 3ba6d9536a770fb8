"""Outages under 200 readings a second: every advert the played BlueZ emitted arrives. Longer ones: bench/outage.py."""

import pytest
from beacons import ibeacon
from played_bluez import PlayedBluez
from played_broker import Broker
from running_agent import StartAgent
from scenarios import SCAN, agent_killed, broker_away, drain
from subscriber import Subscriber
from waiting import eventually

AWAY_S = 2
WINDOW_S = 1.0
# Beyond the window being collected: what lies in sockets, and the write to disk, on a busy machine.
UNDER_WAY_S = 0.5


@pytest.mark.parametrize("how", ["stopped", "killed", "frozen"])
def test_the_broker_is_away(
    how: str, start_agent: StartAgent, bluez: PlayedBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan=SCAN, broker={"keepalive_s": 5})
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    end, begin = {
        "stopped": (broker.stop, broker.start),
        "killed": (broker.kill, broker.start),
        "frozen": (broker.freeze, broker.thaw),
    }[how]
    count = broker_away(agent, bluez, broker, platform, end, AWAY_S, begin, forgets=how == "killed")
    assert count.lost == 0


def test_the_agent_is_killed(start_agent: StartAgent, bluez: PlayedBluez, platform: Subscriber) -> None:
    agent = start_agent(scan=SCAN)
    losses = agent_killed(agent, bluez, platform, times=2, seed=1)
    assert all(0 <= lost <= 200 * (WINDOW_S + UNDER_WAY_S) for lost in losses), losses


def test_nothing_is_lost_when_the_agent_is_stopped_in_order(
    start_agent: StartAgent, bluez: PlayedBluez, platform: Subscriber
) -> None:
    agent = start_agent(scan={**SCAN, "window_ms": 5000})
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    for number in range(10):
        assert bluez.advertise(ibeacon(number))
    eventually(lambda: '"adverts": 10' in (agent.state / "state.json").read_text(), 30, agent.log)
    assert agent.stop() == 0
    eventually(lambda: platform.status() == "offline", 30, agent.log)
    agent.start()
    eventually(lambda: sum(platform.adverts().values()) == 10, 30, agent.log)


def test_a_large_outbox_drains_while_live_batches_stay_young(
    start_agent: StartAgent, bluez: PlayedBluez, platform: Subscriber
) -> None:
    agent = start_agent(scan=SCAN)
    eventually(lambda: bluez.scanning, 30, agent.log)
    agent.stop()
    done = drain(agent, bluez, platform, readings=30_000, a_batch=40)
    assert done.readings / done.seconds > 5000
    assert done.oldest_live_s < 2
    assert done.live >= 2
