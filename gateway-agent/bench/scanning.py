"""A scanner that falls silent in every way, with the watchdog's real times: seconds until readings flow again.

python gateway-agent/bench scanning
"""

import argparse

from faults import FAULTS, flows_again
from rig import rig, say
from scenarios import SCAN, one_a_second_each
from waiting import eventually

WITHIN_S = 200


def main() -> None:
    """One fault after the other, each with a fresh agent."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for fault in FAULTS:
        with rig(scan=SCAN) as parts:
            bluez, platform = parts.bluez, parts.platform
            bluez.play(one_a_second_each(), 50)
            eventually(lambda: sum(platform.adverts().values()) > 50, 10, parts.agent.log)  # noqa: B023 - used at once
            begun = fault(bluez)
            took = flows_again(parts.agent, bluez, platform, WITHIN_S)
            health = platform.messages("health")[-1].body
            say(
                f"{fault.__name__}: readings again {took:.1f} s after the fault was over ({begun:.1f} s long), "
                f"scan restarts {health['scan_restarts']}, adapter resets {health['adapter_resets']}"
            )
