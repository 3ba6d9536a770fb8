"""Silences the scanner in every way, with the watchdog's real times: seconds until readings arrive again.

python gateway-agent/bench scanning
"""

import argparse

from rig import rig, say
from scan_faults import FAULTS, seconds_until_readings
from scenarios import SCAN, each_beacon_once_a_second
from waiting import eventually

WITHIN_S = 200


def main() -> None:
    """Run one fault after the other, each with a new agent."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for fault in FAULTS:
        with rig(scan=SCAN) as parts:
            bluez, platform = parts.bluez, parts.platform
            bluez.start_traffic(each_beacon_once_a_second(), 50)
            eventually(lambda: sum(platform.adverts().values()) > 50, 10, parts.agent.log)  # noqa: B023 - used at once
            begun = fault(bluez)
            took = seconds_until_readings(parts.agent, bluez, platform, WITHIN_S)
            health = platform.messages("health")[-1].body
            say(
                f"{fault.__name__}: readings again {took:.1f} s after the fault was over ({begun:.1f} s long), "
                f"scan restarts {health['scan_restarts']}, adapter resets {health['adapter_resets']}"
            )
