"""Load: 1,000 adverts per second from 2,000 addresses, 50 of them registered. Ten minutes of it: `bench load`."""

from beacons import ibeacon_id
from fake_bluez import FakeBluez
from running_agent import StartAgent
from scenarios import crowd, wait_for_adverts, with_random_addresses
from subscriber import Subscriber
from waiting import eventually

RATE, REGISTERED, SECONDS = 1000, 50, 5
MAX_CPU, MAX_RSS_MB = 0.15, 60


def test_cpu_and_memory_under_load(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent(scan={"allow": [ibeacon_id(number) for number in range(REGISTERED)]}, health_s=15)
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    bluez.start_traffic(with_random_addresses(crowd(2000, REGISTERED), 6), RATE)
    wait_for_adverts(bluez, RATE)
    cpu = agent.cpu_s()
    wait_for_adverts(bluez, RATE * SECONDS)
    assert (agent.cpu_s() - cpu) / SECONDS < MAX_CPU
    assert agent.rss_mb() < MAX_RSS_MB
    bluez.stop_traffic()
    listed = {ibeacon_id(number) for number in range(REGISTERED)}
    arrived = set(platform.adverts())
    assert arrived <= listed
    assert len(arrived) == REGISTERED
