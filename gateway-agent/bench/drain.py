"""A large outbox after an outage: how fast it drains, and the age of live batches meanwhile.

python gateway-agent/bench drain [--readings 200000]
"""

import argparse

from rig import rig, say
from scenarios import SCAN, drain


def main() -> None:
    """Run with batches of several sizes. The rate is limited by `outbox.backlog_rate`, 10,000 readings/s."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=200_000)
    readings = parser.parse_args().readings
    for a_batch in (200, 40, 10):
        with rig(scan=SCAN) as parts:
            parts.agent.stop()
            cpu = parts.agent
            report = drain(parts.agent, parts.bluez, parts.platform, readings, a_batch)
            say(
                f"{report.readings} readings in batches of {a_batch}: {report.seconds:.1f} s, "
                f"{report.readings / report.seconds:.0f} readings/s, CPU {cpu.cpu_s():.1f} s; "
                f"{report.live} live batches, at most {report.oldest_live_s:.2f} s old on arrival"
            )
