"""Opens the outbox's SQLite file. It survives power cuts; a damaged file is replaced by a new one."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

log = logging.getLogger(__name__)

_CACHE_KIB = 512  # the default is 2 MiB; a row is read at most once after it is written
_WAL_BYTES = 4 << 20  # the write-ahead log is cut back to this after each checkpoint


def open_database(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open or make the file; returns the connection and whether a damaged file was moved to ``.damaged``.

    Raises sqlite3.Error and OSError.
    """
    try:
        return _connect(path), False
    except sqlite3.OperationalError:  # locked, full or unreadable: a new file would not help
        raise
    except sqlite3.DatabaseError as error:
        aside = path.with_suffix(".damaged")
        log.error("%s is damaged (%s); moved to %s, starting with a new file", path, error, aside.name)  # noqa: TRY400
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.replace(aside)
        return _connect(path), True


def _connect(path: Path) -> sqlite3.Connection:
    # check_same_thread: the caller uses one thread at a time (an executor with one worker).
    db = sqlite3.connect(path, timeout=10, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        # FULL: a batch survives a power cut, not only a crash of the agent. Cost: one or two small writes a second.
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
