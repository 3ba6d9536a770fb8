"""Outages under 200 readings a second: every advert the fake BlueZ emitted arrives. Longer ones: bench/outage.py."""

from collections import Counter

import pytest
from beacons import ibeacon
from fake_bluez import FakeBluez
from gateway_agent.outbox import peek
from real_broker import Broker
from running_agent import RunningAgent, StartAgent
from scenarios import SCAN, broker_outage, drain, kill_agent
from subscriber import Subscriber, end_session
from tcp_proxy import TcpProxy
from waiting import eventually

AWAY_S = 2
WINDOW_S = 1.0
# More than the window in progress: data in sockets and the write to disk, on a busy machine.
UNDER_WAY_S = 0.5


@pytest.mark.parametrize("how", ["stopped", "killed", "frozen"])
def test_broker_outage(
    how: str, start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan=SCAN, broker={"keepalive_s": 5})
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    end, begin = {
        "stopped": (broker.stop, broker.start),
        "killed": (broker.kill, broker.start),
        "frozen": (broker.freeze, broker.thaw),
    }[how]
    count = broker_outage(agent, bluez, broker, platform, end, AWAY_S, begin, forgets=how == "killed")
    assert count.lost == 0


def copies(platform: Subscriber) -> Counter[int]:
    """Number of arrivals of each batch."""
    return Counter(message.body["seq"] for message in platform.messages("readings") if message.body["readings"])


def acknowledged(agent: RunningAgent, readings: int) -> bool:
    """Whether nothing waits and that many readings are held."""
    found = peek(agent.state)
    return found is not None and (found[0].waiting, found[0].held) == (0, readings)


def test_repeated_connection_loss_does_not_repeat_batches(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    listeners = broker.data / "listeners.d" / "listeners.conf"
    listeners.write_text(listeners.read_text() + "sys_interval 1\n")  # uptime every second instead of every ten
    broker.stop()
    broker.start()
    drops = 4
    with TcpProxy(broker.port) as link:
        agent = start_agent(scan={**SCAN, "window_ms": 200}, broker={"tls": False, "ca_file": "", "port": link.port})
        eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
        for number in range(1, drops + 1):
            assert bluez.advertise(ibeacon(number))
            eventually(lambda: acknowledged(agent, number), 30, agent.log)  # noqa: B023 - used at once
            link.cut()
            eventually(lambda: agent.log().count("connected to") == number + 1, 30, agent.log)  # noqa: B023
        assert bluez.advertise(ibeacon(0))
        eventually(lambda: acknowledged(agent, drops + 1), 30, agent.log)
        arrived = copies(platform)
        assert len(arrived) == drops + 1
        # Batches acknowledged within seconds of the broker's start are sent again: its uptime is in whole seconds.
        assert max(arrived.values()) <= 2, arrived
        agent.stop()


def test_a_lost_session_gets_all_held_batches_again(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan={**SCAN, "window_ms": 200})
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    assert bluez.advertise(ibeacon(1))
    eventually(lambda: acknowledged(agent, 1), 30, agent.log)
    end_session(broker.tls_port, broker.ca, "gw-test", (agent.config.parent / "password").read_text())
    eventually(lambda: copies(platform).most_common(1)[0][1] == 2, 30, agent.log)


def test_a_kill_of_the_agent(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent(scan=SCAN)
    losses = kill_agent(agent, bluez, platform, times=2, seed=1)
    assert all(0 <= lost <= 200 * (WINDOW_S + UNDER_WAY_S) for lost in losses), losses


def test_a_clean_stop_loses_nothing(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent(scan={**SCAN, "window_ms": 5000})
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    for number in range(10):
        assert bluez.advertise(ibeacon(number))
    eventually(lambda: '"adverts": 10' in (agent.state / "state.json").read_text(), 30, agent.log)
    assert agent.stop() == 0
    eventually(lambda: platform.status() == "offline", 30, agent.log)
    agent.start()
    eventually(lambda: sum(platform.adverts().values()) == 10, 30, agent.log)


def test_a_large_outbox_drains_without_delaying_live_batches(
    start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber
) -> None:
    agent = start_agent(scan=SCAN)
    eventually(lambda: bluez.scanning, 30, agent.log)
    agent.stop()
    done = drain(agent, bluez, platform, readings=30_000, a_batch=40)
    assert done.readings / done.seconds > 5000
    assert done.oldest_live_s < 2
    assert done.live >= 2
