"""Opens the outbox's SQLite file: made for power cuts, and begun afresh when a worn-out card has damaged it."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

log = logging.getLogger(__name__)

_CACHE_KIB = 512  # of 2 MiB by default; what is written is read at most once again
_WAL_BYTES = 4 << 20  # the write-ahead log is cut back to this after each checkpoint


def open_database(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open or make the file; a damaged one is put aside as ``.damaged``, and whether it was is told.

    Raises sqlite3.Error and OSError.
    """
    try:
        return _connect(path), False
    except sqlite3.OperationalError:  # locked, full, not readable: nothing that a fresh file would mend
        raise
    except sqlite3.DatabaseError as error:
        aside = path.with_suffix(".damaged")
        log.error("%s is damaged (%s); put aside as %s, beginning afresh", path, error, aside.name)  # noqa: TRY400
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.replace(aside)
        return _connect(path), True


def _connect(path: Path) -> sqlite3.Connection:
    # check_same_thread: one thread at a time is the caller's promise (an executor with one worker keeps it).
    db = sqlite3.connect(path, timeout=10, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        # FULL: a batch survives a power cut, not only our own end; that is one or two small writes a second.
        db.execute("PRAGMA synchronous = FULL")
        db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        db.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
        _check(db)
    except BaseException:
        db.close()
        raise
    return db


def _check(db: sqlite3.Connection) -> None:
    with closing(db.execute("PRAGMA quick_check(1)")) as check:
        verdict = check.fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)
