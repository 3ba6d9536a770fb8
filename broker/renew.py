#!/usr/bin/env python3
"""Renew the server certificates of broker and HTTPS when they are due, and look again every day.

    renew.py --data .data/broker

A certificate keeps the names that it has. `run.sh` restarts Mosquitto with a new one; Node-RED takes a new one over
while it runs. Ends on SIGTERM.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from certificates import CertificateError, renew_certificate
from store import Store, StoreError

DAY_S = 86_400


def renew(data: Path) -> None:
    """Renew once, where it is due; print what was done or why it cannot be."""
    authority, https = data / "tls", data / "https"
    look(data, "the certificate", lambda: renew_certificate(authority))
    if https.is_dir() and any(https.iterdir()):  # not where HTTPS is off, or has a certificate of its own
        look(data, "the certificate of HTTPS", lambda: renew_certificate(https, authority=authority))
    sys.stdout.flush()


def look(data: Path, what: str, renewal: Callable[[], list[str]]) -> None:
    """One ``renewal``, told in a line."""
    try:
        with Store(data).locked():
            done = renewal()
    except (CertificateError, StoreError, OSError) as error:
        sys.stderr.write(f"broker: {what} is not renewed, tried again in a day: {error}\n")
    else:
        sys.stdout.write("".join(f"broker: {line}\n" for line in done))


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
