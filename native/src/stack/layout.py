"""Paths and versions: the repository, the cache of built programs, the pinned versions."""

import os
from pathlib import Path

from dotenv import dotenv_values

ROOT = Path(__file__).resolve().parents[3]


def read_versions(file: Path) -> dict[str, str]:
    """Pinned versions by name."""
    return {key: value or "" for key, value in dotenv_values(file).items()}


VERSIONS = read_versions(ROOT / "native" / "versions.env")


def cache_dir() -> Path:
    """The folder of built programs: outside the work tree, so that a new clone finds them."""
    if chosen := os.environ.get("SDA_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sda-locator"


def influxd_program() -> Path:
    return cache_dir() / f"influxd-{VERSIONS['INFLUXDB_VERSION']}" / "influxd"


def node_folder() -> Path:
    """The folder with `node`, to be put first on PATH."""
    return cache_dir() / f"node-{VERSIONS['NODE_VERSION']}" / "node_modules" / "node" / "bin"


def compose_program() -> Path:
    return cache_dir() / f"compose-{VERSIONS['COMPOSE_VERSION']}" / "docker-compose"
