"""What becomes of the room when installation, radio or clocks are not as they should be, and what is learned of it
from others. Changes of recordings are pure."""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from simulator.geometry import Point, Polygon, covers, distance_to_edge, edges

from accuracy.follow import Estimate
from accuracy.measure import ONE, Phases, by_rule, by_set, estimates, right, shares, spread
from accuracy.recorded import HEARD_DBM, Recording
from accuracy.rules import mean as mean_rule

PHASES: Phases = {"gateway": 3, "phone": 1}
OFF_M = 3.0
DEVICE_DB = 6
WEAKER_DB = 15
UNHEARD_DBM = -100  # weaker adverts are not received
LOST_SHARE = 0.5
SKEW_MS = 2000
WINDOW_MS = 2000
Change = Callable[[Recording, int], Recording]


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A change, and how often it is drawn."""

    name: str
    change: Change
    draws: int = 1


def misplaced(recording: Recording, draw: int) -> Recording:
    """Each device stands in the building file OFF_M from its place, in a random direction, or where that is outside
    its room at the nearest place of the room: files with devices elsewhere are refused."""
    rng = _rng(recording, draw)
    outlines = {room["id"]: room["polygon"] for level in recording.building["levels"] for room in level["rooms"]}

    def moved(device: dict[str, Any]) -> dict[str, Any]:
        turn = rng.uniform(0, 2 * math.pi)
        place = (device["x_m"] + OFF_M * math.cos(turn), device["y_m"] + OFF_M * math.sin(turn))
        x_m, y_m = _nearest_in(outlines[device["room"]], place)
        return {**device, "x_m": round(x_m, 3), "y_m": round(y_m, 3)}

    return recording.with_devices([moved(one) for one in recording.devices])


def listed(recording: Recording, _: int = 0) -> Recording:
    """No plan: only the names of levels, rooms and devices are known."""
    return replace(recording, schematic=True)


def uneven(recording: Recording, draw: int) -> Recording:
    """Each device is heard DEVICE_DB better or worse, at random; alike in all recordings of the set."""
    rng = _rng(recording, draw)
    return stronger(recording, {one["id"]: rng.choice((-DEVICE_DB, DEVICE_DB)) for one in recording.devices})


def halved(recording: Recording, draw: int) -> Recording:
    """Without half of the adverts."""
    rng = random.Random(f"{recording.of}/{recording.name}/{draw}")  # noqa: S311 - play, not secrets
    return replace(recording, adverts=tuple(one for one in recording.adverts if rng.random() >= LOST_SHARE))


def weaker(recording: Recording, _: int = 0) -> Recording:
    """Everything is heard WEAKER_DB weaker, as of another tag or phone; what gets too weak is not heard."""
    shifted = (one._replace(rssi=one.rssi - WEAKER_DB) for one in recording.adverts)
    return replace(recording, adverts=tuple(one for one in shifted if one.rssi >= UNHEARD_DBM))


def dead(recording: Recording, draw: int) -> Recording:
    """Without the adverts of the busiest device, of the next one, …; nobody says that it is out."""
    busiest = Counter(map(recording.device, recording.adverts)).most_common()
    out = busiest[min(draw, len(busiest) - 1)][0]
    return replace(recording, adverts=tuple(one for one in recording.adverts if recording.device(one) != out))


def skewed(recording: Recording, draw: int) -> Recording:
    """Each receiver's clock is wrong by up to SKEW_MS."""
    rng = _rng(recording, draw)
    receivers = sorted({one.receiver for one in recording.adverts})
    return replace(recording, clocks_ms={one: rng.randint(-SKEW_MS, SKEW_MS) for one in receivers})


def rare(recording: Recording, _: int = 0) -> Recording:
    """Receivers send a reading every WINDOW_MS, as those of some other makers do."""
    devices = recording.devices
    if recording.mode == "gateway":
        devices = [{**one, "window_ms": WINDOW_MS} for one in devices]
    return replace(recording.with_devices(devices), window_ms=WINDOW_MS)


PERTURBATIONS = (
    Perturbation("positions 3 m off", misplaced, 3),
    Perturbation("no plan: from a list", listed),
    Perturbation("half of the adverts lost", halved, 2),
    Perturbation("everything 15 dB weaker", weaker),
    Perturbation("a device dead, nobody says so", dead, 3),
    Perturbation("clocks of receivers ±2 s", skewed, 2),
    Perturbation("a reading every 2 s", rare),
)
UNEVEN = Perturbation("each device 6 dB better or worse", uneven, 3)


def stronger(recording: Recording, by_db: dict[str, int]) -> Recording:
    """Devices are heard by so much better."""

    def level(rssi: int, device: str) -> int:
        return max(HEARD_DBM[0], min(HEARD_DBM[-1], rssi + by_db[device]))

    adverts = tuple(one._replace(rssi=level(one.rssi, recording.device(one))) for one in recording.adverts)
    return replace(recording, adverts=adverts)


def without_devices_of(recording: Recording, room: str) -> Recording:
    """A room has no device."""
    left = {one["id"] for one in recording.devices if one["room"] != room}
    adverts = tuple(one for one in recording.adverts if recording.device(one) in left)
    return replace(recording.with_devices([one for one in recording.devices if one["id"] in left]), adverts=adverts)


def _rng(recording: Recording, draw: int) -> random.Random:
    return random.Random(f"{recording.of}/{draw}")  # noqa: S311 - play, not secrets


def _nearest_in(polygon: Polygon, place: Point) -> Point:
    """The place, or where it is outside the nearest one on the room's outline."""
    if covers(polygon, place):
        return place
    (ax, ay), (bx, by) = min(edges(polygon), key=lambda edge: distance_to_edge(edge, place))
    along = ((place[0] - ax) * (bx - ax) + (place[1] - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
    along = min(1.0, max(0.0, along))
    return ax + along * (bx - ax), ay + along * (by - ay)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is scored, and what was recorded elsewhere in the building."""

    scored: Recording
    others: tuple[Recording, ...]


def lessons(some: Sequence[Recording]) -> list[Lesson]:
    """Of the recordings of a set, each after all others; of one alone the second half after the first."""
    if len(some) > 1:
        return [Lesson(one, tuple(other for other in some if other is not one)) for one in some]
    (one,) = some
    middle_ms = one.adverts[len(one.adverts) // 2].ts_ms
    first, second = one.part("first half", 0, middle_ms), one.part("second half", middle_ms, math.inf)
    return [Lesson(second, (first,))]


@dataclass(frozen=True, slots=True)
class Shares:
    """Right seconds in history and live, and by the two-second mean; means over recordings and draws."""

    history: float
    live: float
    mean: float


@dataclass(frozen=True, slots=True)
class Learned:
    """One set, cold (the locator knows nothing) and warm (it heard the set's other recordings before): as recorded, and
    with each device 6 dB better or worse in all of them."""

    of: str
    scored: str
    cold: Shares
    warm: Shares
    uneven_cold: Shares
    uneven_warm: Shares


@dataclass(frozen=True, slots=True)
class Missing:
    """Rooms without a device, one at a time: of their seconds the share that is right, with their devices and without,
    and the same of the seconds of other rooms; each in history and live."""

    of: str
    rooms: int
    before: tuple[float, float]
    found: tuple[float, float]
    others_before: tuple[float, float]
    others: tuple[float, float]


def perturbed(recordings: Sequence[Recording], said: Callable[[str], object] = str) -> dict[str, dict[str, Shares]]:
    """By perturbation and set; first as recorded. Raises FollowError."""
    found: dict[str, dict[str, Shares]] = {}
    for one in (Perturbation("as recorded", lambda recording, _: recording), *PERTURBATIONS, UNEVEN):
        said(f"perturbed: {one.name}")
        sets = by_set(recordings)
        drawn = [[one.change(each, draw) for draw in range(one.draws) for each in some] for some in sets.values()]
        found[one.name] = dict(zip(sets, spread(_shares, drawn), strict=True))
    return found


def learned(recordings: Sequence[Recording], said: Callable[[str], object] = str) -> list[Learned]:
    """Each set. Raises FollowError."""

    def one(some: list[Recording]) -> Learned:
        said(f"cold and warm: {some[0].of}")
        known = lessons(some)
        drawn = [
            Lesson(uneven(each.scored, draw), tuple(uneven(other, draw) for other in each.others))
            for each in known
            for draw in range(UNEVEN.draws)
        ]
        cold, uneven_cold = (_shares([each.scored for each in these]) for these in (known, drawn))
        warm, uneven_warm = (_shares([each.scored.after(each.others) for each in these]) for these in (known, drawn))
        scored = "each after the others" if len(some) > 1 else "second half after the first"
        return Learned(some[0].of, scored, cold, warm, uneven_cold, uneven_warm)

    return spread(one, by_set(recordings).values())


def missing(recordings: Sequence[Recording], said: Callable[[str], object] = str) -> list[Missing]:
    """Each set in which a room can go without a device. Raises FollowError."""

    def one(some: list[Recording]) -> Missing | None:
        has = {device["room"] for device in some[0].devices}
        pairs = [(each, room) for each in some for room in sorted({one.room for one in each.scored} & has)]
        if len(has) < 2 or not pairs:
            return None
        said(f"rooms without a device: {some[0].of}")
        plain = {recording.name: estimated for recording, _, estimated in estimates(some, ONE)}
        changed = [without_devices_of(each, room) for each, room in pairs]
        gone = [estimated for _, _, estimated in estimates([each for each in changed if each.adverts], ONE)]
        unheard = iter(gone)
        after = [next(unheard) if each.adverts else Estimate() for each in changed]
        before = [plain[each.name] for each, _ in pairs]
        ways = [_parted(pairs, estimated, its) for estimated in (before, after) for its in (True, False)]
        return Missing(some[0].of, len({room for _, room in pairs}), ways[0], ways[2], ways[1], ways[3])

    found = spread(one, by_set(recordings).values())
    return [each for each in found if each]


def _parted(pairs: Sequence[tuple[Recording, str]], estimated: Sequence[Estimate], its: bool) -> tuple[float, float]:
    """Shares of right seconds in history and live over all pairs, of the room's seconds or of all others."""
    total, history, live = 0, 0.0, 0.0
    for (recording, room), one in zip(pairs, estimated, strict=True):
        seconds = [second for second in recording.scored if (second.room == room) == its]
        shares = right(seconds, one)
        total += len(seconds)
        history += shares[0] * len(seconds)
        live += shares[1] * len(seconds)
    return history / max(1, total), live / max(1, total)


def _shares(some: Sequence[Recording]) -> Shares:
    history, live = zip(*shares(some, PHASES), strict=True)
    return Shares(fmean(history), fmean(live), fmean(by_rule(mean_rule, one).share for one in some))
