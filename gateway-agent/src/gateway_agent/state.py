"""What the running agent leaves in its folder for `doctor`: a lock while it lives, and what it last knew."""

import fcntl
import json
from pathlib import Path
from typing import Any

_LOCK, _STATE = "agent.lock", "state.json"


class AlreadyRunningError(Exception):
    """Another agent has this folder."""


class AgentLock:
    """Held from creation until the process ends, however it ends. Raises AlreadyRunningError and OSError."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / _LOCK).open("a")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise AlreadyRunningError(f"an agent is running on {folder} already") from error

    def release(self) -> None:
        """Let the folder go."""
        self._file.close()


def is_running(folder: Path) -> bool:
    """Whether an agent holds the folder's lock. Raises PermissionError when that is not for us to know."""
    try:
        with (folder / _LOCK).open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except PermissionError:
        raise
    except OSError:
        return False
    return False


def write(folder: Path, state: dict[str, Any]) -> None:
    """Replace what was known before; raises OSError."""
    fresh = folder / (_STATE + ".new")
    fresh.write_text(json.dumps(state, indent=1))
    fresh.replace(folder / _STATE)


def read(folder: Path) -> dict[str, Any]:
    """What the agent last wrote; empty where there is nothing to read."""
    try:
        state = json.loads((folder / _STATE).read_text())
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
