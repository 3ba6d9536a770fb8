"""Runs a program of the repository."""

import os
import subprocess
from collections.abc import Mapping, Sequence

from .errors import StackError


def run_tool(what: str, command: Sequence[object], environment: Mapping[str, str]) -> None:
    """Run a program of the repository with only these variables. If it fails, a StackError has its message."""
    done = subprocess.run([str(part) for part in command], env={"PATH": os.environ["PATH"], **environment},
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        raise StackError(f"{what} could not be set up: {(done.stderr or done.stdout).strip()}")
