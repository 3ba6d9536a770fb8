"""Simulated staff in the demo building: true rooms and arriving messages. Pure.

A phone publishes its four strongest beacons, every second while it moves and every 1 to 4 s at rest; gateways publish
the tags' readings every second."""

import itertools
import math
import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from simulator.building import Building
from simulator.message import Reading
from simulator.plan import Plan
from simulator.radio import WALL_DB
from simulator.walk import legs
from simulator.windows import INTERVAL_S, adaptive_ends, fixed_ends

from accuracy.air import Air, Fixed, deaf
from accuracy.follow import Sent
from accuracy.track import Track, standing
from accuracy.truth import Truth
from accuracy.walls import Walls

START_MS = 1_700_000_000_000
READINGS = 4  # of a phone's batch, as `simulator phones` has it
WINDOW_S = 1.0  # of a gateway
LATENCY_MS = (10.0, 150.0)  # receiver, network and broker
TAG_TX = -59.0
MAX_RSSI = 20
Mode = Literal["phone", "gateway"]
Manner = Literal["still", "patrol"]


@dataclass(frozen=True, slots=True)
class Scene:
    """A simulated scene: `people` staff for `hours`, standing or patrolling; `out` is the gateway (or, for phones, the
    beacon) that is out, `near` has everybody stand in its room; clocks are wrong by up to `skew_s`; devices differ by
    `devices_db`; `fixed_windows`: phones end a window every 1 to 4 s, each its own, whether they move or not; `listed`:
    the locator knows only the building of a list of beacons."""

    mode: Mode
    manner: Manner
    people: int
    hours: float
    out: int | None = None
    near: bool = False
    skew_s: float = 0.0
    devices_db: float = 0.0
    wall_db: float = WALL_DB
    fixed_windows: bool = False
    listed: bool = False
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Played:
    """A scene as data: the building file with these staff, the messages, the truth by staff id."""

    building: dict[str, Any]
    sent: list[Sent]
    truths: dict[str, Truth]
    last_ms: dict[str, float]
    """Arrival of each person's last message with a reading."""
    out: str | None


def play(scene: Scene, file: dict[str, Any], building: Building, walls: Walls) -> Played:
    """Simulate a scene in a building: `file` is the building file, `building` the same as records."""
    plan = Plan(building)
    end_s = scene.hours * 3600
    key = f"{scene.seed}/{scene.manner}"
    fixed = _fixed(scene.mode, file)
    air = Air(building, walls, fixed, scene.seed, scene.devices_db, scene.wall_db)
    out = None if scene.out is None else fixed[scene.out % len(fixed)]
    rooms = list(building.rooms.values())
    tracks = {}
    for number in range(scene.people):
        rng = random.Random(f"{key}/{number}")  # noqa: S311 - play, not secrets
        room = (
            building.rooms[out.room] if out and scene.near else rooms[(number + scene.seed * scene.people) % len(rooms)]
        )
        tracks[f"s{number}"] = Track(standing(room, end_s, rng) if scene.manner == "still" else legs(plan, rng), end_s)
    heard = _phones if scene.mode == "phone" else _gateways
    sent = sorted(heard(scene, tracks, air, fixed, out), key=lambda one: one.now_ms)
    staff = [{"id": one, "name": one, "tags": [_tag(number)]} for number, one in enumerate(tracks)]
    truths = {one: track.truth(START_MS) for one, track in tracks.items()}
    return Played({**file, "staff": staff}, sent, truths, _last(sent, tracks), out.id if out else None)


def _last(sent: list[Sent], tracks: dict[str, Track]) -> dict[str, float]:
    owner = {_tag(number): staff_id for number, staff_id in enumerate(tracks)}
    last: dict[str, float] = {}
    for one in sent:
        who = (one.receiver,) if one.kind == "phone" else (owner[beacon] for beacon, *_ in one.readings)
        last.update(dict.fromkeys(who, one.now_ms))
    return last


def _fixed(mode: str, file: dict[str, Any]) -> list[Fixed]:
    """The devices on the walls. Reception is symmetric, so gateways are simulated like beacons."""
    if mode == "phone":
        return [Fixed(one["id"], one["room"], one["x_m"], one["y_m"], one.get("tx", TAG_TX)) for one in file["beacons"]]
    return [
        Fixed(one["id"], one["room"], one["x_m"], one["y_m"], TAG_TX - one.get("rssi_offset", 0))
        for one in file["gateways"]
    ]


def _tag(number: int) -> str:
    return f"C0FFEE{number:06X}"


def _phones(scene: Scene, tracks: dict[str, Track], air: Air, fixed: list[Fixed], out: Fixed | None) -> list[Sent]:
    sent = []
    for number, (staff_id, track) in enumerate(tracks.items()):
        rng = np.random.default_rng([scene.seed, 2, number])
        times = _window_times(scene, track, rng)
        begins, ends = times[:-1], times[1:]
        rssi = _without(air.rssi(track, begins[:, None], (ends - begins)[:, None], rng), fixed, out)
        rssi[deaf(ends, rng)] = np.nan
        skew_ms = rng.uniform(-1, 1) * scene.skew_s * 1000
        latency = rng.uniform(*LATENCY_MS, len(ends))
        best = np.argsort(np.where(np.isnan(rssi), np.inf, -rssi), axis=1)[:, :READINGS]
        levels = _whole(np.take_along_axis(rssi, best, axis=1))
        for row, end_s in enumerate(ends.tolist()):
            chosen = zip(best[row].tolist(), levels[row], strict=True)
            readings = tuple(Reading(fixed[k].id, int(level)) for k, level in chosen if not math.isnan(level))
            if readings:
                ms = START_MS + end_s * 1000
                sent.append(Sent(float(ms + latency[row]), "phone", staff_id, round(ms + skew_ms), readings))
    return sent


def _window_times(scene: Scene, track: Track, rng: np.random.Generator) -> NDArray[np.float64]:
    """Start of a phone's first window, and the ends of all windows."""
    interval_s = rng.uniform(*INTERVAL_S)
    begin_s = rng.uniform(0, interval_s)
    rhythm = (
        fixed_ends(interval_s, begin_s) if scene.fixed_windows else adaptive_ends(track.still_s, interval_s, begin_s)
    )
    return np.array([begin_s, *itertools.takewhile(lambda end_s: end_s < track.end_s, rhythm)])


def _gateways(scene: Scene, tracks: dict[str, Track], air: Air, fixed: list[Fixed], out: Fixed | None) -> list[Sent]:
    rng = np.random.default_rng([scene.seed, 3])
    end_s = scene.hours * 3600
    skews_ms = rng.uniform(-1, 1, len(fixed)) * scene.skew_s * 1000
    phases = rng.uniform(0, WINDOW_S, len(fixed))  # every gateway's windows begin at a time of their own
    starts = np.arange(int(end_s / WINDOW_S) - 1)[:, None] * WINDOW_S + phases
    silent = np.stack([deaf(column, rng) for column in starts.T], axis=1)
    batches: dict[tuple[int, int], list[Reading]] = defaultdict(list)
    for number, track in enumerate(tracks.values()):
        own = np.random.default_rng([scene.seed, 2, number])
        rssi = _without(air.rssi(track, starts, WINDOW_S, own), fixed, out)
        rssi[silent] = np.nan
        there, tag = ~np.isnan(rssi), _tag(number)
        for (window, k), level in zip(np.argwhere(there).tolist(), _whole(rssi[there]), strict=True):
            batches[window, k].append(Reading(tag, int(level)))
    sent = []
    starts_s = starts.tolist()
    for (window, k), readings in batches.items():
        ms = START_MS + (starts_s[window][k] + WINDOW_S) * 1000
        arrives = float(ms + rng.uniform(*LATENCY_MS))
        sent.append(Sent(arrives, "gateway", fixed[k].id, round(ms + skews_ms[k]), tuple(readings)))
    return sent


def _without(rssi: NDArray[np.float64], fixed: list[Fixed], out: Fixed | None) -> NDArray[np.float64]:
    if out:
        rssi[:, fixed.index(out)] = np.nan
    return rssi


def _whole(rssi: NDArray[np.float64]) -> list[Any]:
    """As a receiver reports it: whole dBm, NaN without reception."""
    levels: list[Any] = np.minimum(np.rint(rssi), MAX_RSSI).tolist()
    return levels
