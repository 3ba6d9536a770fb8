"""Caches the slow parts of a private engine beside the other built programs."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from stack.layout import cache_dir

CACHE = cache_dir() / "engine"


def built_once(title: str, made_from: Iterable[object], build: Callable[[Path], None]) -> Path:
    """The folder that ``build`` fills, from the cache if ``made_from`` is unchanged; older ones are removed.

    Args:
        title: the folder's name, without its digest.
        made_from: whatever makes another one necessary.
        build: gets an empty folder, which becomes the result when it returns.
    """
    digest = hashlib.sha256("\0".join(map(str, made_from)).encode()).hexdigest()[:12]
    target = CACHE / f"{title}-{digest}"
    if target.exists():
        return target
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.glob(f"{title}-*"):
        shutil.rmtree(old, ignore_errors=True)
    staged = Path(tempfile.mkdtemp(dir=CACHE, prefix=f"{title}-new-"))
    try:
        build(staged)
        staged.chmod(0o755)
        staged.rename(target)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return target
