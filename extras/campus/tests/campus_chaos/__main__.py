"""`make campus-chaos`: its arguments are those of run.py."""

import signal
import sys

from .run import main

for number in (signal.SIGINT, signal.SIGTERM):  # what it has started ends with it
    signal.signal(number, lambda ended, _: sys.exit(128 + ended))
sys.exit(main(sys.argv[1:]))
