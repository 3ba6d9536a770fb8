"""`make chaos`: kills services at random under load, and proves that nothing was lost and no answer was half of one.

A scratch stack on free ports. Phones and gateways walk; Mosquitto, Telegraf, InfluxDB and Node-RED are killed (kill -9)
or frozen at random times and started again by supervisord. All the while history is asked for, and every answer is
kept. In the end: every acknowledged reading is stored, history equals what one undisturbed locator makes of the stored
readings, every answer equals history, and /health said so while something was overdue.
"""

import argparse
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from stack.install import print_line
from support.running import running_stack

from .comparing import Result
from .faults import plan
from .load import people_of, with_gateways
from .run import SHOWN, Scenario, run

FIRST_FAULT_S, LAST_FAULT_S = 20.0, 30.0
"""Nothing is killed in the first, and in the last, so many seconds."""
LOG_LINES = 80


def main() -> int:
    """Run it, print and write the table; exit code 1 if anything was lost or wrong."""
    for number in (signal.SIGINT, signal.SIGTERM):  # what it has started ends with it
        signal.signal(number, lambda ended, _: sys.exit(128 + ended))
    parser = argparse.ArgumentParser(
        prog="make chaos", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="of load and faults (%(default)s)")
    parser.add_argument("--phones", type=int, default=300, help="simulated phones (%(default)s)")
    parser.add_argument("--gateways", type=int, default=50, help="simulated gateways, 113 at most (%(default)s)")
    parser.add_argument(
        "--every", type=float, default=25.0, metavar="S", help="mean seconds between faults (%(default)s)"
    )
    parser.add_argument("--seed", type=int, help="of walks, faults and questions (a new one each time)")
    parser.add_argument(
        "--to", type=Path, metavar="FOLDER", help="for all that was seen (a new one in the temporary folder)"
    )
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    folder = options.to or Path(tempfile.mkdtemp(prefix=f"sda-chaos-{seed}-"))
    folder.mkdir(parents=True, exist_ok=True)
    building = folder / "building" / "building.json"
    people = people_of(with_gateways(building, options.gateways), options.phones)
    seconds = options.minutes * 60
    faults = plan(seed, min(FIRST_FAULT_S, seconds / 4), max(seconds - LAST_FAULT_S, seconds / 2), options.every)
    simulator = ["mixed", "-n", str(len(people)), "--seed", str(seed)]
    scenario = Scenario(seed, simulator, seconds, faults, people, alone=True)
    print_line(f"seed {seed}: {len(faults)} faults within {options.minutes:g} minutes; all that is seen: {folder}")
    started_s = time.monotonic()

    def report(line: str) -> None:
        print_line(f"{time.monotonic() - started_s:6.0f} s  {line}")

    with running_stack(building) as stack:
        result = run(stack, scenario, folder, report)
        logs = {name: stack.log(name, LOG_LINES) for name in sorted(result.culprits)}
    print_line(_table(result))
    for name, log in logs.items():
        print_line(f"--- log of {name} (all of it: {folder / 'logs'})\n{log}")
    for what, found in result.problems.items():
        print_line("\n".join([f"{what}: {len(found)}", *(f"  {line[:600]}" for line in found[:SHOWN])]))
    verdict = f"FAILED with seed {seed}" if result.problems else "nothing was lost, no answer was half of one"
    print_line(f"{verdict}; all that was seen: {folder}")
    return 1 if result.problems else 0


def _table(result: Result) -> str:
    return "\n".join(
        ["| what | figure |", "|---|---|", *(f"| {what} | {figure} |" for what, figure in result.figures.items())]
    )


if __name__ == "__main__":
    sys.exit(main())
