"""Stores batches on disk before they are sent and until the replay window after their acknowledgement has passed.

`Store` runs the work in a thread of its own; `Outbox` is the SQLite file; `peek` reads it beside a running agent.

States of a row: waiting -> held (acknowledged, kept for the replay window) -> deleted. `replay` makes held rows wait
again. Times are milliseconds of the boot clock (`boot_ms`) with the boot's id; `ts` is the batch's epoch time, NULL
until the wall clock is right.
"""

import asyncio
import logging
import sqlite3
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from gateway_agent.state import AlreadyRunningError

T = TypeVar("T")
log = logging.getLogger(__name__)

FILE = "outbox.sqlite3"
DROPPED = ("age", "size", "time", "disk")
OPEN_AGAIN_AFTER_S = 5.0
# Each acknowledgement starts a new replay window. Two windows after its first acknowledgement a batch is not sent
# again, so that a broker that restarts every minute does not get everything again and again.
REPLAYED_FOR_WINDOWS = 2
LIVE = 500  # batches that were just added and nobody has sent yet
_ROOM_AFTER_TRIM = 0.98
_TRIM_BATCHES = 200
_CACHE_KIB = 512  # the default is 2 MiB; a row is read at most once after it is written
_WAL_BYTES = 4 << 20  # the write-ahead log is cut back to this after each checkpoint
_SCHEMA = """
CREATE TABLE IF NOT EXISTS batch (
  id INTEGER PRIMARY KEY AUTOINCREMENT, boot TEXT NOT NULL, boot_ms INTEGER NOT NULL, ts INTEGER,
  readings INTEGER NOT NULL, body TEXT NOT NULL, acked INTEGER, first_acked INTEGER);
CREATE INDEX IF NOT EXISTS waiting ON batch (id, readings) WHERE acked IS NULL;
CREATE INDEX IF NOT EXISTS held ON batch (acked) WHERE acked IS NOT NULL;
CREATE INDEX IF NOT EXISTS timeless ON batch (id) WHERE ts IS NULL;
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_WAITING = """SELECT id, ts, readings, body FROM batch
  WHERE acked IS NULL AND ts IS NOT NULL AND id > ? ORDER BY id LIMIT ?"""
_COUNT = "SELECT coalesce(sum(readings), 0), count(*) FROM batch WHERE acked IS "
_REPLAY = (
    "UPDATE batch SET acked = NULL WHERE acked IS NOT NULL AND acked <= coalesce(max(?2, 0), acked) "
    "AND first_acked >= (SELECT max(acked) FROM batch) - ?1 RETURNING readings"
)
_ACKNOWLEDGE = "UPDATE batch SET acked = ?1, first_acked = coalesce(first_acked, ?1) WHERE id = ?2"
# Batches of this boot go by the boot clock, which never jumps; those of an earlier boot have only `ts`.
_OLD = "CASE WHEN boot = :boot THEN boot_ms < :oldest_boot_ms ELSE ts < :oldest_ts END"
_FORGET_OLD_HELD = f"DELETE FROM batch WHERE acked IS NOT NULL AND {_OLD}"  # noqa: S608 - constants
_FORGET_FIRST_HELD = "DELETE FROM batch WHERE id IN (SELECT id FROM batch WHERE acked IS NOT NULL ORDER BY id LIMIT ?)"
_DROP = {
    # Only the oldest rows: a full scan would read 256 MiB from the card every few seconds.
    "age": (
        "DELETE FROM batch WHERE id IN (SELECT id FROM batch WHERE acked IS NULL ORDER BY id LIMIT :limit) "  # noqa: S608
        f"AND {_OLD} RETURNING readings"
    ),
    "size": (
        "DELETE FROM batch WHERE id IN (SELECT id FROM batch WHERE acked IS NULL ORDER BY id LIMIT ?) "
        "RETURNING readings"
    ),
    "time": "DELETE FROM batch WHERE ts IS NULL AND boot != ? RETURNING readings",
}


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


class Outbox:
    """Opens (or makes) the file in ``folder``. ``dropped`` counts dropped readings by reason.

    Use from one thread at a time. Raises sqlite3.Error and OSError.
    """

    def __init__(self, folder: Path, boot: str, max_bytes: int, dropped: Counter[str]) -> None:
        self._dropped = dropped
        self._boot = boot
        self._max_bytes = max_bytes
        self._db, self.was_damaged = _open_database(folder / FILE)
        try:
            self._begin()
        except BaseException:
            self._db.close()
            raise

    def _begin(self) -> None:
        with self._db:
            self._db.executescript(_SCHEMA)
            if self.fact("boot") != self._boot:  # after a reboot, held batches start a new replay window
                self._db.execute("UPDATE batch SET acked = 0, first_acked = 0 WHERE acked IS NOT NULL")
                self.remember("boot", self._boot)

    def close(self) -> None:
        """Close the file; all added batches are on disk already."""
        self._db.close()

    def add(self, batches: Iterable[tuple[int, str]], boot_ms: int, ts: int | None) -> list[Batch]:
        """Store (number of readings, body) in one transaction; returns them with ids. ``ts`` None: not yet known."""
        added = []
        with self._db:
            for readings, body in batches:
                row = self._db.execute(
                    "INSERT INTO batch (boot, boot_ms, ts, readings, body) VALUES (?, ?, ?, ?, ?)",
                    (self._boot, boot_ms, ts, readings, body),
                )
                added.append(Batch(row.lastrowid or 0, ts or 0, readings, body))
        return added

    def waiting(self, after: int, limit: int) -> list[Batch]:
        """The oldest unacknowledged batches with a known time and ids above ``after``."""
        return _waiting(self._db, after, limit)

    def acknowledge(self, ids: Iterable[int], boot_ms: int) -> None:
        """Mark batches as acknowledged; they are held from now on."""
        with self._db:
            self._db.executemany(_ACKNOWLEDGE, [(boot_ms, batch) for batch in ids])

    def replay(self, within_ms: int, until_boot_ms: int | None = None) -> int:
        """Make held batches wait again, since a killed broker loses acknowledged messages. Returns their readings.

        ``until_boot_ms``: only batches acknowledged until then, or before a reboot; None: all. Batches first
        acknowledged more than ``within_ms`` before the latest acknowledgement stay held. The reference is the latest
        acknowledgement, not now, so that the length of an outage does not matter.
        """
        with self._db:
            rows = self._db.execute(_REPLAY, (within_ms, until_boot_ms)).fetchall()
        return sum(readings for (readings,) in rows)

    def release(self, before_boot_ms: int) -> None:
        """Delete batches acknowledged before then. Call only while connected: an outage pauses the replay window."""
        with self._db:
            self._db.execute("DELETE FROM batch WHERE acked IS NOT NULL AND acked < ?", (before_boot_ms,))

    def set_times(self, boot_epoch_ms: int) -> int:
        """Set the time of batches of this boot; ``boot_epoch_ms`` is the epoch time of the boot clock's zero.

        Batches of an earlier boot without a time can never get one: they are dropped and counted.
        Returns the number of batches that got a time.
        """
        with self._db:
            rows = self._db.execute(
                "UPDATE batch SET ts = boot_ms + ? WHERE ts IS NULL AND boot = ?", (boot_epoch_ms, self._boot)
            )
            self._drop("time", (self._boot,))
        return rows.rowcount

    def correct_times(self, boot_epoch_ms: int, tolerance_ms: int) -> int:
        """Correct waiting batches of this boot whose time is later than their creation by more than the tolerance.

        Such a time is wrong, and the platform refuses it. Returns the number of corrected batches.
        """
        with self._db:
            rows = self._db.execute(
                "UPDATE batch SET ts = boot_ms + ?1 WHERE boot = ?2 AND acked IS NULL AND ts > boot_ms + ?1 + ?3",
                (boot_epoch_ms, self._boot, tolerance_ms),
            )
        return rows.rowcount

    def trim(self, oldest_boot_ms: int | None, oldest_ts: int | None) -> None:
        """Enforce the limits of age and size: drop the oldest batches first and count them.

        ``oldest_boot_ms`` limits batches of this boot (None: no limit), ``oldest_ts`` those of earlier boots (None: the
        time is unknown).
        """
        if oldest_boot_ms is not None or oldest_ts is not None:
            bounds = {"boot": self._boot, "oldest_boot_ms": oldest_boot_ms, "oldest_ts": oldest_ts}
            with self._db:
                self._db.execute(_FORGET_OLD_HELD, bounds)
                while self._drop("age", {"limit": _TRIM_BATCHES, **bounds}):
                    pass
        if self.used_bytes() <= self._max_bytes:
            return
        while self.used_bytes() > self._max_bytes * _ROOM_AFTER_TRIM:
            with self._db:
                held = self._db.execute(_FORGET_FIRST_HELD, (_TRIM_BATCHES,)).rowcount
                if not held and not self._drop("size", (_TRIM_BATCHES,)):
                    return

    def _drop(self, reason: str, values: tuple[object, ...] | dict[str, object]) -> int:
        """Delete unacknowledged batches and count their readings; returns the number of batches."""
        rows = self._db.execute(_DROP[reason], values).fetchall()
        self._dropped[reason] += sum(readings for (readings,) in rows)
        return len(rows)

    def used_bytes(self) -> int:
        """Bytes in use within the file."""
        return _used_bytes(self._db)

    def depth(self) -> Depth:
        """The outbox's present content in numbers."""
        return _depth(self._db)

    def fact(self, name: str) -> str | None:
        """A stored text, or None."""
        row = self._db.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def remember(self, name: str, value: str) -> None:
        """Store a text under a name; it survives restarts."""
        with self._db:
            self._db.execute(
                "INSERT INTO fact VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2", (name, value)
            )


class StoreError(Exception):
    """An outbox operation failed (disk full, input/output error); the message says why. A retry may help."""


class Store:
    """Runs work on the `Outbox` in order. A file that is found damaged while running is replaced by a new one.

    ``prepare`` makes the folder before the file is opened. It may raise OSError and AlreadyRunningError.
    """

    def __init__(self, folder: Path, boot: str, max_bytes: int, prepare: Callable[[], None] = lambda: None) -> None:
        self.dropped: Counter[str] = Counter(dict.fromkeys(DROPPED, 0))
        self.error: str | None = None  # why the last operation failed; None: it succeeded
        self.damaged = 0  # replaced files; their number of readings is unknown
        self._folder, self._boot, self._max_bytes = folder, boot, max_bytes
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="outbox")
        self._prepare = prepare
        self._outbox: Outbox | None = None
        self._open_again_at = 0.0
        self._facts: dict[str, str] = {}
        self._has_facts = asyncio.Event()
        self.live: deque[Batch] = deque(maxlen=LIVE)
        self._added = asyncio.Event()

    async def open(self) -> None:
        """Open the file; raises StoreError."""
        await self.run(Outbox.used_bytes)

    async def run(self, work: Callable[[Outbox], T]) -> T:
        """Run ``work`` on the outbox and return what it returns. Raises StoreError."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._run_on_worker, work)

    async def add(self, bodies: list[tuple[int, str]], boot_ms: int, ts: int | None) -> None:
        """Store one window's (number of readings, body); those with a time are `live` then. Raises StoreError."""
        batches = await self.run(lambda outbox: outbox.add(bodies, boot_ms, ts))
        if ts is not None:
            self.live.extend(batches)
            self._added.set()

    async def next_live(self) -> Batch:
        """Wait for the next batch that was just added."""
        while not self.live:
            self._added.clear()
            await self._added.wait()
        return self.live.popleft()

    def remember(self, name: str, value: str) -> None:
        """Store a text soon: with the next `persist_facts`."""
        self._facts[name] = value
        self._has_facts.set()

    async def persist_facts(self) -> None:
        """Store what is to be remembered. Raises StoreError; a retry has it still."""
        self._has_facts.clear()
        while self._facts:
            name, value = next(iter(self._facts.items()))
            await self.run(partial(Outbox.remember, name=name, value=value))
            if self._facts.get(name) == value:
                del self._facts[name]

    async def wait_for_facts(self, seconds: float) -> None:
        """Wait until there is something to remember, for at most ``seconds``."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_facts.wait()

    async def close(self) -> None:
        """Store the facts, finish pending work and close the file."""
        try:
            await self.persist_facts()
        except StoreError as error:
            log.warning("%s", error)
        await asyncio.to_thread(self._worker.shutdown)
        if self._outbox is not None:
            self._outbox.close()

    def _run_on_worker(self, work: Callable[[Outbox], T]) -> T:
        try:
            result = work(self._opened())
        except sqlite3.OperationalError as error:
            self.error = f"outbox: {error}"
            raise StoreError(self.error) from error
        except sqlite3.DatabaseError as error:
            log.error("outbox: %s; reopening it", error)  # noqa: TRY400
            if self._outbox is not None:
                self._outbox.close()
                self._outbox = None
            self.error = f"outbox: {error}"
            raise StoreError(self.error) from error
        except (OSError, AlreadyRunningError) as error:
            self.error = f"outbox: {error}"
            raise StoreError(self.error) from error
        self.error = None
        return result

    def _opened(self) -> Outbox:
        """The open outbox. Opening is retried only every few seconds, since it reads the whole file."""
        if self._outbox is not None:
            return self._outbox
        now = time.monotonic()
        if self.error is not None and now < self._open_again_at:
            raise StoreError(self.error)
        self._open_again_at = now + OPEN_AGAIN_AFTER_S
        self._prepare()
        self._outbox = Outbox(self._folder, self._boot, self._max_bytes, self.dropped)
        self.damaged += self._outbox.was_damaged
        self._open_again_at = 0.0
        return self._outbox


def _waiting(db: sqlite3.Connection, after: int, limit: int) -> list[Batch]:
    """The oldest unacknowledged batches with a known time and ids above ``after``."""
    return [Batch(*row) for row in db.execute(_WAITING, (after, limit))]


def _depth(db: sqlite3.Connection) -> Depth:
    """The outbox's present content in numbers."""
    readings, batches = db.execute(_COUNT + "NULL").fetchone()
    held, _ = db.execute(_COUNT + "NOT NULL").fetchone()
    (timeless,) = db.execute("SELECT count(*) FROM batch WHERE ts IS NULL").fetchone()
    oldest = _waiting(db, 0, 1)
    return Depth(readings, batches, held, timeless, _used_bytes(db), oldest[0].ts if oldest else None)


def _used_bytes(db: sqlite3.Connection) -> int:
    """Bytes in use within the file."""
    pages, free, size = (
        int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def peek(folder: Path, limit: int = 0) -> tuple[Depth, list[Batch]] | None:
    """Content of the outbox in ``folder`` and its oldest waiting batches; None if there is no outbox.

    Raises sqlite3.Error when it cannot be read.
    """
    path = folder / FILE
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as db:
        return _depth(db), _waiting(db, 0, limit)


def _open_database(path: Path) -> tuple[sqlite3.Connection, bool]:
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
