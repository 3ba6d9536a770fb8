"""The locator alone: readings per second in one process, and memory per person. Run: `make bench ARGS=locator`.

Readings per CPU second are what other work on the machine disturbs least.
"""

import json
import subprocess
import sys
from typing import Any

from stack.install import print_line
from stack.layout import ROOT, node_folder

PROGRAM = ROOT / "flows" / "bench" / "locator.js"
WANTED_READINGS_PER_S = 200_000
WANTED_BYTES = 1000


def measure() -> dict[str, Any]:
    """Run the program; returns its figures."""
    command = (node_folder() / "node", "--expose-gc", PROGRAM)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def lines(found: dict[str, Any]) -> list[str]:
    """The figures as lines of Markdown."""
    return [
        f"**The locator alone, {found['staff']} staff in one Node process**, half with phones that tell nine beacons,",
        "half with tags that eight gateways hear every second.",
        f"{found['readings']} readings, {found['readings_per_cpu_s']} a CPU second (wanted: {WANTED_READINGS_PER_S}),",
        f"{found['readings_per_s']} a second of wall clock;",
        f"{found['bytes_per_person']} bytes a person (wanted: under {WANTED_BYTES}).",
    ]


def main() -> int:
    """Measure and print; exit code 1 if a target is missed."""
    found = measure()
    print_line("\n".join(lines(found)))
    fast = found["readings_per_cpu_s"] >= WANTED_READINGS_PER_S
    return 0 if fast and found["bytes_per_person"] < WANTED_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
