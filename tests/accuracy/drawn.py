"""Random buildings and radios, each from a seed, and what the locator makes of them: simulated, so they show what a
change of the locator changes, not how good it is.

Rooms are rectangles that fill their level; doors, ways and walls between them are the simulator's. Every number of a
radio is drawn from a range. The ranges are assumptions, wide on purpose: each end is a building that somebody could
have. None is taken from the locator. One thing is chosen by its outcome: where somebody is unheard for more than half
of a recording, the radio is drawn again, since nobody could locate them."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from simulator.building import Room, parse
from simulator.geometry import area, random_point
from simulator.plan import Plan
from simulator.walk import Leg, legs

from accuracy.measure import ONE, measure, spread
from accuracy.recorded import Advert, Mode, Recording
from accuracy.score import Second

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Box = tuple[float, float, float, float]
"""West, south, east, north, metres."""
Kind = Literal["corridor", "hall", "flat", "open"]
Manner = Literal["standing", "patrol"]
KINDS: tuple[Kind, ...] = ("corridor", "corridor", "hall", "flat", "open")
MODES: tuple[Mode, ...] = ("gateway", "phone")
MANNERS: tuple[Manner, ...] = ("standing", "patrol")
SEEDS = range(1, 21)
QUICK_SEEDS = range(1, 11)
START_MS = 1_700_000_000_000
LASTS_S = 600
STANDING, PATROLS = 6, 3  # recordings of a building
WALKER = "walker"
TAG = "DA7A00000001"
SMALLEST_M2, LARGEST_M2, NARROWEST_M = 8.0, 400.0, 2.2
LONGEST = 3.5  # times as long as wide; corridors may be longer
SAID_DBM = -59.0  # at 1 m: the schema's default for `tx`
NEAREST_M = 0.3
ABOVE_M = 1.0  # devices above the tag on the chest, or the phone in a hand
STOREY_M = 3.3
ADVERT_DELAY_S = 0.01  # a random delay of up to 10 ms follows each interval (advDelay of Bluetooth's link layer)
WAVES = 24  # of which a random field is made up


@dataclass(frozen=True, slots=True)
class Radio:
    """Facts of one building."""

    exponent: float
    wall_db: float
    floor_db: float
    body_db: float
    tx_error_db: float
    devices_db: float
    shadowing_db: float
    shadowing_m: float
    fading_db: float
    adverts_per_s: float
    lost_share: float
    sensitivity_dbm: float


@dataclass(frozen=True, slots=True)
class DrawnSet:
    """A building file with one walker, its recordings, and the drawn facts."""

    seed: int
    kind: Kind
    mode: Mode
    building: dict[str, Any]
    radio: Radio
    recordings: list[Recording]


def draw(seed: int) -> DrawnSet:
    """The set of a seed."""
    rng, play = np.random.default_rng(seed), random.Random(seed)  # noqa: S311 - play, not secrets
    kind, mode = play.choice(KINDS), play.choice(MODES)
    file = _file(seed, kind, rng)
    plan = Plan(parse(file))
    devices = _devices(plan, mode, play)
    building = {**file, "gateways" if mode == "gateway" else "beacons": _listed(plan, devices, play)}
    tracks = [Track(_standing(plan, play), LASTS_S) for _ in range(STANDING)]
    tracks += [Track(legs(plan, play), LASTS_S) for _ in range(PATROLS)]
    while True:
        radio = _radio(rng, kind)
        air = Air(plan, devices, radio, rng)
        adverts = [air.adverts(track, mode, rng) for track in tracks]
        if all(heard_share(one, radio) >= 0.5 for one in adverts):
            break
    names = [f"{manner}-{number + 1}" for manner, count in zip(MANNERS, (STANDING, PATROLS), strict=True)
             for number in range(count)]  # fmt: skip
    recordings = [
        Recording(f"drawn-{seed:02}", name, mode, building, one, track.truth())
        for name, one, track in zip(names, adverts, tracks, strict=True)
    ]
    return DrawnSet(seed, kind, mode, building, radio, recordings)


def _radio(rng: np.random.Generator, kind: Kind) -> Radio:
    def log_uniform(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    return Radio(
        exponent=rng.uniform(1.6, 4.0),  # corridors that guide the waves, to rooms full of shelves
        wall_db=0.0 if kind == "open" else rng.uniform(2.0, 12.0),  # plasterboard to concrete
        floor_db=rng.uniform(12.0, 25.0),  # wood to concrete with steel
        body_db=rng.uniform(0.0, 10.0),  # a phone in the hand, to a tag on the chest
        tx_error_db=rng.uniform(-15.0, 15.0),  # tags are set from -20 to +8 dBm, uncalibrated
        devices_db=6.0,  # by as much, at most, devices differ
        shadowing_db=rng.uniform(2.0, 8.0),  # an empty hall to a workshop
        shadowing_m=log_uniform(1.0, 4.0),
        fading_db=rng.uniform(2.0, 6.0),  # a line of sight, to none (Rayleigh: 5.6 dB)
        adverts_per_s=log_uniform(0.2, 10.0),  # years on a coin cell, to what iBeacon asks for
        lost_share=rng.uniform(0.05, 0.4),  # from a quiet house with its own scanner to a busy office
        sensitivity_dbm=rng.uniform(-100.0, -85.0),  # a good antenna, to one in a metal case
    )


def _file(seed: int, kind: Kind, rng: np.random.Generator) -> dict[str, Any]:
    """A building of one or two levels with 4 to 16 rooms each. Of two, the second room of each is stairs or a lift."""
    levels = []
    for level in range(2 if rng.random() < 0.25 else 1):
        boxes = next(found for found in iter(lambda: _boxes(kind, rng), None) if _fits(kind, found))
        kinds = ["room"] * len(boxes)
        kinds[0] = {"corridor": "corridor", "hall": "lobby"}.get(kind, "room")
        kinds[1] = "core"
        rooms = [
            {"id": f"l{level}-{number}", "name": f"Room {level}.{number}", "kind": its,
             "polygon": [[w, s], [e, s], [e, n], [w, n]]}
            for number, ((w, s, e, n), its) in enumerate(zip(boxes, kinds, strict=True))
        ]  # fmt: skip
        width, height = max(box[2] for box in boxes), max(box[3] for box in boxes)
        size = {"width_m": width, "height_m": height}
        levels.append({"id": f"L{level}", "name": f"Level {level}", **size, "rooms": rooms})
    staff = [{"id": WALKER, "name": "Walker", "tags": [TAG]}]
    return {"building": f"Drawn {seed}", "levels": levels, "beacons": [], "gateways": [], "staff": staff}


def _fits(kind: Kind, boxes: list[Box]) -> bool:
    def room(box: Box) -> bool:
        short, long = sorted((box[2] - box[0], box[3] - box[1]))
        return SMALLEST_M2 <= short * long <= LARGEST_M2 and short >= NARROWEST_M and long <= LONGEST * short

    return 4 <= len(boxes) <= 16 and all(map(room, boxes[kind == "corridor" :]))


def _boxes(kind: Kind, rng: np.random.Generator) -> list[Box]:
    """The rooms of a level: along both sides of a corridor or hall, which is the first; or all over the floor."""
    if kind in ("flat", "open"):
        count, mean_m2 = int(rng.integers(4, 13)), rng.uniform(15.0, 50.0) * (4 if kind == "open" else 1)
        height = math.sqrt(count * mean_m2 / rng.uniform(1.0, 2.5))
        return _parts(rng, (0.0, 0.0, round(count * mean_m2 / height, 2), round(height, 2)), count)
    length, across = (rng.uniform(15.0, 60.0), rng.uniform(1.8, 4.0)) if kind == "corridor" else rng.uniform(12, 25, 2)
    south, deep = rng.uniform(4.0, 12.0, 2)
    low, high, end = round(south + across, 2), round(south + across + deep, 2), round(length, 2)
    sides = ((0.0, 0.0, end, round(south, 2)), (0.0, low, end, high))
    rooms = [box for side in sides for box in _strip(rng, side, int(rng.integers(2, 8)))]
    return [(0.0, round(south, 2), end, low), *rooms]


def _strip(rng: np.random.Generator, box: Box, count: int) -> list[Box]:
    """Rooms side by side from west to east, the widest up to four times as wide as the narrowest."""
    west, south, east, north = box
    shares = rng.uniform(0.5, 2.0, count)
    at = [west, *(west + (east - west) * np.cumsum(shares) / shares.sum()).round(2).tolist()]
    at[-1] = east
    return [(a, south, b, north) for a, b in itertools.pairwise(at)]


def _parts(rng: np.random.Generator, box: Box, count: int) -> list[Box]:
    """A rectangle cut repeatedly across its longer side."""
    if count == 1:
        return [box]
    west, south, east, north = box
    first = count // 2
    share = first / count * rng.uniform(0.75, 1.25)
    if east - west > north - south:
        cut = round(west + (east - west) * share, 2)
        halves = (west, south, cut, north), (cut, south, east, north)
    else:
        cut = round(south + (north - south) * share, 2)
        halves = (west, south, east, cut), (west, cut, east, north)
    return _parts(rng, halves[0], first) + _parts(rng, halves[1], count - first)


@dataclass(frozen=True, slots=True)
class Device:
    """A gateway or beacon at its true place."""

    id: str
    room: Room
    x_m: float
    y_m: float


def _devices(plan: Plan, mode: Mode, rng: random.Random) -> list[Device]:
    """Devices where they really are, spread as an installer would: large rooms first, a second one only where each room
    has one. Chance decides between rooms of like size."""
    rooms = list(plan.building.rooms.values())
    wanted = {room.id: area(room.polygon) * rng.uniform(0.5, 2.0) for room in rooms}
    has: Counter[str] = Counter()
    found = []
    for number in range(max(3, round(len(rooms) * rng.uniform(0.3, 2.0)))):
        room = max(rooms, key=lambda one: (has[one.id] == 0, wanted[one.id] / (has[one.id] + 1)))
        has[room.id] += 1
        one = f"g{number + 1:02}" if mode == "gateway" else f"BEAC{number + 1:08X}"
        found.append(Device(one, room, *random_point(room.polygon, rng)))
    return found


def _listed(plan: Plan, devices: list[Device], rng: random.Random) -> list[dict[str, Any]]:
    """Devices as in the building file: in a fifth of the buildings somewhere in their room, else measured to half a
    metre or better."""
    missing, error_m = rng.random() < 0.2, rng.uniform(0.0, 0.5)
    found = []
    for one in devices:
        (west, south), _, (east, north), _ = one.room.polygon
        x_m, y_m = (random_point(one.room.polygon, rng) if missing
                    else (rng.gauss(one.x_m, error_m), rng.gauss(one.y_m, error_m)))  # fmt: skip
        place = {"x_m": round(min(east, max(west, x_m)), 2), "y_m": round(min(north, max(south, y_m)), 2)}
        entry = {"id": one.id, "level": plan.building.levels[one.room.level], "room": one.room.id, **place}
        found.append({**entry, "approximate": True} if missing else entry)
    return found


def _standing(plan: Plan, rng: random.Random) -> Iterator[Leg]:
    """Endless legs: a person stands at one place and sometimes turns."""
    rooms = list(plan.building.rooms.values())
    (room,) = rng.choices(rooms, [plan.areas[one.id] for one in rooms])
    place, now_s = random_point(room.polygon, rng), 0.0
    while True:
        turn, end_s = rng.uniform(0, 2 * math.pi), now_s + rng.expovariate(1 / 60)
        yield Leg(now_s, end_s, room, place, place, (math.cos(turn), math.sin(turn)))
        now_s = end_s


class Track:
    """Legs without a gap from time 0 to `end_s`."""

    def __init__(self, of: Iterable[Leg], end_s: float) -> None:
        self.legs = list(itertools.takewhile(lambda leg: leg.start_s < end_s, of))
        self._start_s = np.array([leg.start_s for leg in self.legs])
        self._lasts_s = np.array([max(1e-9, leg.end_s - leg.start_s) for leg in self.legs])
        self._from, self._to = (np.array([getattr(leg, end) for leg in self.legs]) for end in ("start", "end"))
        self._heading = np.array([leg.heading for leg in self.legs])

    def at(self, times_s: Floats) -> tuple[Ints, Floats, Floats]:
        """Number of the leg, place in metres and unit vector of the heading, at each time."""
        leg = np.maximum(0, np.searchsorted(self._start_s, times_s, side="right") - 1)
        share = np.clip((times_s - self._start_s[leg]) / self._lasts_s[leg], 0.0, 1.0)[..., None]
        return leg, self._from[leg] + (self._to[leg] - self._from[leg]) * share, self._heading[leg]

    def truth(self) -> tuple[Second, ...]:
        """The room and place of each second."""
        leg, place, _ = self.at(np.arange(float(LASTS_S)))
        rows = enumerate(zip(leg.tolist(), place.round(2).tolist(), strict=True))
        return tuple(Second(START_MS + 1000 * second, self.legs[at].room.id, *xy) for second, (at, xy) in rows)


class Air:
    """One building's radio with all differences between devices, walls and places.

    rssi = tx + device - 10 · exponent · log10(d) - walls - floors - body + shadowing + fading"""

    def __init__(self, plan: Plan, devices: list[Device], radio: Radio, rng: np.random.Generator) -> None:
        self.radio, self._devices = radio, devices
        self._place = np.array([(one.x_m, one.y_m) for one in devices])
        spread_db = rng.uniform(-radio.devices_db, radio.devices_db, len(devices))
        self._gain = SAID_DBM + radio.tx_error_db + spread_db
        self._room = {room_id: number for number, room_id in enumerate(plan.building.rooms)}
        rooms = plan.building.rooms.values()
        self._floors = np.array([[abs(room.level - one.room.level) for one in devices] for room in rooms])
        walls = [plan.walls_from(room.id) for room in rooms]
        counted = np.array([[its.get(one.room.id, 1) for one in devices] for its in walls])
        self._loss = radio.wall_db * counted + radio.floor_db * self._floors
        # A normal random field for each device, with correlation exp(-distance / length): a sum of plane waves
        # (Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007).
        shape = (len(devices), WAVES)
        self._wave = rng.normal(size=(*shape, 2)) / np.abs(rng.normal(0.0, radio.shadowing_m, shape))[..., None]
        self._phase = rng.uniform(0.0, 2 * np.pi, shape)

    def levels(self, room: Ints, place: Floats, heading: Floats) -> Floats:
        """Mean level of each device (last axis) at places of such a shape, dBm."""
        radio, one = self.radio, np.arange(len(self._devices))
        to = self._place - place
        floors = self._floors[room, one]
        metres = np.maximum(NEAREST_M, np.sqrt((to**2).sum(-1) + (ABOVE_M + STOREY_M * floors) ** 2))
        behind = (1 - (to * heading).sum(-1) / metres) / 2
        waves = (place[..., None, :] * self._wave).sum(-1) + self._phase + floors[..., None]
        shadow = np.cos(waves).sum(-1) * radio.shadowing_db * np.sqrt(2 / WAVES)
        lost = 10 * radio.exponent * np.log10(metres) + self._loss[room, one] + radio.body_db * behind
        found: Floats = self._gain - lost + shadow
        return found

    def adverts(self, track: Track, mode: Mode, rng: np.random.Generator) -> tuple[Advert, ...]:
        """Adverts received on a track. Gateways receive the same advert of a tag at once; a phone receives beacons,
        each with its own timing."""
        radio, count = self.radio, len(self._devices)
        trains = 1 if mode == "gateway" else count
        interval_s = 1 / radio.adverts_per_s
        gaps = interval_s + rng.uniform(0.0, ADVERT_DELAY_S, (int(LASTS_S / interval_s) + 2, trains))
        gaps[0] *= rng.random(trains)
        times = np.broadcast_to(np.cumsum(gaps, axis=0), (len(gaps), count))
        leg, place, heading = track.at(times)
        room = np.array([self._room[one.room.id] for one in track.legs])[leg]
        # Rayleigh fading, narrowed or widened: its deep fades are the long tail of Gumbel's distribution.
        fading = radio.fading_db * np.sqrt(6) / np.pi * (rng.gumbel(size=times.shape) - np.euler_gamma)
        rssi = self.levels(room, place, heading) - fading
        heard = (rssi > radio.sensitivity_dbm) & (rng.random(times.shape) >= radio.lost_share) & (times < LASTS_S)
        row, device = np.nonzero(heard)
        ms = np.rint(times[row, device] * 1000).astype(np.int64).tolist()
        whole = np.minimum(np.rint(rssi[row, device]), -20).astype(np.int64).tolist()
        ids = [self._devices[k].id for k in device.tolist()]
        who = [(one, TAG) if mode == "gateway" else (WALKER, one) for one in ids]
        return tuple(sorted(Advert(START_MS + at, *its, db) for at, its, db in zip(ms, who, whole, strict=True)))


def heard_share(adverts: tuple[Advert, ...], radio: Radio) -> float:
    """Share of seconds with a recent advert: within two intervals of adverts, at least a second."""
    within_s = max(1.0, 2 / radio.adverts_per_s)
    times_s = np.array([-np.inf, *((one.ts_ms - START_MS) / 1000 for one in adverts)])
    moments = np.arange(1.0, LASTS_S + 1)
    last = times_s[np.searchsorted(times_s, moments) - 1]
    return float(np.mean(moments - last <= within_s))


@dataclass(frozen=True, slots=True)
class Drawn:
    """Figures of one building: shares are means over its recordings of one kind."""

    seed: int
    mode: str
    history: dict[Manner, float]
    live: dict[Manner, float]
    mean: dict[Manner, float]
    flips_an_hour: float
    """Live changes of standing people."""
    changes_a_true_one: float
    """In the history of patrols."""


def measure_drawn(seeds: Iterable[int], said: Callable[[str], object] = str) -> list[Drawn]:
    """Draw and simulate the buildings of these seeds. Raises FollowError."""

    def one(seed: int) -> Drawn:
        said(f"playing drawn building {seed}")
        results = measure(draw(seed).recordings, ONE)
        some = {manner: [one for one in results if one.recording.name.startswith(manner)] for manner in MANNERS}
        history, live, mean = (
            {manner: fmean(getattr(one, way).share for one in some[manner]) for manner in MANNERS}
            for way in ("history", "live", "mean")
        )
        hours = sum(one.live.seconds for one in some["standing"]) / 3600
        flips = sum(one.live.changes for one in some["standing"]) / hours
        said_and_true = [(one.history.changes, one.history.true_changes) for one in some["patrol"]]
        changes, true = map(sum, zip(*said_and_true, strict=True))
        return Drawn(seed, results[0].recording.mode, history, live, mean, flips, changes / max(1, true))

    return spread(one, seeds)
