#!/usr/bin/env python3
"""Renews the server certificates of broker and HTTPS when they are due; checks every day.

    renew.py --data .data/broker

A certificate keeps its names. Mosquitto (by `run.sh`) and Node-RED load a new one while they run.
Ends on SIGTERM.
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
    """Renew once, if due; print each change or failure."""
    authority, https = data / "tls", data / "https"
    run_renewal(data, "the certificate", lambda: renew_certificate(authority))
    if https.is_dir() and any(https.iterdir()):  # not if HTTPS is off or has its own certificate
        run_renewal(data, "the certificate of HTTPS", lambda: renew_certificate(https, authority=authority))
    sys.stdout.flush()


def run_renewal(data: Path, what: str, renewal: Callable[[], list[str]]) -> None:
    """Run one ``renewal`` and print its result."""
    try:
        with Store(data).locked():
            done = renewal()
    except (CertificateError, StoreError, OSError) as error:
        sys.stderr.write(f"broker: {what} is not renewed, next attempt in a day: {error}\n")
    else:
        sys.stdout.write("".join(f"broker: {line}\n" for line in done))


def main() -> None:
    """Renew at once and then every day."""
    os.umask(0o077)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the broker's data folder")
    parser.add_argument("--once", action="store_true", help="check once and exit")
    options = parser.parse_args()
    renew(options.data.absolute())
    while not options.once:
        time.sleep(DAY_S)
        renew(options.data.absolute())


if __name__ == "__main__":
    main()
