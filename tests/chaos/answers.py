"""Whether an answer that was given in the middle of it all equals history as it is in the end. Pure."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

Body = Mapping[str, Any]
Found = set[tuple[Any, ...]]


def differences(route: str, then: Body, end: Body, from_ms: float, until_ms: float) -> list[str]:
    """What the answer `then` says about the time from `from_ms` to `until_ms` otherwise than the one at the `end`."""
    pages = (_page_ms(then), _page_ms(end))
    from_ms, until_ms = max(from_ms, *(start for start, _ in pages)), min(until_ms, *(stop for _, stop in pages))
    find = _FINDERS[route]
    given, final = find(then, from_ms, until_ms), find(end, from_ms, until_ms)
    if route in _INTERVALS:
        given = _going_on(given, final)
    return [
        *(f"only then: {one}" for one in sorted(given - final, key=str)),
        *(f"only in the end: {one}" for one in sorted(final - given, key=str)),
    ]


def complete_until(then: Body) -> int:
    """Up to when the answer says that it is complete."""
    return int(then["complete_until_ms"])


def _page_ms(body: Body) -> tuple[float, float]:
    """From when to when a page tells all: others that came meanwhile may have moved its last ones to the next page."""
    if body.get("next") is None:
        return -math.inf, math.inf
    if "events" in body:  # the newest first
        return min(one["ts"] for one in body["events"]) + 1, math.inf
    if "visits" in body:  # the newest first; those that began before may reach into any time
        return math.inf, math.inf
    times = [one.get("ts", one.get("enter_ms")) for key in ("locations", "stays") for one in body.get(key, ())]
    return -math.inf, max(times)


def _extracted(body: Body, from_ms: float, until_ms: float) -> Found:
    return {
        (one.get("staff_id"), one["timestamp"], one["level"], one["location"])
        for one in body["location"]
        if from_ms <= one["timestamp"] * 1000 < until_ms
    }


def _points(key: str, body: Body, from_ms: float, until_ms: float) -> Found:
    return {tuple(sorted(one.items())) for one in body[key] if from_ms <= one["ts"] < until_ms}


def _locations(body: Body, from_ms: float, until_ms: float) -> Found:
    return _points("locations", body, from_ms, until_ms)


def _events(body: Body, from_ms: float, until_ms: float) -> Found:
    return _points("events", body, from_ms, until_ms)


def _stays(body: Body, from_ms: float, until_ms: float) -> Found:
    whose = body.get("staff_id")
    return _cut(((one.get("staff_id", whose), one["room"], one["enter_ms"], one["leave_ms"], one["ongoing"])
                 for one in body["stays"]), from_ms, until_ms)  # fmt: skip


def _visits(body: Body, from_ms: float, until_ms: float) -> Found:
    return _cut(((one["staff_id"], body["room"], one["enter_ms"], one["leave_ms"], one["ongoing"])
                 for one in body["visits"]), from_ms, until_ms)  # fmt: skip


def _contacts(body: Body, from_ms: float, until_ms: float) -> Found:
    return _cut(((one["staff_id"], meeting["room"], meeting["start_ms"], meeting["end_ms"], False)
                 for one in body["contacts"] for meeting in one["meetings"]), from_ms, until_ms)  # fmt: skip


def _patrols(body: Body, _from_ms: float, _until_ms: float) -> Found:
    """A room's last patrol is about the whole window, so these are asked only where all of it is complete."""
    return {(one["room"], one["last_ms"]) for one in body["patrols"]}


def _cut(stays: Iterable[tuple[str, str, int, int, bool]], from_ms: float, until_ms: float) -> Found:
    """The part of each within the time, with whether it goes on behind what is known."""
    found: Found = set()
    for staff_id, room, enter_ms, leave_ms, ongoing in stays:
        start_ms, end_ms = max(enter_ms, from_ms), min(leave_ms, until_ms)
        if start_ms < end_ms:
            found.add((staff_id, room, start_ms, end_ms, ongoing and leave_ms < until_ms))
    return found


def _going_on(given: Found, final: Found) -> Found:
    """Of a stay that was going on it counts that it did not end before it was said to last."""
    ends = {one[:3]: one for one in final}
    return {
        ends[one[:3]] if one[4] and one[:3] in ends and ends[one[:3]][3] >= one[3] else (*one[:4], False)
        for one in given
    }


_FINDERS = {
    "extractbeacon": _extracted,
    "locations": _locations,
    "events": _events,
    "stays": _stays,
    "visits": _visits,
    "contacts": _contacts,
    "patrols": _patrols,
}
_INTERVALS = ("stays", "visits", "contacts")
ROUTES = tuple(_FINDERS)
