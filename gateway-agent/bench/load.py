"""Processor and memory: 1,000 adverts/s from 2,000 addresses of which 50 are registered, then random addresses.

python gateway-agent/bench load [--minutes 10]
"""

import argparse
import time

from beacons import ibeacon_id
from rig import Rig, rig, say
from scenarios import crowd, emitted, with_random_addresses
from waiting import eventually

RATE = 1000
REGISTERED = 50


def watch(parts: Rig, what: str, seconds: float) -> None:
    """Measure during the traffic."""
    agent, bluez = parts.agent, parts.bluez
    # imports, first windows and the first health with traffic in it are not part of the measurement
    eventually(
        lambda: any(health.body["adverts"] > RATE for health in parts.platform.messages("health")), 60, agent.log
    )
    cpu, began, emitted_before, addresses, memory = (
        agent.cpu_s(),
        time.monotonic(),
        emitted(bluez),
        len(bluez.emitted),
        [],
    )
    while time.monotonic() - began < seconds:
        time.sleep(min(10, seconds))
        memory.append(agent.rss_mb())
    took = time.monotonic() - began
    say("  RSS each minute: " + " ".join(f"{size:.1f}" for size in memory[5::6]))
    say(
        f"{what}: {took:.0f} s, {(emitted(bluez) - emitted_before) / took:.0f} adverts/s, "
        f"{len(bluez.emitted) - addresses} new addresses, CPU {(agent.cpu_s() - cpu) / took:.1%} of one core, "
        f"RSS {memory[0]:.1f} MB at first, {max(memory):.1f} at most, {memory[-1]:.1f} at last"
    )


def main() -> None:
    """Run both measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    minutes = parser.parse_args().minutes
    scan = {"allow": [ibeacon_id(number) for number in range(REGISTERED)]}
    for what, traffic in (
        ("2,000 addresses", crowd(2000, REGISTERED)),
        ("2,000 addresses, and 167 new random ones a second", with_random_addresses(crowd(2000, REGISTERED), 6)),
    ):
        with rig(scan=scan, health_s=15) as parts:
            parts.bluez.start_traffic(traffic, RATE)
            watch(parts, what, minutes * 60)
            parts.bluez.stop_traffic()
            health = parts.platform.messages("health")[-1].body
            say(
                f"  health: adverts {health['adverts']}, unregistered held {health['unregistered_distinct']}, "
                f"dropped {health['dropped']}"
            )
