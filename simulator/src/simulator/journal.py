"""What the broker acknowledged, as a file: for who compares it with what is stored."""

import csv
from pathlib import Path

from simulator.message import Receiver

COLUMNS = ("acked_ms", "kind", "receiver", "ts_ms", "readings")


class Journal:
    """A CSV of COLUMNS, a line for the first acknowledgement of each batch; `ts_ms` is the batch's own time stamp."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", newline="", buffering=1 << 16)
        self._writer = csv.writer(self._file)
        self._writer.writerow(COLUMNS)

    def write(self, receiver: Receiver, ts_ms: int, readings: int, acked_ms: int) -> None:
        self._writer.writerow((acked_ms, receiver.kind, receiver.id, ts_ms, readings))

    def close(self) -> None:
        self._file.close()
