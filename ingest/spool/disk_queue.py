"""First-in, first-out queues of write requests on disk, each safe for one appending and one reading thread.

`DiskQueue` is one queue, `Space` the disk that several share, `Outlets` a queue for each bucket of InfluxDB: where one
bucket takes nothing, all others go on.
"""

import errno
import json
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from segments import HEADER, Record, Segment, header_of, new_record, open_segments, read_record, sync_folder

SEGMENT_BYTES = 16 * 2**20
"""Size of a segment. Whole segments are dropped when the disk is nearly full."""
SAVE_EVERY_S = 1.0
COUNTERS = ("received", "stored", "dropped", "refused")


class QueueFullError(Exception):
    """The disk takes nothing more, and nothing older is left to drop."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a record begins."""

    segment: int
    offset: int


class Space:
    """Disk space that several queues share. Where it ends, the largest queue gives its oldest segment.

    So what cannot be passed on takes no space from what can.

    Args:
        reserve_bytes: disk space to leave free.
        max_bytes: largest size of all queues together. 0: only the disk bounds it.
    """

    def __init__(self, reserve_bytes: int, max_bytes: int = 0) -> None:
        self._reserve_bytes, self._max_bytes = reserve_bytes, max_bytes
        self._lock = threading.Lock()
        self._queues: list[DiskQueue] = []

    def add(self, queue: "DiskQueue") -> None:
        """Let the queue share it."""
        self._queues.append(queue)

    def make(self, wanted: int, folder: Path) -> None:
        """Drop the oldest segments until so many bytes fit on the disk of `folder`, or no queue has another segment."""
        with self._lock:
            while self._is_short(wanted, folder):
                by_size = sorted(self._queues, key=lambda queue: queue.size, reverse=True)
                if not any(queue.drop_oldest() for queue in by_size):
                    return

    def _is_short(self, wanted: int, folder: Path) -> bool:
        free = shutil.disk_usage(folder).free
        size = sum(queue.size for queue in self._queues)
        return free - wanted < self._reserve_bytes or bool(self._max_bytes and size + wanted > self._max_bytes)


class DiskQueue:
    """The queue in `folder`, which belongs to this process alone.

    Args:
        folder: created when missing.
        reserve_bytes: disk space to leave free. With less, the oldest segments are dropped, and counted as `dropped`.
        max_bytes: largest size of the queue. Beyond it the oldest segments are dropped too. 0: only the disk bounds it.
        space: shared with other queues, in place of the two bounds.
    """

    def __init__(self, folder: Path, reserve_bytes: int = 0, max_bytes: int = 0, space: Space | None = None) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._space = space or Space(reserve_bytes, max_bytes)
        self._space.add(self)
        self._changed = threading.Condition()
        self._segments, damaged = open_segments(folder)
        kept = _read_state(folder / "state.json")
        self.counters: dict[str, Counter[str]] = {name: Counter(kept.get(name, {})) for name in COUNTERS}
        """Lines by bucket since the queue's first day. `dropped`: there was no space; `refused`: by InfluxDB."""
        self.counters["dropped"]["damaged"] += len(damaged)
        self._read = Position(int(kept.get("segment", 0)), int(kept.get("offset", 0)))
        used = [int(kept.get("next", 1)) - 1, self._read.segment, *(one.number for one in self._segments)]
        self._next = max(used) + 1
        self._saved_s = 0.0
        self._writing: FileIO | None = None
        self._drop_shipped()
        self._waiting_lines = sum(one.lines for one in self._segments) - self._lines_shipped()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(one.size for one in self._segments)

    def append(self, bucket: str, body: bytes) -> None:
        """Append a request. Returns when the disk has it.

        Raises:
            QueueFullError: the request is not in the queue.
        """
        self.append_record(new_record(bucket, body))

    def append_record(self, record: Record, *, is_new: bool = True) -> None:
        """As `append`. A record that is not new was counted as received already, by another queue."""
        bucket, body = record.bucket, record.body
        size = HEADER.size + len(body)
        self._space.make(size, self._folder)
        with self._changed:
            segment = self._segments[-1] if self._segments else None
            file = self._writing
            if file is None or segment is None or segment.size + size > SEGMENT_BYTES:
                segment, file = self._begin_segment()
            try:
                _write_whole(file, [header_of(record), body])
            except OSError as error:
                self._cut_off(segment, file)
                raise QueueFullError(f"{self._folder}: {error.strerror}") from error
            segment.size += size
            segment.lines += record.lines
            if is_new:
                self.counters["received"][bucket] += record.lines
            self._waiting_lines += record.lines
            self._save()
            self._changed.notify()

    def wait(self, timeout_s: float, min_bytes: int = 1) -> bool:
        """Wait until `min_bytes` are in the queue. Returns whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: self._waiting_bytes() >= min_bytes, timeout_s)

    def peek(self, max_bytes: int) -> tuple[list[Record], Position]:
        """Returns the oldest records and the position after them.

        Args:
            max_bytes: size of all records together. The first record is returned whatever its size.
        """
        with self._changed:
            position, files = self._read, list(self._segments)
        found: list[Record] = []
        size = 0
        for segment in files:
            if segment.number < position.segment:
                continue
            offset = position.offset if segment.number == position.segment else 0
            try:
                file = segment.path.open("rb")
            except FileNotFoundError:  # dropped meanwhile
                continue
            with file:
                file.seek(offset)
                while offset < segment.size and (record := read_record(file)) is not None:
                    size += len(record.body)
                    if found and size > max_bytes:
                        return found, position
                    found.append(record)
                    offset = file.tell()
                    position = Position(segment.number, offset)
        return found, position

    def advance(self, records: list[Record], position: Position, refused: Mapping[str, int] | None = None) -> None:
        """Forget everything before `position`. All of it is stored, except for `refused`: lines by bucket."""
        refused_lines = +Counter(refused or {})
        with self._changed:
            if (position.segment, position.offset) < (self._read.segment, self._read.offset):
                return  # they were dropped meanwhile, and counted
            for record in records:
                self.counters["stored"][record.bucket] += record.lines
                self._waiting_lines -= record.lines
            self.counters["stored"].subtract(refused_lines)
            self.counters["refused"].update(refused_lines)
            self._read = position
            self._drop_shipped()
            if self._waiting_bytes() == 0:
                self._waiting_lines = 0
            self._save(now=refused_lines.total() > 0)

    def continue_counting(self, before: Mapping[str, Mapping[str, int]]) -> None:
        """Continue the counters of another queue, by name and bucket, where they are larger."""
        with self._changed:
            for name, counts in before.items():
                self.counters[name] |= Counter(counts)
            self._save(now=True)

    def status(self) -> dict[str, Any]:
        """Counters, and what waits: bytes, lines, epoch ms of the oldest arrival (None: nothing waits)."""
        with self._changed:
            size = self._waiting_bytes()
            counters = {name: dict(counter) for name, counter in self.counters.items()}
        oldest, _ = self.peek(0) if size else ([], None)
        return {
            **counters,
            "waiting_bytes": size,
            "waiting_lines": max(self._waiting_lines, 0),
            "oldest_ms": oldest[0].arrived_ms if oldest else None,
            "free_bytes": shutil.disk_usage(self._folder).free,
        }

    def close(self) -> None:
        """Save the position."""
        with self._changed:
            self._save(now=True)
            if self._writing is not None:
                self._writing.close()
                self._writing = None

    def _waiting_bytes(self) -> int:
        at = self._read
        waiting = [one for one in self._segments if not self._is_shipped(one)]
        return sum(one.size - (at.offset if one.number == at.segment else 0) for one in waiting)

    def _lines_shipped(self) -> int:
        """Number of lines before the position, in the position's segment."""
        lines = 0
        for segment in self._segments:
            if segment.number == self._read.segment:
                with segment.path.open("rb") as file:
                    while file.tell() < self._read.offset and (record := read_record(file)) is not None:
                        lines += record.lines
        return lines

    def _begin_segment(self) -> tuple[Segment, FileIO]:
        if self._writing is not None:
            self._writing.close()
        self._writing = None
        path = self._folder / f"{self._next:012}.log"
        try:
            file = path.open("ab", buffering=0)
            sync_folder(self._folder)
        except OSError as error:
            raise QueueFullError(f"{self._folder}: {error.strerror}") from error
        self._next += 1
        segment = Segment(path)
        self._segments.append(segment)
        self._writing = file
        self._save(now=True)
        return segment, file

    def _cut_off(self, segment: Segment, file: FileIO) -> None:
        """Remove what a failed write left behind. If that fails, the next start does it. A new segment follows."""
        with suppress(OSError):
            file.truncate(segment.size)
        file.close()
        self._writing = None

    def drop_oldest(self) -> bool:
        """Drop the oldest segment, and count what waits in it. False: there is one segment only, which stays."""
        with self._changed:
            if len(self._segments) <= 1:
                return False
            self._drop_oldest()
            return True

    def _drop_oldest(self) -> None:
        oldest = self._segments.pop(0)
        if self._read.segment <= oldest.number:
            waiting_from = self._read.offset if self._read.segment == oldest.number else 0
            with oldest.path.open("rb") as file:
                file.seek(waiting_from)
                while (record := read_record(file)) is not None:
                    self.counters["dropped"][record.bucket] += record.lines
                    self._waiting_lines -= record.lines
            self._read = Position(self._segments[0].number, 0)
        oldest.path.unlink(missing_ok=True)
        self._save(now=True)

    def _drop_shipped(self) -> None:
        while self._segments and self._is_shipped(self._segments[0]):
            shipped = self._segments[0]
            if self._writing is not None and shipped is self._segments[-1]:
                return  # it is still written to
            self._segments.pop(0)
            shipped.path.unlink(missing_ok=True)

    def _is_shipped(self, segment: Segment) -> bool:
        at, number = self._read, segment.number
        return number < at.segment or (number == at.segment and at.offset >= segment.size)

    def _save(self, *, now: bool = False) -> None:
        """Save position and counters. A position that is too old is harmless: the same point twice is one point."""
        if not now and time.monotonic() - self._saved_s < SAVE_EVERY_S:
            return
        self._saved_s = time.monotonic()
        state = {"segment": self._read.segment, "offset": self._read.offset, "next": self._next, **self.counters}
        new = self._folder / "state.json.new"
        try:
            new.write_text(json.dumps(state))
            new.replace(self._folder / "state.json")
        except OSError:
            new.unlink(missing_ok=True)  # a full disk; the next save may work


class Outlets:
    """The queues of `buckets` in folders of their names below `folder`; they share `space`.

    Versions before had one queue for all buckets, in `folder` itself. What waits in it is taken over at the start.
    """

    def __init__(self, folder: Path, buckets: Sequence[str], space: Space) -> None:
        self.queues = {bucket: DiskQueue(folder / bucket, space=space) for bucket in buckets}
        if any(folder.glob("*.log")) or (folder / "state.json").exists():
            self._take_over(folder)

    def append(self, bucket: str, body: bytes) -> None:
        """Append a request to the bucket's queue. Returns when the disk has it. Raises QueueFullError."""
        self.queues[bucket].append(bucket, body)

    @property
    def counters(self) -> dict[str, Counter[str]]:
        """Those of all queues together."""
        return {name: sum((queue.counters[name] for queue in self.queues.values()), Counter()) for name in COUNTERS}

    def status(self) -> dict[str, Any]:
        """The status of all queues together, as one queue has it, and under `outlets` what waits in each, by bucket."""
        each = {bucket: queue.status() for bucket, queue in self.queues.items()}
        oldest = [one["oldest_ms"] for one in each.values() if one["oldest_ms"] is not None]
        return {
            **{name: dict(sum((Counter(one[name]) for one in each.values()), Counter())) for name in COUNTERS},
            **{name: sum(one[name] for one in each.values()) for name in ("waiting_bytes", "waiting_lines")},
            "oldest_ms": min(oldest, default=None),
            "free_bytes": min(one["free_bytes"] for one in each.values()),
            "outlets": {
                bucket: {name: one[name] for name in ("waiting_lines", "oldest_ms")} for bucket, one in each.items()
            },
        }

    def close(self) -> None:
        """Save all positions."""
        for queue in self.queues.values():
            queue.close()

    def _take_over(self, folder: Path) -> None:
        before = DiskQueue(folder)
        for bucket, queue in self.queues.items():
            queue.continue_counting({name: {bucket: before.counters[name][bucket]} for name in COUNTERS})
        while (found := before.peek(SEGMENT_BYTES))[0]:
            records, position = found
            for record in records:
                self.queues[record.bucket].append_record(record, is_new=False)
            before.advance(records, position)
        before.close()
        for file in (*folder.glob("*.log"), folder / "state.json"):
            file.unlink(missing_ok=True)


def _write_whole(file: FileIO, parts: list[bytes]) -> None:
    """Write all parts and wait for the disk. A short write means that the disk is full."""
    if os.writev(file.fileno(), parts) != sum(len(part) for part in parts):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fdatasync(file.fileno())


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
