"""All calls by the name that scenarios use, and those of `/api/v1`. Pure."""

import json
from collections.abc import Callable

from lab.calls import (
    PREFIX,
    PROMPT_S,
    RECENT_S,
    CallContext,
    HttpCall,
    hacs,
    history,
    insert,
    monitoring,
    ten_seconds,
)

BUILDING = "/api/v1/building"
PAGE = 25
"""Items of a page."""
EVENT_S = 7
"""Stored events are so far apart."""
EARLIER_PAGES = 4000
TELEMETRY_BEACONS = 5
"""So many beacons have stored telemetry."""
BEFORE_S = 5.0
"""Before a step begins, devices of the step before it have sent their last."""
MONTH_MIN, SIX_HOURS_MIN = 31 * 1440, 360
LARGE_BYTES = 16_384
"""Smaller answers are parsed each time."""
MAX_VERIFIED_ANSWERS = 16
_verified: dict[str, bytes] = {}
"""The last right answer of a path."""


def history_or_busy(context: CallContext) -> HttpCall:
    """History; while the database is away the right answer is 503, and soon."""
    return history(context)._replace(right_statuses=(503,))


def recent(context: CallContext) -> HttpCall:
    """The last ten seconds of somebody who is inserted meanwhile: memory must have them, database or not."""
    number = context.first + context.number % context.staff
    place, late = context.site.place_of(number), context.now_s - context.begun_s > PROMPT_S
    return ten_seconds(f"{PREFIX}{number}", place, int(context.now_s), must_be_there=late)


def poll(context: CallContext) -> HttpCall:
    """The last ten seconds of one of the step's devices: who has sent for a while must be there, in the right room."""
    return _poll(context, int(context.now_s), must_be_there=context.now_s - context.begun_s > PROMPT_S)


def poll_at_rest(context: CallContext) -> HttpCall:
    """The same of ten fixed seconds: the last ones of the step before, in which devices sent."""
    return _poll(context, int(context.begun_s - BEFORE_S), must_be_there=True)


def _poll(context: CallContext, end: int, *, must_be_there: bool) -> HttpCall:
    number = context.first + context.number % context.staff
    return ten_seconds(
        f"{context.site.senders}{number}", context.site.place_of(number), end, must_be_there=must_be_there
    )


def everybody(context: CallContext) -> HttpCall:
    """Where everybody was in the last ten seconds, in one answer."""
    end = int(context.now_s)

    def judge(body: bytes) -> tuple[str, float]:
        times = [one["timestamp"] for one in json.loads(body)["location"]]
        return ("" if all(end - RECENT_S <= at <= end for at in times) else "a record outside of the window"), -1.0

    return HttpCall(f"/extractbeacon?staff_id=*&start_time={end - RECENT_S}&end_time={end}", "everybody", judge)


def _telemetry(minutes: int) -> Callable[[CallContext], HttpCall]:
    def call(context: CallContext) -> HttpCall:
        beacon = context.site.places[context.number % TELEMETRY_BEACONS].beacon
        end = context.site.past_end_s // 60 * 60
        window = f"start={end - minutes * 60}&end={end}"
        path = f"/api/v1/beacons/{beacon}/telemetry?every=minute&limit=50000&{window}"

        def judge(body: bytes) -> tuple[str, float]:
            def whole() -> str:
                points = len(json.loads(body)["points"])
                return "" if points == minutes else f"{points} points instead of {minutes}"

            return _known(path, body, whole), -1.0

        return HttpCall(path, beacon, judge)

    return call


def _known(path: str, body: bytes, whole: Callable[[], str]) -> str:
    """Judge a large answer once: the same bytes are as right as they were. Comparing takes a hundredth of the time of
    parsing, during which nothing else is sent."""
    if _verified.get(path) == body:
        return ""
    fault = whole()
    if not fault and len(body) >= LARGE_BYTES:
        _verified.pop(path, None)
        _verified[path] = body
        if len(_verified) > MAX_VERIFIED_ANSWERS:
            del _verified[next(iter(_verified))]
    return fault


def events(context: CallContext) -> HttpCall:
    """The newest page of events of the stored history."""
    return _events(context.site.past_end_s + 1)


def events_earlier(context: CallContext) -> HttpCall:
    """A page of events of another time each."""
    return _events(context.site.past_end_s + 1 - context.number % EARLIER_PAGES * EVENT_S)


def _events(end: int) -> HttpCall:
    def judge(body: bytes) -> tuple[str, float]:
        count = len(json.loads(body)["events"])
        return ("" if count == PAGE else f"{count} events instead of {PAGE}"), -1.0

    return HttpCall(f"/api/v1/events?limit={PAGE}&start={end - 86_400}&end={end}", "events", judge)


def _listing(path: str, key: str, min_count: int) -> Callable[[CallContext], HttpCall]:
    def call(_: CallContext) -> HttpCall:
        def judge(body: bytes) -> tuple[str, float]:
            def whole() -> str:
                count = len(json.loads(body)[key])
                return "" if count >= min_count else f"{count} of {key} instead of {min_count}"

            return _known(path, body, whole), -1.0

        return HttpCall(path, key, judge)

    return call


def _ranking(of: str, count: int) -> Callable[[CallContext], HttpCall]:
    """The rooms, or the people, with the most time of the last hour."""

    def call(context: CallContext) -> HttpCall:
        path = f"/api/v1/rankings/{of}?by=time&limit={count}&start={int(context.now_s) - 3600}"
        return _listing(path, of, 0)(context)

    return call


def edit(context: CallContext) -> HttpCall:
    """Change the building, if nobody else did meanwhile (optimistic lock): 412 is a conflict, and counts as a fault."""
    document = json.loads(context.site.building)
    document["levels"][0]["rooms"][0]["limit"] = 10 + context.number % 1000

    def judge(body: bytes) -> tuple[str, float]:
        return ("" if json.loads(body).get("version") else "no version"), -1.0

    headers = {"Content-Type": "application/json"}
    return HttpCall(BUILDING, "building", judge, "PUT", json.dumps(document).encode(), headers, etag_of=BUILDING)


CALLS: dict[str, Callable[[CallContext], HttpCall]] = {
    "insert": insert,
    "hacs": hacs,
    "recent": recent,
    "poll": poll,
    "poll_at_rest": poll_at_rest,
    "everybody": everybody,
    "history": history,
    "history_or_busy": history_or_busy,
    "monitoring": monitoring,
    "telemetry_month": _telemetry(MONTH_MIN),
    "telemetry_6h": _telemetry(SIX_HOURS_MIN),
    "events": events,
    "events_earlier": events_earlier,
    "keys": _listing("/api/v1/keys", "keys", 0),
    "staff": _listing("/api/v1/staff", "staff", 1),
    "staff_page": _listing(f"/api/v1/staff?limit={PAGE}", "staff", PAGE),
    "top_rooms": _ranking("rooms", 10),
    "top_staff": _ranking("staff", 5),
    "edit": edit,
}
