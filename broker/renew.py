#!/usr/bin/env python3
"""Renew the broker's server certificate when it is due, and look again every day.

    renew.py --data .data/broker

The certificate keeps the names that it has. `run.sh` restarts Mosquitto with the new one. Ends on SIGTERM.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from certificates import CertificateError, renew_certificate
from store import Store, StoreError

DAY_S = 86_400


def renew(data: Path) -> None:
    """Renew once, where it is due; print what was done or why it cannot be."""
    try:
        with Store(data).locked():
            done = renew_certificate(data / "tls")
    except (CertificateError, StoreError, OSError) as error:
        sys.stderr.write(f"broker: the certificate is not renewed, tried again in a day: {error}\n")
    else:
        sys.stdout.write("".join(f"broker: {line}\n" for line in done))
    sys.stdout.flush()


def main() -> None:
    """Renew at once and every day after."""
    os.umask(0o077)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the broker's data folder")
    parser.add_argument("--once", action="store_true", help="look once and end")
    options = parser.parse_args()
    renew(options.data.absolute())
    while not options.once:
        time.sleep(DAY_S)
        renew(options.data.absolute())


if __name__ == "__main__":
    main()
