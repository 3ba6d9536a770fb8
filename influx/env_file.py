"""Reads the platform's .env and changes it in place (a bind-mounted file cannot be replaced by rename)."""

import os
from collections.abc import Mapping
from pathlib import Path


def read(path: Path) -> dict[str, str]:
    """Variable -> value of every ``KEY=VALUE`` line; {} without a file."""
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {key.strip(): _unquoted(value.strip()) for key, value in pairs}


def update(path: Path, changes: Mapping[str, str]) -> None:
    """Set ``changes`` in the file, each in its line or at the end; other lines stay. The mode becomes 0600."""
    lines = path.read_text().splitlines() if path.exists() else []
    left = dict(changes)
    for number, line in enumerate(lines):
        key = line.split("=", 1)[0].strip()
        if key in changes:
            lines[number] = f"{key}={changes[key]}"
            left.pop(key, None)
    lines += [f"{key}={value}" for key, value in left.items()]
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write("\n".join(lines) + "\n")
        file.truncate()


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
