"""The HTTP calls of loads: how each is asked, and whether an answer is right. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

STAY_S = 300
"""In the stored history everybody changes rooms so often."""
RECENT_S = 10
RSSI = -20
PROMPT_S = 20.0
"""Who has sent for so long must be in the right room."""
FIRST_S = 3.0
"""At the start of a step, what is shown may be of an earlier one."""


class Place(NamedTuple):
    """A beacon, and the room in which it is."""

    beacon: str
    level: str
    room: str
    room_name: str


@dataclass(frozen=True, slots=True)
class Site:
    """What is true: the building's beacons, and the history that was stored before the run."""

    places: tuple[Place, ...]
    past_end_s: int = 0
    """The last second of the stored history; 0: none was stored."""
    building: str = ""
    """The building file."""
    run: str = ""
    """Devices of a run have ids of their own, `lab-<run>-<number>`: the people of an earlier run are not theirs. Empty:
    each has an account, `lab-<number>`."""

    @property
    def senders(self) -> str:
        """What the devices' ids begin with; their numbers follow."""
        return f"{PREFIX}{self.run}-" if self.run else PREFIX

    def place_of(self, number: int) -> Place:
        """Where sender `number` of a load is; nobody moves."""
        return self.places[number % len(self.places)]

    def past_place(self, second: int) -> Place:
        """Where everybody of the stored history was at a second."""
        return self.places[(second // STAY_S) * 7 % len(self.places)]


class HttpCall(NamedTuple):
    """One request, and how its answer is judged: a fault (empty: right) and how old the newest of it is in ms (-1)."""

    path: str
    subject: str
    judge: Callable[[bytes], tuple[str, float]]
    method: str = "GET"
    body: bytes = b""
    headers: Mapping[str, str] = {}
    readings: int = 0
    """Stored readings that a right answer promises."""
    right_statuses: tuple[int, ...] = ()
    """Answers at or above 400 that are right here."""
    etag_of: str = ""
    """Asked first; its `ETag` becomes the request's `If-Match`."""


class CallContext(NamedTuple):
    """What a call may depend on."""

    site: Site
    number: int
    """How many calls of this load there were before."""
    staff: int
    first: int
    rows: int
    now_s: float
    """Epoch."""
    begun_s: float
    """When the step began."""
    devices: int = 0
    """How many devices send in this step, and how often each."""
    interval_s: float = 1.0


RIGHT = ("", -1.0)


def insert(context: CallContext) -> HttpCall:
    """A detection by hand: somebody is heard by a beacon."""
    person = context.first + context.number % context.staff
    place = context.site.place_of(person)
    path = f"/newbeacondetect?staff_id={_name(person)}&beacon_address={place.beacon}&rssi={RSSI}"

    def judge(body: bytes) -> tuple[str, float]:
        return RIGHT if body == b"New Beacon Detection Added" else (f"answer {body[:60]!r}", -1.0)

    return HttpCall(path, _name(person), judge, readings=1)


def hacs(context: CallContext) -> HttpCall:
    """Where somebody was in the last ten seconds."""
    number = context.first + context.number % context.staff
    return ten_seconds(_name(number), context.site.place_of(number), int(context.now_s), must_be_there=False)


def ten_seconds(person: str, place: Place, end: int, *, must_be_there: bool) -> HttpCall:
    """Where a person was in the ten seconds until `end`, who is at a place."""

    def judge(body: bytes) -> tuple[str, float]:
        records = json.loads(body)["location"]
        if fault := _in_window(records, end - RECENT_S, end):
            return fault, -1.0
        if must_be_there and not records:
            return "nothing of the last ten seconds", -1.0
        wrong = [one for one in records if (one["level"], one["location"]) != (place.level, place.room_name)]
        return (f"wrong room {wrong[0]['location']} instead of {place.room_name}" if wrong else ""), -1.0

    return HttpCall(f"/extractbeacon?staff_id={person}&start_time={end - RECENT_S}&end_time={end}", person, judge)


def history(context: CallContext) -> HttpCall:
    """The last `rows` stored records of somebody: each of them must be there, in the right room."""
    person = f"past-{context.first + context.number % context.staff}"
    end = context.site.past_end_s
    start = end - context.rows + 1
    site = context.site

    def judge(body: bytes) -> tuple[str, float]:
        records = json.loads(body)["location"]
        if len(records) != context.rows:
            return f"{len(records)} records instead of {context.rows}", -1.0
        for index, one in enumerate(records):
            place = site.past_place(end - index)
            if (one["timestamp"], one["level"], one["location"]) != (end - index, place.level, place.room_name):
                return f"record {index} is wrong", -1.0
        return RIGHT

    return HttpCall(f"/extractbeacon?staff_id={person}&start_time={start}&end_time={end}", person, judge)


def monitoring(context: CallContext) -> HttpCall:
    """The latest of everybody, as the monitoring page asks for it. Senders of the run must be in their rooms."""
    site, now_s, for_s = context.site, context.now_s, context.now_s - context.begun_s
    senders = site.senders

    def judge(body: bytes) -> tuple[str, float]:
        behind = -1.0
        for one in json.loads(body)["data"]:
            who = one["staff_id"]
            if not who.startswith(senders) or (number := int(who.removeprefix(senders))) >= context.devices:
                continue
            place = site.place_of(number)
            if for_s > PROMPT_S and (one["level"], one["location"]) != (place.level, place.room_name):
                return f"{who} is shown in {one['location']} instead of {place.room_name}", behind
            if one["timestamp"] >= context.begun_s or for_s > FIRST_S + context.interval_s:
                behind = max(behind, (now_s - one["timestamp"]) * 1000)
        return "", behind

    return HttpCall("/retrieveformonitoring", "page", judge)


PREFIX = "lab-"


def site_of(building: Mapping[str, Any], past_end_s: int = 0) -> Site:
    """The truth from a building file: beacons by room, one of each room first, so that few senders are far apart."""
    rooms = {room["id"]: room["name"] for level in building["levels"] for room in level["rooms"]}
    by_room: dict[str, list[Place]] = {}
    for one in building["beacons"]:
        by_room.setdefault(one["room"], []).append(Place(one["id"], one["level"], one["room"], rooms[one["room"]]))
    longest = max(len(places) for places in by_room.values())
    places = [places[place] for place in range(longest) for places in by_room.values() if place < len(places)]
    return Site(tuple(places), past_end_s, json.dumps(building))


def _name(person: int) -> str:
    return f"{PREFIX}{person}"


def _in_window(records: Sequence[Mapping[str, Any]], start: int, end: int) -> str:
    times = [one["timestamp"] for one in records]
    if any(not start <= at <= end for at in times):
        return "a record outside of the window"
    return "records are not newest first" if any(a < b for a, b in pairwise(times)) else ""
