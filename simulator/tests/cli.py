"""Runs the simulator as a process."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DEMO_FILE = Path(__file__).resolve().parents[2] / "flows" / "building" / "demo.json"
ENOUGH_S = 90  # longer than any command in these tests


def seeded_rng(seed: int) -> random.Random:
    """A seeded random generator."""
    return random.Random(seed)  # noqa: S311 - play, not secrets


def _arguments(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "simulator", *map(str, arguments)]


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith(("MQTT_", "SDA_", "HTTP_"))}
    return {**own, **environment}


def simulator(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run to the end, in a folder without .env."""
    return simulator_in(DEMO_FILE.parent, *arguments, **environment)


def simulator_in(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run to the end, in that working folder."""
    return subprocess.run(
        _arguments(*arguments),
        cwd=folder,
        env=_environment(environment),
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
        check=False,
    )


@contextmanager
def running(*arguments: object, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run in the background; killed at the end of the block."""
    with subprocess.Popen(
        _arguments(*arguments),
        cwd=DEMO_FILE.parent,
        env=_environment(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def finished(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    """Exit code and the summary of --json."""
    out, err = process.communicate(timeout=ENOUGH_S)
    assert out, err
    return process.returncode, json.loads(out)
