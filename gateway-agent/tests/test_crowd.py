"""A crowd: 1,000 adverts a second from 2,000 addresses, 50 of them registered. Ten minutes of it: `bench load`."""

from beacons import ibeacon_id
from played_bluez import PlayedBluez
from running_agent import StartAgent
from scenarios import crowd, let_pass, with_strangers
from subscriber import Subscriber
from waiting import eventually

RATE, REGISTERED, SECONDS = 1000, 50, 5
MAX_CPU, MAX_RSS_MB = 0.15, 60


def test_a_crowd_costs_little(start_agent: StartAgent, bluez: PlayedBluez, platform: Subscriber) -> None:
    agent = start_agent(scan={"allow": [ibeacon_id(number) for number in range(REGISTERED)]}, health_s=15)
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    bluez.play(with_strangers(crowd(2000, REGISTERED), 6), RATE)
    let_pass(bluez, RATE)
    cpu = agent.cpu_s()
    let_pass(bluez, RATE * SECONDS)
    assert (agent.cpu_s() - cpu) / SECONDS < MAX_CPU
    assert agent.rss_mb() < MAX_RSS_MB
    bluez.rest()
    listed = {ibeacon_id(number) for number in range(REGISTERED)}
    heard = set(platform.adverts())
    assert heard <= listed
    assert len(heard) == REGISTERED
