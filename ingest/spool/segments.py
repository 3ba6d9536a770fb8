"""The queue on disk: segments of records, appended at one end and read at the other.

A record is one write request. Segments are numbered in the order of their beginning.
"""

import os
import struct
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

HEADER = struct.Struct(">4sIIIQ16s")
"""Mark, checksum of the body, number of bytes, number of lines, arrival in epoch ms, bucket."""
MARK = b"SDA1"
MAX_BODY_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Record:
    """One write: line protocol for one bucket."""

    bucket: str
    lines: int
    arrived_ms: int
    body: bytes


@dataclass(slots=True)
class Segment:
    """A file of records, and what is in it."""

    path: Path
    size: int = 0
    lines: int = 0

    @property
    def number(self) -> int:
        return int(self.path.stem)


def header_of(record: Record) -> bytes:
    """The header, which precedes the record's body."""
    bucket, checksum = record.bucket.encode(), zlib.crc32(record.body)
    return HEADER.pack(MARK, checksum, len(record.body), record.lines, record.arrived_ms, bucket)


def read_record(file: BinaryIO) -> Record | None:
    """Read the record at the file's position. None: the file ends there, or no whole record follows."""
    header = file.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    mark, checksum, length, lines, arrived_ms, bucket = HEADER.unpack(header)
    if mark != MARK or length > MAX_BODY_BYTES:
        return None
    body = file.read(length)
    if len(body) < length or zlib.crc32(body) != checksum:
        return None
    return Record(bucket.rstrip(b"\0").decode(), lines, arrived_ms, body)


def open_segments(folder: Path) -> tuple[list[Segment], list[Path]]:
    """Returns the segments of `folder`, oldest first, and the paths of those with damage before their end.

    A kill may leave a half-written record at the end of the newest segment. It is cut off: nobody has been sent an
    acknowledgement for it.
    """
    segments, damaged = [], []
    paths = sorted(folder.glob("*.log"))
    for path in paths:
        segment = Segment(path)
        with path.open("r+b") as file:
            for record in _records(file):
                segment.lines += record.lines
                segment.size += HEADER.size + len(record.body)
            if segment.size < path.stat().st_size:
                if path != paths[-1]:
                    damaged.append(path)
                file.truncate(segment.size)
        segments.append(segment)
    return segments, damaged


def _records(file: BinaryIO) -> Iterator[Record]:
    while (record := read_record(file)) is not None:
        yield record


def new_record(bucket: str, body: bytes) -> Record:
    """A record that arrives now."""
    lines = body.count(b"\n") + (not body.endswith(b"\n"))
    return Record(bucket, lines, time.time_ns() // 1_000_000, body)


def sync_folder(folder: Path) -> None:
    """Make a new file's name durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
