"""Random buildings and radios, each from a seed, and what the locator makes of them: simulated, so they show what a
change of the locator changes, not how good it is.

A drawn set shares no number with the locator, nor with the demo's simulated radio: every one is drawn from a range. One
thing is chosen by its outcome: where somebody is unheard for more than half of a recording, the whole radio is drawn
again, since nobody could locate them. Weak radios are therefore rarer than their ranges say, above all where there are
few devices. The fact `redrawn` counts how often that was needed."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Literal

import numpy as np
from simulator.building import Room
from simulator.geometry import Point, area

from accuracy.drawn_plan import Plan, Track, box_of, draw_plan, patrol, some_place, standing
from accuracy.drawn_radio import Adverts, Air, Device, Floats, Radio, draw_radio
from accuracy.measure import ONE, measure, spread
from accuracy.recorded import Advert, Mode, Recording
from accuracy.score import Second

START_MS = 1_700_000_000_000
LASTS_S = 600.0
STANDING, PATROLS = 6, 3  # recordings of a set
WALKER = "walker"
TAG = "DA7A00000001"
TRIES = 500  # of the radio
SEEDS = range(1, 21)
QUICK_SEEDS = range(1, 11)
Manner = Literal["standing", "patrol"]
MANNERS: tuple[Manner, ...] = ("standing", "patrol")
Facts = dict[str, float | int | str | bool]


@dataclass(frozen=True, slots=True)
class DrawnSet:
    """A building file with one walker, its recordings, and the drawn facts."""

    seed: int
    mode: Mode
    building: dict[str, Any]
    recordings: list[Recording]
    facts: Facts


@dataclass(frozen=True, slots=True)
class Scene:
    """A seed's scene; `listed` and `in_file`: the devices as in the building file."""

    mode: Mode
    plan: Plan
    devices: list[Device]
    listed: list[dict[str, Any]]
    in_file: Facts
    tracks: list[Track]
    air: Air
    adverts: list[Adverts]
    redrawn: int


def scene_of(seed: int) -> Scene:
    """The scene of a seed, independent of earlier draws."""
    rngs = [np.random.default_rng([seed, k]) for k in range(4)]
    mode: Mode = "gateway" if rngs[0].random() < 0.5 else "phone"
    plan = draw_plan(rngs[1])
    devices = _devices(plan, mode, rngs[2])
    listed, in_file = _listed(plan, devices, rngs[2])
    tracks = [Track(standing(plan, rngs[3]), LASTS_S) for _ in range(STANDING)]
    tracks += [Track(patrol(plan, rngs[3]), LASTS_S) for _ in range(PATROLS)]
    for redrawn in range(TRIES):
        heard = _heard(plan, devices, tracks, mode, np.random.default_rng([seed, 4, redrawn]))
        if heard is not None:
            break
    else:
        raise RuntimeError(f"seed {seed}: somebody is unheard in each of {TRIES} draws of the radio")
    air, adverts = heard
    return Scene(mode, plan, devices, listed, in_file, tracks, air, adverts, redrawn)


def draw(seed: int) -> DrawnSet:
    """The set of a seed."""
    scene = scene_of(seed)
    plan, devices, mode, radio = scene.plan, scene.devices, scene.mode, scene.air.radio
    recordings = []
    for number, (track, one) in enumerate(zip(scene.tracks, scene.adverts, strict=True)):
        name = f"standing-{number + 1}" if number < STANDING else f"patrol-{number + 1 - STANDING}"
        recordings.append((name, rows(one, devices, mode), truth(track)))
    facts: Facts = {
        "plan": plan.kind,
        "levels": plan.levels,
        "rooms": len(plan.rooms),
        "area_m2": round(sum(area(room.polygon) for room in plan.rooms.values()), 1),
        "devices": len(devices),
        "devices_a_room": round(len(devices) / len(plan.rooms), 2),
        **scene.in_file,
        **{key: round(value, 3) for key, value in asdict(radio).items()},
        "least_heard_share": round(min(heard_share(one.times_s, radio) for one in scene.adverts), 3),
        "redrawn": scene.redrawn,
    }
    building = _building(seed, plan, mode, scene.listed)
    made = [Recording(f"drawn-{seed:02}", name, mode, building, adverts, its) for name, adverts, its in recordings]
    return DrawnSet(seed, mode, building, made, facts)


def _heard(
    plan: Plan, devices: list[Device], tracks: list[Track], mode: Mode, rng: np.random.Generator
) -> tuple[Air, list[Adverts]] | None:
    """A radio and the adverts of each track; None if a track has no adverts for more than half of the time."""
    radio = draw_radio(rng)
    air = Air(plan, devices, radio, rng)
    found = []
    for track in tracks:
        adverts = air.adverts(track, mode, rng)
        if heard_share(adverts.times_s, radio) < 0.5:
            return None
        found.append(adverts)
    return air, found


def heard_share(times_s: Floats, radio: Radio, lasts_s: float = LASTS_S) -> float:
    """Share of seconds with a recent advert: within two intervals of adverts, at least a second."""
    within_s = max(1.0, 2 / radio.adverts_per_s)
    moments = np.arange(1.0, lasts_s + 1)
    last = np.concatenate([[-np.inf], times_s])[np.searchsorted(times_s, moments)]
    return float(np.mean(moments - last <= within_s))


def _devices(plan: Plan, mode: Mode, rng: np.random.Generator) -> list[Device]:
    """Devices where they really are, spread as an installer would: large rooms first, a second one only where each room
    has one. Chance decides between rooms of like size."""
    rooms = list(plan.rooms.values())
    count = max(3, round(len(rooms) * float(rng.uniform(0.3, 2.0))))
    wanted = {room.id: area(room.polygon) * float(rng.uniform(0.5, 2.0)) for room in rooms}
    chosen = [
        max((room for room in rooms if room.level == level), key=lambda one: wanted[one.id])
        for level in range(plan.levels)
    ]
    while len(chosen) < count:
        has = Counter(room.id for room in chosen)
        chosen.append(max(rooms, key=lambda one: (has[one.id] == 0, wanted[one.id] / (has[one.id] + 1))))
    devices: list[Device] = []
    for number, room in enumerate(chosen):
        x, y = _on_wall(rng, room) if rng.random() < 0.7 else some_place(rng, room)
        if number >= plan.levels and rng.random() < 0.06:  # two in one corner: the socket is there
            room, (x, y) = plan.rooms[devices[-1].room], (devices[-1].x_m, devices[-1].y_m)
            x, y = _kept(room, x + rng.uniform(-0.4, 0.4), y + rng.uniform(-0.4, 0.4))
        one = f"g{number + 1:02}" if mode == "gateway" else f"BEAC{number + 1:08X}"
        height_m = rng.uniform(0.3, 2.6)  # a socket's, to a ceiling's
        devices.append(Device(one, room.id, room.level, x, y, height_m))
    return devices


def _on_wall(rng: np.random.Generator, room: Room) -> Point:
    w, s, e, n = box_of(room)
    x, y = some_place(rng, room)
    off = rng.uniform(0.05, 0.3)
    return [(w + off, y), (e - off, y), (x, s + off), (x, n - off)][rng.integers(4)]


def _kept(room: Room, x: float, y: float) -> Point:
    """The nearest place in the room."""
    w, s, e, n = box_of(room)
    return min(e - 0.05, max(w + 0.05, x)), min(n - 0.05, max(s + 0.05, y))


def _listed(plan: Plan, devices: list[Device], rng: np.random.Generator) -> tuple[list[dict[str, Any]], Facts]:
    """Devices as in the building file: somewhere in their room, or measured with an error."""
    missing, error_m = bool(rng.random() < 0.2), float(rng.uniform(0.0, 0.5))
    listed = []
    for one in devices:
        room = plan.rooms[one.room]
        off_x, off_y = rng.normal(0.0, error_m, 2)
        x, y = some_place(rng, room) if missing else _kept(room, one.x_m + off_x, one.y_m + off_y)
        entry = {"id": one.id, "level": _level(one.level), "room": one.room, "x_m": round(x, 2), "y_m": round(y, 2)}
        listed.append({**entry, "approximate": True} if missing else entry)
    return listed, {"positions_missing": missing, "position_error_m": 0.0 if missing else round(error_m, 3)}


def _level(level: int) -> str:
    return f"L{level + 1}"


def _building(seed: int, plan: Plan, mode: Mode, listed: list[dict[str, Any]]) -> dict[str, Any]:
    levels = []
    for level in range(plan.levels):
        rooms = []
        for room in plan.rooms.values():
            if room.level == level:
                kind = {} if room.kind == "room" else {"kind": room.kind}
                polygon = [list(corner) for corner in room.polygon]
                rooms.append({"id": room.id, "name": room.name, **kind, "polygon": polygon})
        size = {"width_m": plan.width_m, "height_m": plan.height_m}
        levels.append({"id": _level(level), "name": f"Level {level + 1}", **size, "rooms": rooms})
    return {
        "building": f"Drawn {seed}",
        "levels": levels,
        "beacons": listed if mode == "phone" else [],
        "gateways": listed if mode == "gateway" else [],
        "staff": [{"id": WALKER, "name": "Walker", "tags": [TAG] if mode == "gateway" else []}],
    }


def rows(adverts: Adverts, devices: list[Device], mode: Mode) -> tuple[Advert, ...]:
    """Adverts as a receiver has them."""
    ms = (START_MS + np.rint(adverts.times_s * 1000).astype(np.int64)).tolist()
    heard = zip(ms, adverts.device.tolist(), adverts.rssi.tolist(), strict=True)
    if mode == "gateway":
        return tuple(Advert(ts, devices[k].id, TAG, rssi) for ts, k, rssi in heard)
    return tuple(Advert(ts, WALKER, devices[k].id, rssi) for ts, k, rssi in heard)


def truth(track: Track) -> tuple[Second, ...]:
    """The room and place of each second."""
    seconds = np.arange(int(track.end_s))
    where = track.at(seconds.astype(np.float64))
    places = zip(seconds.tolist(), where.leg.tolist(), where.x_m.tolist(), where.y_m.tolist(), strict=True)
    return tuple(Second(START_MS + 1000 * s, track.rooms[leg], round(x, 2), round(y, 2)) for s, leg, x, y in places)


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
