"""`make bench-api`: capacity of the HTTP API, case by case, each on a new stack with a load generator."""

import argparse
import os
import sys

from stack.install import print_line
from stack.layout import ROOT
from support.running import running_stack

from .cases import CASES, Options
from .page import line, page

UNLIMITED = {"SDA_RATE_PER_S": "999999", "SDA_RATE_TRUSTED_PER_S": "999999"}
"""No rate limit: all requests come from one address, and limits are not measured."""


def main() -> int:
    """Run the cases, print and write the page; exit code 1 on an error or a missed target."""
    parser = argparse.ArgumentParser(prog="make bench-api", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each load is made (%(default)s)")
    parser.add_argument("--phones", type=int, default=10_000, help="SDAs, each a message every 4 s (%(default)s)")
    parser.add_argument("--stored", type=int, default=1_000_000, help="records in the large store (%(default)s)")
    parser.add_argument("--only", metavar="CASES", default=",".join(CASES), help="of %(default)s")
    arguments = parser.parse_args()
    options = Options(arguments.seconds, arguments.phones, arguments.stored)
    if strange := set(arguments.only.split(",")) - CASES.keys():
        parser.error(f"--only: there is no {', '.join(sorted(strange))}; there are {', '.join(CASES)}")
    rows, load = [], os.getloadavg()[0]
    if load > 0.5:
        print_line(f"this machine is busy (load average {load:.1f}): the figures will be worse than its own")
    for name in arguments.only.split(","):
        with running_stack(environment=UNLIMITED) as stack:  # each on a fresh one, so that the order does not matter
            print_line(f"{name} …")
            for row in CASES[name](stack, options):
                print_line(line(row))
                rows.append(row)
    if arguments == parser.parse_args([]):  # a trial with other figures is no benchmark
        (ROOT / "docs" / "performance.md").write_text(page(options, rows, load))
    missed = [row.title for row in rows if not row.verdict]
    print_line(f"missed: {'; '.join(missed)}" if missed else "all targets reached, no errors")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
