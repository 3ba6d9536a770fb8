"""Ends processes that a killed supervisord has left. A mark in their environment identifies them."""

from collections.abc import Callable
from pathlib import Path

import psutil

MARK = "SDA_DATA_DIR"
"""Environment variable of every process of an installation."""
TERMINATE_WITHIN_S = 30.0


def mark(data_dir: Path) -> str:
    """Value of MARK for the processes of this data folder."""
    return str(data_dir.resolve())


def end_orphans(data_dir: Path) -> None:
    """End processes of this data folder: SIGTERM first, then SIGKILL."""
    found = [process for process in psutil.process_iter() if _has_mark(process, mark(data_dir))]
    for process in found:
        _ignore_exited(process.terminate)
    _, remaining = psutil.wait_procs(found, TERMINATE_WITHIN_S)
    for process in remaining:
        _ignore_exited(process.kill)
    psutil.wait_procs(remaining)


def _has_mark(process: psutil.Process, value: str) -> bool:
    try:
        return process.environ().get(MARK) == value
    except psutil.Error:  # ended meanwhile, or another user's
        return False


def _ignore_exited(action: Callable[[], None]) -> None:
    try:
        action()
    except psutil.NoSuchProcess:
        return
