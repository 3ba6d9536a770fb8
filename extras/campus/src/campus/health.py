"""Health checks of the parts of a campus. They return within seconds and never raise."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

from stack.health import TIMEOUT_S, Health


def recent(file: Path, within_s: float) -> Health:
    """Up when a file was written within this time."""
    try:
        age_s = time.time() - file.stat().st_mtime
    except OSError as error:
        return Health(up=False, detail=str(error))
    return Health(age_s < within_s, f"{file} was written {age_s:.0f} s ago")


def listens(host: str, port: int) -> Health:
    """Up when something accepts connections there."""
    try:
        socket.create_connection((host, port), TIMEOUT_S).close()
    except OSError as error:
        return Health(up=False, detail=f"port {port}: {error}")
    return Health(up=True)


def callout(ready: Path, admits: Callable[[], Health]) -> Health:
    """Up when the callout has begun its work and the broker admits an account.

    The broker is asked last: without a callout its answer takes seconds.
    """
    return admits() if ready.exists() else Health(up=False, detail=f"{ready} is not there yet")
