"""Other rules to name the room, for comparison. They use the adverts themselves and the rooms of devices, answer at
once, and know neither windows nor latency; in a phone's recording the beacons stand for scanners. Pure.

`strongest`: the room of the strongest reading of the second.

`mean`: the exponential mean over 2 s of each device's levels in dB, powers summed by room, and a change only when
another room wins twice in a row.

`bermuda`: the rule of Bermuda (Home Assistant; github agittins/bermuda: bermuda_advert.py and the area choice by least
distance), its defaults, once a second instead of every 1.05 s. Distance of each scanner: the newest advert by
log-distance (-55 dBm at 1 m, exponent 3); an advert that retreats faster than 3 m/s against any of the last ten counts
as the one before; then the mean of 20 cycles, each no farther than every newer one, if that is nearer; after 30 s
without an advert unknown. The area is that of a scanner, which another one replaces that was heard within 10 s, is
within 20 m and nearer, and either is by 30 % (of the mean of both) nearer, or by 15 % and for five cycles not once as
far as the other's nearest, or is of the same area and heard a second later.

`espresense`: the rule of ESPresense (github ESPresense/ESPresense: AdaptivePercentileRSSI, the report of
BleFingerprint; and ESPresense-companion: NearestNode), its defaults. Each node: mean level of 15 s within Tukey's
fences, distance by log-distance (-65 dBm at 1 m, 2.7); reported, here once a second at most, when it changed by 0.5 m
or 5 s passed, up to 16 m. The companion: the room of the node that reported least within its timeout of 30 s,
hysteresis 0 m. The companion's other locators need measured places, and are not reproduced."""

import math
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from statistics import fmean

from accuracy.recorded import Advert, Recording

Way = Callable[[Recording], dict[int, str]]
MEAN_MS = 2000  # time constant
OLDEST_MS = 5000  # older readings do not count
WINS = 2


def _seconds(recording: Recording) -> Iterator[tuple[int, list[Advert]]]:
    """Each second of the truth, and what was heard since the one before."""
    at, adverts = 0, recording.adverts
    for second in recording.truth:
        begin = at
        at = bisect_left(adverts, (second.ts_ms,), begin)
        yield second.ts_ms, list(adverts[begin:at])


def _room_of(recording: Recording) -> dict[str, str]:
    return {one["id"]: one["room"] for one in recording.devices}


def strongest(recording: Recording) -> dict[int, str]:
    """Room by `ts_ms` of each second of the truth: from its adverts, else the previous second's room."""
    room_of = _room_of(recording)
    best: dict[int, str] = {}
    last = ""
    for ms, heard in _seconds(recording):
        if heard:
            last = room_of[recording.device(max(heard, key=lambda one: one.rssi))]
        if last:
            best[ms] = last
    return best


def mean(recording: Recording) -> dict[int, str]:
    """Room by `ts_ms` of each second of the truth; none before the first reading."""
    room_of = _room_of(recording)
    level: dict[str, tuple[int, float]] = {}
    found: dict[int, str] = {}
    room, rival, wins = "", "", 0
    for now_ms, heard in _seconds(recording):
        for one in heard:
            device = recording.device(one)
            before_ms, before = level.get(device, (one.ts_ms, float(one.rssi)))
            kept = math.exp(-(one.ts_ms - before_ms) / MEAN_MS)
            level[device] = one.ts_ms, before * kept + one.rssi * (1 - kept)
        power: defaultdict[str, float] = defaultdict(float)
        for device, (ms, decibels) in level.items():
            if now_ms - ms < OLDEST_MS:
                power[room_of[device]] += 10 ** (decibels / 10)
        if power:
            best = max(power, key=power.__getitem__)
            wins = 0 if best == room else wins + 1 if best == rival else 1
            rival = best
            if not room or wins >= WINS:
                room, wins = best, 0
        if room:
            found[now_ms] = room
    return found


@dataclass(slots=True)
class _Scanner:
    """Bermuda's of one person: newest first."""

    room: str
    adverts: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=10))
    """Distance (m) and time (s)."""
    cycles: deque[float] = field(default_factory=lambda: deque(maxlen=20))
    distance_m: float | None = None

    @property
    def heard_s(self) -> float:
        return self.adverts[0][1]

    def cycle(self, now_s: float, rssi: int | None, heard_s: float) -> None:
        """One cycle, with the newest advert since the last one, if there is any."""
        if rssi is not None:
            self.adverts.appendleft((10 ** ((-55 - rssi) / 30), heard_s))
        raw_m = self.adverts[0][0]
        if self.distance_m is None:
            if rssi is not None:
                self.cycles.clear()
                self.cycles.append(raw_m)
                self.distance_m = raw_m
        elif rssi is None and self.heard_s < now_s - 30:
            self.distance_m = None
            self.cycles.clear()
        else:
            self.cycles.appendleft(self.cycles[0] if self._retreat_m_s() > 3 else raw_m)
            nearest, total = raw_m, 0.0
            for one in self.cycles:
                nearest = min(nearest, one)
                total += nearest
            self.distance_m = min(raw_m, total / len(self.cycles))

    def _retreat_m_s(self) -> float:
        """The fastest of the newest advert against earlier ones; where the last step is an approach, that."""
        here_m, now_s = self.adverts[0]
        speeds = [(here_m - m) / (now_s - s) if now_s > s else 0.0 for m, s in islice(self.adverts, 1, None)]
        return 0.0 if not speeds else speeds[0] if speeds[0] < 0 else max(speeds)


def bermuda(recording: Recording) -> dict[int, str]:
    """Room by `ts_ms` of each second of the truth; none before the first reading."""
    room_of = _room_of(recording)
    scanners: dict[str, _Scanner] = {}
    found: dict[int, str] = {}
    nearest: _Scanner | None = None
    for now_ms, heard in _seconds(recording):
        newest = {recording.device(one): one for one in heard}
        for device in newest:
            scanners.setdefault(device, _Scanner(room_of[device]))
        for device, scanner in scanners.items():
            one = newest.get(device)
            scanner.cycle(now_ms / 1000, one and one.rssi, one.ts_ms / 1000 if one else 0.0)
        for scanner in scanners.values():
            if scanner is nearest or scanner.heard_s < now_ms / 1000 - 10:
                continue
            if scanner.distance_m is None or scanner.distance_m > 20:
                continue
            if nearest is None or nearest.distance_m is None or _replaces(scanner, nearest):
                nearest = scanner
        if nearest and nearest.distance_m is None:
            nearest = None
        if nearest:
            found[now_ms] = nearest.room
    return found


def _replaces(one: _Scanner, nearest: _Scanner) -> bool:
    here, there = one.distance_m or 0.0, nearest.distance_m or 0.0
    if there < here:
        return False
    nearer_by = (there - here) / ((there + here) / 2)
    if one.room == nearest.room and one.heard_s > nearest.heard_s + 1:
        return True
    if len(one.cycles) > 3 and max(islice(one.cycles, 5)) < min(islice(nearest.cycles, 5)) and nearer_by > 0.15:
        return True
    return nearer_by >= 0.30


def espresense(recording: Recording) -> dict[int, str]:
    """Room by `ts_ms` of each second of the truth; none before the first reading."""
    room_of = _room_of(recording)
    levels: defaultdict[str, deque[tuple[int, int]]] = defaultdict(deque)
    reports: dict[str, tuple[float, int]] = {}
    found: dict[int, str] = {}
    for now_ms, heard in _seconds(recording):
        for one in heard:
            levels[recording.device(one)].append((one.ts_ms, one.rssi))
        for device in dict.fromkeys(map(recording.device, heard)):
            recent = levels[device]
            newest_ms, _ = recent[-1]
            while recent[0][0] < newest_ms - 15_000:
                recent.popleft()
            distance_m = 10 ** ((-65 - _within_fences([rssi for _, rssi in recent])) / 27)
            last_m, last_ms = reports.get(device, (math.inf, 0))
            if distance_m <= 16 and (abs(distance_m - last_m) >= 0.5 or newest_ms - last_ms >= 5000):
                reports[device] = distance_m, newest_ms
        current = {device: m for device, (m, ms) in reports.items() if now_ms - ms < 30_000}
        if current:
            found[now_ms] = room_of[min(current, key=current.__getitem__)]
    return found


def _within_fences(levels: list[int]) -> float:
    """The mean of what is no more than 1.5 interquartile ranges outside the quartiles."""
    ordered = sorted(levels)

    def quartile(share: float) -> float:
        at = share * (len(ordered) - 1)
        low, part = ordered[int(at)], at % 1
        return low + part * (ordered[min(int(at) + 1, len(ordered) - 1)] - low)

    low, high = quartile(0.25), quartile(0.75)
    off = 1.5 * (high - low)
    return fmean(one for one in ordered if low - off <= one <= high + off)


RULES: dict[str, Way] = {"strongest": strongest, "mean": mean, "bermuda": bermuda, "espresense": espresense}
