"""Processes that outlived their supervisord (it was killed): found by a mark in their environment, and ended."""

from collections.abc import Callable
from pathlib import Path

import psutil

MARK = "SDA_DATA_DIR"
"""Environment variable that every process of an installation carries."""
TERMINATE_WITHIN_S = 30.0


def mark(data_dir: Path) -> str:
    """What the processes of this data folder carry in MARK."""
    return str(data_dir.resolve())


def end_orphans(data_dir: Path) -> None:
    """End what still runs on this data folder: SIGTERM first, SIGKILL for what does not heed it."""
    found = [process for process in psutil.process_iter() if _carries(process, mark(data_dir))]
    for process in found:
        _quietly(process.terminate)
    _, deaf = psutil.wait_procs(found, TERMINATE_WITHIN_S)
    for process in deaf:
        _quietly(process.kill)
    psutil.wait_procs(deaf)


def _carries(process: psutil.Process, value: str) -> bool:
    try:
        return process.environ().get(MARK) == value
    except psutil.Error:  # ended meanwhile, or somebody else's
        return False


def _quietly(action: Callable[[], None]) -> None:
    try:
        action()
    except psutil.NoSuchProcess:
        return
