"""Reads folders of recordings with known rooms (format: recordings/README.md) into records, and makes batches of them
as receivers send them: windows, statistic, latency."""

import csv
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from gateway_agent import beacon_id
from simulator.building import Building, BuildingError, parse
from simulator.message import PLAIN_ID, Reading, window_rssi

from accuracy.follow import Sent
from accuracy.score import Second

ADVERT_COLUMNS = ("ts_ms", "receiver", "beacon", "rssi")
TRUTH_COLUMNS = ("ts_ms", "room")
TRUTH = ".truth.csv"
HEARD_DBM = range(-126, 0)  # gateway agents and the platform discard others: they say that nothing was measured
WINDOW_MS = 1000  # the default of gateways, and what docs/phones.md recommends to phones
LATENCY_MS = (10, 60)  # receiver, network and broker
PAUSE_MS = 300_000  # between recordings that are played one after the other
AFTER_MS = 75_000  # the last seconds are estimated a little later: history looks at most 60 s ahead
Mode = Literal["gateway", "phone"]


class DataError(Exception):
    """A folder or file has no valid recordings; the message names it, the line and the fault."""


class Advert(NamedTuple):
    """One received advert: a gateway's id and the tag, or the walker's id and a fixed beacon."""

    ts_ms: int
    receiver: str
    beacon: str
    rssi: int


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording: adverts and seconds ascending by time, and its building file."""

    of: str
    """The set's name."""
    name: str
    mode: Mode
    building: dict[str, Any]
    adverts: tuple[Advert, ...]
    truth: tuple[Second, ...]
    ignored: int = 0
    """Number of adverts of other tags, of unknown devices, and without a valid level."""
    window_ms: int = WINDOW_MS
    """How long a receiver gathers adverts for one batch."""
    clocks_ms: Mapping[str, int] = field(default_factory=dict)
    """How far receivers' clocks are ahead; others are right."""
    schematic: bool = False
    """The locator gets the building as a list of its rooms and devices would have made it."""
    taught_ms: int | None = None
    """What came before has taught offsets of devices, which are used from then on; None: nothing came before."""

    @property
    def walker(self) -> str:
        return str(self.building["staff"][0]["id"])

    @property
    def scored(self) -> list[Second]:
        """Seconds with a room."""
        return [second for second in self.truth if second.room]

    @property
    def end_ms(self) -> int:
        """When estimates end."""
        return max(self.truth[-1].ts_ms, self.adverts[-1].ts_ms) + AFTER_MS

    @property
    def devices(self) -> list[dict[str, Any]]:
        """The fixed devices: gateways, or beacons for a phone."""
        return cast("list[dict[str, Any]]", self.building["gateways" if self.mode == "gateway" else "beacons"])

    def device(self, advert: Advert) -> str:
        """The fixed device of an advert."""
        return advert.receiver if self.mode == "gateway" else advert.beacon

    def with_devices(self, devices: Sequence[dict[str, Any]]) -> "Recording":
        """The same in a building file with other fixed devices."""
        key = "gateways" if self.mode == "gateway" else "beacons"
        return replace(self, building={**self.building, key: list(devices)})

    def part(self, name: str, from_ms: float, to_ms: float) -> "Recording":
        """What is from a time on and before another one."""
        return replace(
            self,
            name=f"{self.name}, {name}",
            adverts=tuple(one for one in self.adverts if from_ms <= one.ts_ms < to_ms),
            truth=tuple(one for one in self.truth if from_ms <= one.ts_ms < to_ms),
        )

    def after(self, others: Sequence["Recording"]) -> "Recording":
        """The same, but what was recorded elsewhere in the building goes before it, with pauses. It has times of its
        own."""
        adverts: list[Advert] = []
        end_ms = 0
        for one in (*others, self):
            by_ms = end_ms + PAUSE_MS - min(one.adverts[0].ts_ms, one.truth[0].ts_ms)
            adverts += [advert._replace(ts_ms=advert.ts_ms + by_ms) for advert in one.adverts]
            end_ms = max(adverts[-1].ts_ms, one.truth[-1].ts_ms + by_ms)
        truth = tuple(second._replace(ts_ms=second.ts_ms + by_ms) for second in self.truth)
        begins_ms = min(self.adverts[0].ts_ms, self.truth[0].ts_ms) + by_ms
        return replace(self, adverts=tuple(adverts), truth=truth, taught_ms=begins_ms - PAUSE_MS // 2)


@dataclass(frozen=True, slots=True)
class RecordingSet:
    """The recordings of one building."""

    name: str
    mode: Mode
    recordings: tuple[Recording, ...]


def load(folders: Iterable[Path]) -> list[RecordingSet]:
    """Read folders; each is a set or contains sets. Raises DataError."""
    return [_set(folder) for given in folders for folder in _sets_in(given)]


def _sets_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder")
    if (folder / "building.json").exists():
        return [folder]
    if found := sorted(file.parent for file in folder.glob("*/building.json")):
        return found
    raise DataError(f"{folder} holds no building.json, nor do its folders (wanted: a set of recordings, or several)")


def _set(folder: Path) -> RecordingSet:
    file = _json(folder / "building.json")
    try:
        building = parse(file)
    except BuildingError as error:
        raise DataError(f"{folder / 'building.json'}: {error}") from error
    if len(building.staff) != 1:
        raise DataError(f"{folder / 'building.json'}: staff has {len(building.staff)} entries (wanted: the walker)")
    mode = _json(folder / "set.json").get("mode")
    if mode not in ("gateway", "phone"):
        raise DataError(f"{folder / 'set.json'}: mode is {mode!r} (wanted: 'gateway' or 'phone')")
    file = {**file, "beacons": file.get("beacons", []), "gateways": file.get("gateways", [])}
    names = sorted(path.name.removesuffix(TRUTH) for path in folder.glob(f"*{TRUTH}"))
    if not names:
        raise DataError(f"{folder} holds no recording (wanted: NAME.csv and NAME{TRUTH})")
    recordings = tuple(_recording(folder, name, mode, file, building) for name in names)
    return RecordingSet(folder.name, mode, recordings)


def _json(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from error
    if not isinstance(read, dict):
        raise DataError(f"{path} is not an object")
    return read


def _recording(folder: Path, name: str, mode: Mode, file: dict[str, Any], building: Building) -> Recording:
    all_ = sorted(_adverts(folder / f"{name}.csv"))
    truth = tuple(_seconds(folder / f"{name}{TRUTH}", building))
    staff = file["staff"][0]
    walkers = set(staff.get("tags", [])) if mode == "gateway" else {staff["id"]}
    fixed = {one["id"] for one in file["gateways" if mode == "gateway" else "beacons"]}
    receivers, beacons = (fixed, walkers) if mode == "gateway" else (walkers, fixed)
    known = tuple(one for one in all_ if one.receiver in receivers and one.beacon in beacons and one.rssi in HEARD_DBM)
    if not known:
        whose = "the walker's tags" if mode == "gateway" else "the walker's phone"
        raise DataError(
            f"{folder / name}.csv: none of {len(all_)} adverts is of {whose} and of a device of the building"
        )
    return Recording(folder.name, name, mode, file, known, truth, len(all_) - len(known))


def _adverts(path: Path) -> Iterator[Advert]:
    for line, row in _rows(path, ADVERT_COLUMNS):
        ts_ms = _number(path, line, "ts_ms", row["ts_ms"])
        if not re.fullmatch(PLAIN_ID, row["receiver"]):
            raise DataError(f"{path}, line {line}: receiver {row['receiver']!r} is not an id ({PLAIN_ID})")
        if not beacon_id.is_canonical(row["beacon"]):
            raise DataError(f"{path}, line {line}: beacon {row['beacon']!r} is not an id in its canonical form")
        yield Advert(ts_ms, row["receiver"], row["beacon"], _number(path, line, "rssi", row["rssi"]))


def _seconds(path: Path, building: Building) -> Iterator[Second]:
    before_ms = None
    for line, row in _rows(path, TRUTH_COLUMNS):
        ts_ms = _number(path, line, "ts_ms", row["ts_ms"])
        if before_ms is not None and ts_ms <= before_ms:
            raise DataError(f"{path}, line {line}: ts_ms {ts_ms} is not after that of the line before, {before_ms}")
        before_ms = ts_ms
        if row["room"] and row["room"] not in building.rooms:
            raise DataError(f"{path}, line {line}: room {row['room']!r} is not in building.json")
        x_m, y_m = (_metres(path, line, column, row.get(column, "")) for column in ("x_m", "y_m"))
        yield Second(ts_ms, row["room"], x_m, y_m)


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields by column, including other columns."""
    try:
        file = path.open(newline="")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    with file:
        reader = csv.DictReader(file, restkey="", restval="", strict=True)
        try:
            missing = [column for column in columns if column not in (reader.fieldnames or ())]
            if missing:
                raise DataError(f"{path}, line 1: the column {missing[0]!r} is missing (wanted: {','.join(columns)})")
            for row in reader:
                if "" in row:
                    raise DataError(f"{path}, line {reader.line_num}: has more fields than the header")
                yield reader.line_num, {column: text.strip() for column, text in row.items()}
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(f"{path}, line {reader.line_num}: is not CSV: {error}") from error


def _number(path: Path, line: int, column: str, text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,15}", text, re.ASCII):
        raise DataError(f"{path}, line {line}: {column} {text!r} is not a whole number")
    return int(text)


def _metres(path: Path, line: int, column: str, text: str) -> float | None:
    if not text:
        return None
    if not re.fullmatch(r"-?[0-9]{1,6}(\.[0-9]*)?", text, re.ASCII):
        raise DataError(f"{path}, line {line}: {column} {text!r} is not a number of metres")
    return float(text)


def batches(recording: Recording, phases: int) -> list[Sent]:
    """Batches in order of arrival. Each receiver's windows start at a random moment; `phases` is the seed of these
    moments, and of the latency."""
    rng = random.Random(f"{recording.of}/{recording.name}/{phases}")  # noqa: S311 - play, not secrets
    window_ms = recording.window_ms
    phase = {one: rng.randrange(window_ms) for one in sorted({advert.receiver for advert in recording.adverts})}
    heard: dict[tuple[int, str], dict[str, list[int]]] = {}
    for ts_ms, receiver, beacon, rssi in recording.adverts:
        end_ms = ts_ms + window_ms - (ts_ms - phase[receiver]) % window_ms
        heard.setdefault((end_ms, receiver), {}).setdefault(beacon, []).append(rssi)
    sent = []
    for (end_ms, receiver), levels in sorted(heard.items()):
        readings = tuple(Reading(beacon, window_rssi(values)) for beacon, values in sorted(levels.items()))
        ts = end_ms + recording.clocks_ms.get(receiver, 0)
        sent.append(Sent(end_ms + rng.uniform(*LATENCY_MS), recording.mode, receiver, ts, readings))
    return sorted(sent, key=lambda one: one.now_ms)
