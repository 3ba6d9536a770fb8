"""The sd_notify protocol of systemd: one datagram of NAME=value lines. Does nothing outside a service.

Own code, since it is ten lines and the libraries for it are unmaintained or need systemd's headers to build.
Source: sd_notify(3).
"""

import os
import socket


def notify(state: str) -> None:
    """Notify systemd, e.g. ``READY=1``, ``WATCHDOG=1``, ``STOPPING=1``, ``STATUS=…``. Errors are ignored."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        try:
            sock.sendto(state.encode(), address)
        except OSError:
            return


def watchdog_interval_s() -> float | None:
    """Interval of watchdog notifications: half of WatchdogSec. None: no watchdog."""
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    if not microseconds.isdigit() or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return int(microseconds) / 2e6
