"""The running agent's lock and state file, which `doctor` reads."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

_STATE = "state.json"


class AlreadyRunningError(Exception):
    """Another agent uses this folder."""


class AgentLock:
    """A lock on the folder itself, so that a full disk does not matter. The kernel frees it when the process ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Make the folder if needed and lock it, unless locked already. Raises AlreadyRunningError and OSError."""
        if self._descriptor is not None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                raise AlreadyRunningError(f"an agent is running on {self._folder} already") from error
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_running(folder: Path) -> bool:
    """Whether an agent holds the folder's lock. Raises PermissionError if this user may not look."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        raise
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def write(folder: Path, state: dict[str, Any]) -> None:
    """Replace the state file. Raises OSError."""
    fresh = folder / (_STATE + ".new")
    fresh.write_text(json.dumps(state, indent=1))
    fresh.replace(folder / _STATE)


def read(folder: Path) -> dict[str, Any]:
    """The agent's last state; empty if there is none."""
    try:
        state = json.loads((folder / _STATE).read_text())
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
