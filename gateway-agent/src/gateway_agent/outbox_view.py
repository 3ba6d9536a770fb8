"""Reads an outbox's SQLite file, also while an agent is running."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

FILE = "outbox.sqlite3"
_WAITING = """SELECT id, ts, readings, body FROM batch
  WHERE acked IS NULL AND ts IS NOT NULL AND id > ? ORDER BY id LIMIT ?"""
_COUNT = "SELECT coalesce(sum(readings), 0), count(*) FROM batch WHERE acked IS "


class Batch(NamedTuple):
    """One stored message: ``body`` is the JSON array of readings, ``ts`` epoch milliseconds."""

    id: int
    ts: int
    readings: int
    body: str


class Depth(NamedTuple):
    """The outbox in numbers: waiting and held readings, waiting batches, batches without a time, the oldest ``ts``."""

    waiting: int
    waiting_batches: int
    held: int
    timeless: int
    used_bytes: int
    oldest_ts: int | None


def waiting(db: sqlite3.Connection, after: int, limit: int) -> list[Batch]:
    """The oldest unacknowledged batches with a known time and ids above ``after``."""
    return [Batch(*row) for row in db.execute(_WAITING, (after, limit))]


def depth(db: sqlite3.Connection) -> Depth:
    """The outbox's present content in numbers."""
    readings, batches = db.execute(_COUNT + "NULL").fetchone()
    held, _ = db.execute(_COUNT + "NOT NULL").fetchone()
    (timeless,) = db.execute("SELECT count(*) FROM batch WHERE ts IS NULL").fetchone()
    oldest = waiting(db, 0, 1)
    return Depth(readings, batches, held, timeless, used_bytes(db), oldest[0].ts if oldest else None)


def used_bytes(db: sqlite3.Connection) -> int:
    """Bytes in use within the file."""
    pages, free, size = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in _SIZE)
    return (pages - free) * size


_SIZE = ("page_count", "freelist_count", "page_size")


def peek(folder: Path, limit: int = 0) -> tuple[Depth, list[Batch]] | None:
    """Content of the outbox in ``folder`` and its oldest waiting batches; None if there is no outbox.

    Raises sqlite3.Error when it cannot be read.
    """
    path = folder / FILE
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as db:
        return depth(db), waiting(db, 0, limit)
