"""Simulated staff in the demo building, as the simulator's phones and gateways hear them, and what the locator makes of
it. Nothing of this was measured on people; it shows what a change of the locator changes in a large building."""

import itertools
import json
import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from simulator.building import Building, Room, parse
from simulator.geometry import random_point
from simulator.phones import INTERVAL_S, adaptive_ends
from simulator.plan import Plan
from simulator.radio import Radio, TagRadio
from simulator.walk import Spot, Walk
from support.running import DEMO_BUILDING

from accuracy.follow import Estimate, Play, Sent, follow_all
from accuracy.recorded import LATENCY_MS, Advert, Mode, Recording, batches
from accuracy.score import Score, Second, judge

START_MS = 1_700_000_000_000
PEOPLE, LASTS_S = 40, 540
READINGS = 4  # of a phone's batch (docs/phones.md)
ADVERT_S = 0.5  # of a tag
TURN_EVERY_S = 60.0  # standing people sometimes turn: an assumption
WARM_S = 10  # a phone's first message takes up to 4 s; before it there is nothing to be right about
LOST_WITHIN_MS = 75_000
RIDE_MS = 5000  # a level estimated this shortly before or after it is true is early or late, not wrong
OUT = 14  # the device that is out in some scenes, by its place in the building file
MODES: tuple[Mode, ...] = ("phone", "gateway")
Manner = Literal["standing", "patrol", "standing where the device is out"]
MANNERS: tuple[Manner, ...] = ("standing", "patrol", "standing where the device is out")


@dataclass(slots=True)
class Group:
    """Figures of one manner by one means over all its people, in seconds unless named otherwise."""

    mode: Mode
    manner: Manner
    history: Score = field(default_factory=Score)
    live: Score = field(default_factory=Score)
    wrong_level: int = 0
    """Seconds with a level in history where the person was not within RIDE_MS either."""
    lost_s: list[float] = field(default_factory=list)
    """From the last message about a person until `lost`; 75 if never."""

    @property
    def name(self) -> str:
        return f"{self.mode}, {self.manner}"

    @property
    def hours(self) -> float:
        return self.history.seconds / 3600


class _Standing:
    """A person who stands at one place and sometimes turns; as a Walk, with non-decreasing times."""

    def __init__(self, room: Room, rng: random.Random) -> None:
        self._rng, self._until_s = rng, 0.0
        self._spot = Spot(room, *random_point(room.polygon, rng), (1.0, 0.0))

    def at(self, time_s: float) -> Spot:
        while time_s >= self._until_s:
            turn = self._rng.uniform(0, 2 * math.pi)
            self._spot = self._spot._replace(heading=(math.cos(turn), math.sin(turn)))
            self._until_s += self._rng.expovariate(1 / TURN_EVERY_S)
        return self._spot

    def still_s(self, _: float) -> float:
        return math.inf


Person = Callable[[], Walk | _Standing]


def measure_demo(said: Callable[[str], object] = str) -> list[Group]:
    """All groups. Raises FollowError."""
    file = json.loads(DEMO_BUILDING.read_text())
    plan = Plan(parse(file))
    found = []
    for mode in MODES:
        for manner in MANNERS:
            said(f"playing: {mode}, {manner}")
            found.append(_play(Group(mode, manner), file, plan))
    return found


def _play(group: Group, file: dict[str, Any], plan: Plan) -> Group:
    devices = file["beacons" if group.mode == "phone" else "gateways"]
    out = devices[OUT] if group.manner.endswith("out") else None
    people = {f"s{number}": _person(group.manner, number, plan, out) for number in range(PEOPLE)}
    sent = list(_phones(people, plan) if group.mode == "phone" else _gateways(people, plan, file))
    if out:
        sent = [_without(one, out["id"]) for one in sent if one.receiver != out["id"]]
        sent = [one for one in sent if one.readings]
    sent.sort(key=lambda one: one.now_ms)
    staff = [{"id": who, "name": who, "tags": [_tag(who)]} for who in people]
    end_ms = START_MS + LASTS_S * 1000
    (estimated,) = follow_all([Play({**file, "staff": staff}, sent, end_ms + LOST_WITHIN_MS)])
    for who, person in people.items():
        its = [one.now_ms for one in sent if who == one.receiver or any(r.beacon == _tag(who) for r in one.readings)]
        _add(group, estimated.get(who, Estimate()), _truth(person()), its[-1] if its else end_ms, plan.building)
    return group


def _person(manner: Manner, number: int, plan: Plan, out: dict[str, Any] | None) -> Person:
    """Makes the person anew, the same each time: people go forward in time only."""
    rooms = list(plan.building.rooms.values())
    room = plan.building.rooms[out["room"]] if out else rooms[number * 7 % len(rooms)]

    def person() -> Walk | _Standing:
        rng = random.Random(f"{manner}/{number}")  # noqa: S311 - play, not secrets
        return Walk(plan, rng) if manner == "patrol" else _Standing(room, rng)

    return person


def _truth(person: Walk | _Standing) -> list[Second]:
    return [Second(START_MS + second * 1000, person.at(second).room.id) for second in range(WARM_S, LASTS_S)]


def _phones(people: dict[str, Person], plan: Plan) -> Iterator[Sent]:
    """Windows of a second while somebody moves, of up to four at rest (docs/phones.md)."""
    radio = Radio(plan, 1, READINGS)
    for who, make in people.items():
        person, rng = make(), random.Random(f"phone/{who}")  # noqa: S311 - play, not secrets
        ends = adaptive_ends(person.still_s, rng.uniform(*INTERVAL_S), rng.uniform(0, INTERVAL_S[1]))
        for end_s in itertools.takewhile(lambda end_s: end_s < LASTS_S, ends):
            ts = round(START_MS + end_s * 1000)
            yield Sent(ts + rng.uniform(*LATENCY_MS), "phone", who, ts, radio.scan(person.at(end_s), rng))


def _gateways(people: dict[str, Person], plan: Plan, file: dict[str, Any]) -> list[Sent]:
    radio = TagRadio(plan, 1)
    adverts = []
    for who, make in people.items():
        person, rng = make(), random.Random(f"tag/{who}")  # noqa: S311 - play, not secrets
        for number in range(int(LASTS_S / ADVERT_S)):
            time_s = (number + rng.random()) * ADVERT_S
            ts = round(START_MS + time_s * 1000)
            adverts += [Advert(ts, gateway, _tag(who), rssi) for gateway, rssi in radio.send(person.at(time_s), rng)]
    return batches(Recording("demo", "tags", "gateway", file, tuple(sorted(adverts)), ()), 0)


def _without(one: Sent, beacon: str) -> Sent:
    readings = tuple(reading for reading in one.readings if reading.beacon != beacon)
    return Sent(one.now_ms, one.kind, one.receiver, one.ts, readings)


def _tag(who: str) -> str:
    return f"C0FFEE{int(who[1:]):06X}"


def _add(group: Group, estimated: Estimate, truth: list[Second], last_ms: float, building: Building) -> None:
    group.history += judge(truth, estimated.history_at, estimated.history_changes())
    group.live += judge(truth, estimated.live_at, estimated.live_changes())
    level = {room.id: room.level for room in building.rooms.values()}
    around = [[level[one.room] for one in _near(truth, at)] for at in range(len(truth))]
    said = (estimated.history_at(one.ts_ms) for one in truth)
    group.wrong_level += sum(bool(room) and level[room] not in near for room, near in zip(said, around, strict=True))
    lost = [ms for ms, room in zip(estimated.live_ms, estimated.live, strict=True) if not room and ms > last_ms]
    group.lost_s.append(((lost[0] if lost else last_ms + LOST_WITHIN_MS) - last_ms) / 1000)


def _near(truth: list[Second], at: int) -> Iterable[Second]:
    by = RIDE_MS // 1000
    return truth[max(0, at - by) : at + by + 1]
