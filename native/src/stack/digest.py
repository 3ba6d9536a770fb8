"""A digest of files, to detect changes."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest(files: Iterable[Path]) -> str:
    """One short digest of the files' contents; a missing file counts as empty."""
    whole = hashlib.sha256()
    for file in sorted(files):
        whole.update(f"{file}\0".encode() + (file.read_bytes() if file.is_file() else b""))
    return whole.hexdigest()[:16]
