"""Outages under 200 readings a second: every advert the played BlueZ emitted arrives. Longer ones: bench/outage.py."""

from collections import Counter

import pytest
from beacons import ibeacon
from gateway_agent.outbox_view import peek
from played_bluez import PlayedBluez
from played_broker import Broker
from played_link import PlayedLink
from running_agent import RunningAgent, StartAgent
from scenarios import SCAN, agent_killed, broker_away, drain
from subscriber import Subscriber, end_session
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


def copies(platform: Subscriber) -> Counter[int]:
    """How often each batch arrived."""
    return Counter(heard.body["seq"] for heard in platform.messages("readings") if heard.body["readings"])


def acknowledged(agent: RunningAgent, readings: int) -> bool:
    """Whether nothing waits and so many readings are held."""
    found = peek(agent.state)
    return found is not None and (found[0].waiting, found[0].held) == (0, readings)


def test_a_link_that_drops_again_and_again_sends_no_batch_again_and_again(
    start_agent: StartAgent, bluez: PlayedBluez, broker: Broker, platform: Subscriber
) -> None:
    listeners = broker.data / "listeners.d" / "listeners.conf"
    listeners.write_text(listeners.read_text() + "sys_interval 1\n")  # it says how long it runs every second, not ten
    broker.stop()
    broker.start()
    drops = 4
    with PlayedLink(broker.port) as link:
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
        # What a broker acknowledged within seconds of its own start goes out once more: it says when to the second.
        assert max(arrived.values()) <= 2, arrived
        agent.stop()


def test_a_session_that_is_gone_is_told_everything_again(
    start_agent: StartAgent, bluez: PlayedBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan={**SCAN, "window_ms": 200})
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    assert bluez.advertise(ibeacon(1))
    eventually(lambda: acknowledged(agent, 1), 30, agent.log)
    end_session(broker.tls_port, broker.ca, "gw-test", (agent.config.parent / "password").read_text())
    eventually(lambda: copies(platform).most_common(1)[0][1] == 2, 30, agent.log)


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
