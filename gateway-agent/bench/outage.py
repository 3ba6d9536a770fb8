"""Outages of realistic length under 200 readings per second.

python gateway-agent/bench outage [--seconds 60] [--kills 10] [--seed 1]
"""

import argparse

from rig import rig, say
from scenarios import SCAN, broker_outage, kill_agent


def main() -> None:
    """Stop, kill and freeze the broker, then kill the agent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for how in ("stopped", "killed", "frozen"):
        with rig(scan=SCAN) as parts:
            broker = parts.broker
            end = {"stopped": broker.stop, "killed": broker.kill, "frozen": broker.freeze}[how]
            begin = broker.thaw if how == "frozen" else broker.start
            count = broker_outage(
                parts.agent, parts.bluez, broker, parts.platform, end, options.seconds, begin, how == "killed"
            )
            say(
                f"broker {how} for {options.seconds:.0f} s: {count.emitted} adverts emitted, {count.arrived} arrived, "
                f"{count.lost} lost; all there {count.seconds:.1f} s after its return"
            )
    with rig(scan=SCAN) as parts:
        losses = kill_agent(parts.agent, parts.bluez, parts.platform, options.kills, options.seed)
        say(f"agent killed {options.kills} times, adverts lost each time (200 a window of 1 s): {losses}")
