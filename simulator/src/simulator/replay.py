"""Makes batches of a recorded walk, as gateways would send them: windows of a CSV's readings with new times. Pure."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway_agent import beacon_id

from simulator.message import MAX_READINGS, PLAIN_ID, RSSI, Reading, Receiver, ScheduledBatch, window_rssi

WINDOW_MS = 1000  # a gateway's default scan window
LONGEST_MS = int(6.5 * 86_400_000)  # the platform refuses readings older than 7 days; half a day is the margin
COLUMNS = ("ts_ms", "gateway", "beacon", "rssi")
BEACON_FORMS = "12 hex digits, UUID-MAJOR-MINOR, NAMESPACE-INSTANCE, or 40 hex digits; upper-case, no other separators"
ALSO_GATEWAY = "receiver"  # its name in recordings with known rooms (tests/accuracy/recordings)


class RecordingError(Exception):
    """The file is not a recording; the message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One reading of the recording, `ts_ms` in the recording's own time."""

    ts_ms: int
    gateway: str
    beacon: str
    rssi: int


@dataclass(frozen=True, slots=True)
class Recording:
    """The valid rows, and `(line, reason)` of each invalid one."""

    rows: tuple[Row, ...]
    refused: tuple[tuple[int, str], ...]

    def gateways(self) -> list[Receiver]:
        return [Receiver("gateway", gateway) for gateway in sorted({row.gateway for row in self.rows})]


def parse(lines: Iterable[str]) -> Recording:
    """Read a CSV with at least the columns ts_ms, gateway (or receiver), beacon, rssi; other columns are ignored.

    Raises RecordingError if a column is missing, no row is valid, or the recording is longer than LONGEST_MS."""
    reader = csv.DictReader(lines, restkey="", strict=True)
    rows, refused = [], []
    try:
        columns = list(reader.fieldnames or ())
        if "gateway" not in columns and ALSO_GATEWAY in columns:
            reader.fieldnames = ["gateway" if column == ALSO_GATEWAY else column for column in columns]
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise RecordingError(f"line 1: the column {missing[0]!r} is missing (wanted: {', '.join(COLUMNS)})")
        for record in reader:
            try:
                rows.append(_row(record))
            except ValueError as fault:
                refused.append((reader.line_num, str(fault)))
    except csv.Error as error:
        raise RecordingError(f"line {reader.line_num}: is not CSV: {error}") from error
    if not rows:
        raise RecordingError("there is no valid row" + (f" (line {refused[0][0]}: {refused[0][1]})" if refused else ""))
    recording = Recording(tuple(rows), tuple(refused))
    duration_ms = _bounds(recording)[1] - _bounds(recording)[0]
    if duration_ms > LONGEST_MS:
        days = duration_ms / 86_400_000
        raise RecordingError(f"lasts {days:.1f} days; times over 7 days old are refused, so at most 6.5 can be played")
    return recording


def _row(record: dict[str, str | None]) -> Row:
    """A valid row. Raises ValueError that names the column."""
    if "" in record:
        raise ValueError("has more fields than the header")
    text = {column: (record[column] or "").strip() for column in COLUMNS}
    for column in COLUMNS:
        if not text[column]:
            raise ValueError(f"{column} is empty")
    if not re.fullmatch(r"[0-9]{1,15}", text["ts_ms"], re.ASCII):
        raise ValueError(f"ts_ms {text['ts_ms']!r} is not a whole number of milliseconds")
    if not re.fullmatch(PLAIN_ID, text["gateway"]):
        raise ValueError(f"gateway {text['gateway']!r} is not an id ({PLAIN_ID})")
    if not beacon_id.is_canonical(text["beacon"]):
        raise ValueError(f"beacon {text['beacon']!r} is not a beacon id ({BEACON_FORMS})")
    if not re.fullmatch(r"-?[0-9]{1,4}", text["rssi"], re.ASCII) or int(text["rssi"]) not in RSSI:
        raise ValueError(f"rssi {text['rssi']!r} is not a whole number of dBm from {RSSI[0]} to {RSSI[-1]}")
    return Row(int(text["ts_ms"]), text["gateway"], text["beacon"], int(text["rssi"]))


def _bounds(recording: Recording) -> tuple[int, int]:
    """Start of the first window and end of the last, in the recording's time."""
    first = min(row.ts_ms for row in recording.rows)
    last = max(row.ts_ms for row in recording.rows)
    return first, first + ((last - first) // WINDOW_MS + 1) * WINDOW_MS


def duration_s(recording: Recording, speed: float) -> float:
    """Seconds that the replay takes."""
    first, end = _bounds(recording)
    return (end - first) / 1000 / speed


def scheduled_batches(recording: Recording, speed: float) -> Iterator[ScheduledBatch]:
    """One batch for each gateway and window of WINDOW_MS with readings, in the order of due times.

    Time stamps keep the recording's spacing at any speed (1 or more). They are moved so that the last window ends when
    it is sent. So at speed 1 the first window starts with the run, and at speed X the time stamps start in the past."""
    first, end = _bounds(recording)
    windows: dict[tuple[int, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in recording.rows:
        windows[(row.ts_ms - first) // WINDOW_MS, row.gateway][row.beacon].append(row.rssi)
    senders = {gateway.id: sender for sender, gateway in enumerate(recording.gateways())}
    duration_ms = end - first
    back_ms = round(duration_ms - duration_ms / speed)
    for (window, gateway), beacons in sorted(windows.items()):
        end_ms = (window + 1) * WINDOW_MS
        readings = [Reading(beacon, window_rssi(values)) for beacon, values in sorted(beacons.items())]
        for part, start in enumerate(range(0, len(readings), MAX_READINGS)):
            chunk = tuple(readings[start : start + MAX_READINGS])
            # Parts of one window have different beacons, so an equal time stamp loses nothing.
            yield ScheduledBatch(end_ms / 1000 / speed + part * 1e-6, end_ms - back_ms, senders[gateway], chunk)
