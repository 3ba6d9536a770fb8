"""`make fuzz`: almost valid messages through ingest's parser and the flows' parser, which must take the same of each.

Every message is made from a good batch by one to four changes: numbers and texts that JSON does not have, control
characters, bytes that are no UTF-8, repeated keys, cuts. Ingest is the spool's code and Telegraf with the product's
configuration, the flows are the reader of `flows/lib/live`. A difference is printed with its seed and number.
"""

import argparse
import sys
import time

from stack.install import print_line

from .run import Compared, run

REPORT_EVERY_S = 30.0


def main() -> int:
    """Run it; exit code 1 if the parsers differ."""
    parser = argparse.ArgumentParser(
        prog="make fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutations", type=int, default=1_000_000, help="messages (%(default)s)")
    parser.add_argument("--seed", type=int, default=8, help="the same seed makes the same messages (%(default)s)")
    options = parser.parse_args()
    began_s = reported_s = time.monotonic()

    def report(found: Compared) -> None:
        nonlocal reported_s
        if time.monotonic() - reported_s >= REPORT_EVERY_S:
            reported_s = time.monotonic()
            print_line(f"{found.messages} messages, {found.taken} taken, {found.different} differ")

    found = run(options.mutations, options.seed, report=report)
    for example in found.examples:
        print_line(example)
    seconds = time.monotonic() - began_s
    print_line(
        f"{found.messages} messages in {seconds:.0f} s: both take something of {found.taken}, {found.different} differ"
    )
    return 1 if found.different else 0


if __name__ == "__main__":
    sys.exit(main())
