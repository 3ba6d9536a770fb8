"""How an installation runs: as before, else in containers if an engine answers; impossible modes are refused."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from stack.layout import ROOT

ANSWERS = 'case "$1" in compose) ;; info) echo 28.5 ;; ps) echo "$CONTAINERS" ;; esac'
DENIED = 'case "$1" in info) echo "permission denied while trying to connect to the daemon" >&2; exit 1 ;; esac'
AWAY = 'case "$1" in info) echo "Cannot connect to the Docker daemon" >&2; exit 1 ;; esac'
WITHOUT_COMPOSE = '[ "$1" != compose ]'


def mode(folder: Path, docker: str = "", *markers: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run native/mode.sh in a clone with these markers; `docker` is the client's script, "" for no client."""
    (folder / "bin").mkdir()
    for tool in ("sh", "id"):
        (folder / "bin" / tool).symlink_to(f"/usr/bin/{tool}")
    if docker:
        (folder / "bin" / "docker").write_text(f"#!/bin/sh\n{docker}\n")
        (folder / "bin" / "docker").chmod(0o755)
    for marker in markers:
        (folder / marker).touch()
    clean = {key: value for key, value in os.environ.items() if key not in {"MODE", "CONTAINERS"}}
    return subprocess.run(["/bin/sh", ROOT / "native" / "mode.sh", folder, "up"], capture_output=True, text=True,
                          check=False, env={**clean, "PATH": str(folder / "bin"), **environment})  # fmt: skip


@pytest.mark.parametrize(
    ("docker", "markers", "environment", "expected"),
    [
        ("", (), {}, "native"),
        (ANSWERS, (), {}, "compose"),
        (ANSWERS, (".native",), {}, "native"),
        (ANSWERS, (".native",), {"CONTAINERS": "4e1a"}, "compose"),
        (ANSWERS, (".compose",), {}, "compose"),
        (DENIED, (".native",), {}, "native"),
        (AWAY, (), {}, "native"),
        (WITHOUT_COMPOSE, (), {}, "native"),
        (ANSWERS, (), {"MODE": "native"}, "native"),
        ("", (), {"MODE": "compose"}, "compose"),
    ],
)
def test_the_mode_stays_as_before(
    tmp_path: Path, docker: str, markers: tuple[str, ...], environment: dict[str, str], expected: str
) -> None:
    said = mode(tmp_path, docker, *markers, **environment)
    assert said.stdout.strip() == expected, said.stderr


@pytest.mark.parametrize(
    ("docker", "markers", "environment", "words"),
    [
        (DENIED, (), {}, "Docker is installed, but .* may not use it: sudo usermod -aG docker"),
        (AWAY, (".compose",), {}, "runs under Docker Compose, and the engine cannot be asked: Cannot connect"),
        ("", (".compose",), {}, "the engine cannot be asked: the command 'docker compose' is missing"),
        (ANSWERS, (), {"MODE": "podman"}, "MODE=podman is neither native nor compose"),
    ],
)
def test_impossible_modes_are_refused(
    tmp_path: Path, docker: str, markers: tuple[str, ...], environment: dict[str, str], words: str
) -> None:
    said = mode(tmp_path, docker, *markers, **environment)
    assert said.returncode == 2
    assert said.stdout == ""
    assert re.search(words, said.stderr), said.stderr


def test_a_stopped_engine_is_reported_at_the_start(tmp_path: Path) -> None:
    assert "its engine does not run: without it, as native processes" in mode(tmp_path, AWAY).stderr
