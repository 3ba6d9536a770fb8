"""Stores batches on disk before they are sent and until the replay window after their acknowledgement has passed.

States of a row: waiting -> held (acknowledged, kept for the replay window) -> deleted. `replay` makes held rows wait
again. Times are milliseconds of the boot clock (`boot_ms`) with the boot's id; `ts` is the batch's epoch time, NULL
until the wall clock is right.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from gateway_agent.database import open_database
from gateway_agent.outbox_view import FILE, Batch, Depth, depth, used_bytes, waiting

_ROOM_AFTER_TRIM = 0.98
_TRIM_BATCHES = 200
DROPPED = ("age", "size", "time", "disk")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS batch (
  id INTEGER PRIMARY KEY AUTOINCREMENT, boot TEXT NOT NULL, boot_ms INTEGER NOT NULL, ts INTEGER,
  readings INTEGER NOT NULL, body TEXT NOT NULL, acked INTEGER, first_acked INTEGER);
CREATE INDEX IF NOT EXISTS waiting ON batch (id, readings) WHERE acked IS NULL;
CREATE INDEX IF NOT EXISTS held ON batch (acked) WHERE acked IS NOT NULL;
CREATE INDEX IF NOT EXISTS timeless ON batch (id) WHERE ts IS NULL;
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


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


class Outbox:
    """Opens (or makes) the file in ``folder``. ``dropped`` counts dropped readings by reason.

    Use from one thread at a time. Raises sqlite3.Error and OSError.
    """

    def __init__(self, folder: Path, boot: str, max_bytes: int, dropped: Counter[str]) -> None:
        self._dropped = dropped
        self._boot = boot
        self._max_bytes = max_bytes
        self._db, self.was_damaged = open_database(folder / FILE)
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
        return waiting(self._db, after, limit)

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
        return used_bytes(self._db)

    def depth(self) -> Depth:
        """The outbox's present content in numbers."""
        return depth(self._db)

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
