"""One request or message and what became of it, as a row of CSV. Pure but for the reading of files."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO


class Sample(NamedTuple):
    """Times in ms. `latency_ms` counts from when the request was due, `late_ms` is how late it was sent."""

    due_ms: float
    """Epoch."""
    step: int
    """Index in the plan."""
    call: str
    subject: str
    """Receiver or staff member."""
    iteration: int
    late_ms: float
    latency_ms: float
    status: int
    """HTTP status; 0: none, or MQTT."""
    fault: str
    """Empty: answered, and right."""
    retries: int
    bytes: int
    readings: int
    """Readings that the answer acknowledges."""
    behind_ms: float
    """How old the newest is of what the answer shows; -1: it shows nothing of that kind."""
    worker: int


COLUMNS = Sample._fields


def row(sample: Sample) -> tuple[object, ...]:
    """The values as they are written."""
    return (
        f"{sample.due_ms:.1f}", *sample[1:5], f"{sample.late_ms:.3f}", f"{sample.latency_ms:.3f}", *sample[7:12],
        f"{sample.behind_ms:.0f}", sample.worker,
    )  # fmt: skip


def write(file: TextIO, samples: Iterable[Sample]) -> None:
    """Append rows."""
    csv.writer(file, lineterminator="\n").writerows(row(one) for one in samples)


def read(folder: Path) -> Iterator[Sample]:
    """All samples of a run folder, file after file."""
    for path in sorted((folder / "raw").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as lines:
            for one in csv.DictReader(lines):
                yield Sample(
                    float(one["due_ms"]), int(one["step"]), one["call"], one["subject"], int(one["iteration"]),
                    float(one["late_ms"]), float(one["latency_ms"]), int(one["status"]), one["fault"],
                    int(one["retries"]), int(one["bytes"]), int(one["readings"]), float(one["behind_ms"]),
                    int(one["worker"]),
                )  # fmt: skip
