"""Long measurements of the agent: `python gateway-agent/bench NAME [options]`; README.md explains each.

NAME: load (processor, memory), outage (broker and agent stopped and killed), scanning (watchdog with its real times),
drain (a large outbox), decoders (a million random payloads each).
"""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = ("load", "outage", "scanning", "drain", "decoders")


def main() -> int:
    """Run one benchmark."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.stderr.write(str(__doc__))
        return 2
    sys.path[:0] = [str(HERE.parent / "tests" / "kit"), str(HERE)]
    name = sys.argv.pop(1)
    importlib.import_module(name).main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
