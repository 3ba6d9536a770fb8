"""`/api/v1/staff`: staff, locations, stays and contacts."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from support import web
from support.api import Api
from support.building import Building
from support.influx_writer import store
from support.keys import asking, named_key
from support.running import RunningStack
from support.stack_client import batch, eventually, now_ms, publish
from support.walks import LATER_S, LENGTH_S, SLACK_S, TURN_S, Walks

pytestmark = pytest.mark.usefixtures("stack")


def test_staff_are_listed_by_id_with_their_presence(api: Api, walks: Walks, demo: Building) -> None:
    staff = api.pages("listStaff", "staff", limit=20)
    ids = [one["staff_id"] for one in staff]
    assert ids == sorted(set(ids))
    assert set(ids) >= {one["id"] for one in demo.raw["staff"]} | {walks.ann, walks.ben}
    ann = next(one for one in staff if one["staff_id"] == walks.ann)
    assert (ann["listed"], ann["name"], ann["tags"]) == (False, None, [])
    assert (ann["presence"]["level"], ann["presence"]["room"]) == (walks.second.level, walks.second.room)


def test_one_listed_staff_member_with_name_and_tags(api: Api, demo: Building) -> None:
    person, tag = demo.tagged()
    found = api.get("getStaff", staff_id=person)
    assert found["listed"]
    assert tag in found["tags"]
    assert found["name"] == next(one["name"] for one in demo.raw["staff"] if one["id"] == person)


def test_who_has_a_past_is_followed(api: Api, walks: Walks, stack: RunningStack, demo: Building) -> None:
    """Everybody once, then who is new, as soon as they are located; 503 while a start locates what was before."""
    first = eventually(lambda: _known(api), within_s=60, what="the past of before the start")
    assert first["whole"]
    assert {walks.ann, walks.ben} <= set(first["staff"])
    assert walks.start_ms < first["known_until_ms"] <= now_ms() + 1000
    publish(stack, ("phone/known-later/readings", batch((demo.beacons[0].id, -50))))

    def newer() -> list[str]:
        answer = api.get("listKnownPeople", after=first["version"], wait_ms=1000)
        assert not answer["whole"]
        return [one for one in answer["staff"] if one == "known-later"]

    eventually(newer)
    other = api.get("listKnownPeople", after="0.1")
    assert other["whole"], "of another epoch"
    assert {*first["staff"], "known-later"} <= set(other["staff"])
    assert "wait_ms must be" in api.ask("listKnownPeople", 400, wait_ms=1001).json()["error"]
    assert "after is not" in api.ask("listKnownPeople", 400, after="x").json()["error"]


def _known(api: Api) -> dict[str, Any]:
    """Who has a past, once it is known."""
    answer = api.http.get(api.operations["listKnownPeople"][1])
    found: dict[str, Any] = answer.json() if answer.status_code == 200 else {}
    return found


@pytest.mark.parametrize("operation", ["getStaff", "getTrace", "listLocations", "listStays", "listContacts"])
def test_unknown_staff_member_is_404(api: Api, operation: str) -> None:
    assert "nobody-at-all" in api.ask(operation, expected=404, staff_id="nobody-at-all").json()["error"]


def test_trace_explains_a_location(api: Api, walks: Walks) -> None:
    """Received and expected RSSI, and the probability of each room."""

    def settled() -> dict[str, Any]:
        found: dict[str, Any] = api.get("getTrace", staff_id=walks.ann)
        return found if found["heard"] and found["rooms"][0]["room"] == walks.second.room else {}

    found = eventually(settled, what="a trace with what is heard")
    assert (found["staff_id"], found["room"]) == (walks.ann, walks.second.room)
    chances = [one["probability"] for one in found["rooms"]]
    assert chances == sorted(chances, reverse=True)
    assert 0.5 < sum(chances) <= 1.01
    nearest = next(one for one in found["heard"] if one["id"] == walks.second.id)
    assert (nearest["room"], len(nearest["expected"])) == (walks.second.room, len(found["rooms"]))
    assert abs(nearest["rssi"] + 45) < 5
    ann = api.get("getStaff", staff_id=walks.ann)
    assert (ann["level_db"], found["level_db"]) == (None, None), "a beacon alone says nothing of a strength"


def test_trace_without_readings_is_empty(api: Api, demo: Building, walks: Walks) -> None:
    absent = next(one["id"] for one in demo.raw["staff"] if api.get("getStaff", staff_id=one["id"])["presence"] is None)
    assert absent != walks.ann
    found = api.get("getTrace", staff_id=absent)
    assert (found["ts"], found["room"], found["rooms"], found["heard"], found["change"]) == (None, None, [], [], None)
    assert api.get("getStaff", staff_id=absent)["level_db"] is None


def test_trace_is_for_admins_only(stack: RunningStack, walks: Walks) -> None:
    path = f"/api/v1/staff/{walks.ann}/trace"
    assert web.get(f"{stack.http_url}{path}").status_code == 401, "a trusted address"
    with asking(stack, named_key(stack, "curious", "history", "presence")) as caller:
        assert caller.get(path).status_code == 403


def test_locations_are_listed_once_oldest_first(api: Api, walks: Walks) -> None:
    found = api.pages("listLocations", "locations", staff_id=walks.ann, limit=50, **walks.window)
    times = [one["ts"] for one in found]
    assert times == sorted(set(times))
    assert len(times) >= LENGTH_S - SLACK_S
    rooms = {one["room"] for one in found if one["ts"] < walks.turn_ms - SLACK_S * 1000}
    assert rooms == {walks.first.room}
    assert found[-1]["room"] == walks.second.room
    past = {**walks.window, "end": walks.end_ms / 1000 - SLACK_S}  # Ann is still there, so the whole window gets more
    by_pages = [one for one in found if one["ts"] < past["end"] * 1000]
    assert by_pages == api.pages("listLocations", "locations", staff_id=walks.ann, limit=10_000, **past)


def test_how_sure_a_location_is_and_what_was_corrected(api: Api, stack: RunningStack, demo: Building) -> None:
    room, start_ms = demo.beacons[0].room, now_ms() // 1000 * 1000 - 1_200_000
    place = f'level="{demo.beacons[0].level}",room="{room}",beacon="{demo.beacons[0].id}",rssi=-60i'
    says = ["", ',sure_pct=63i,runner_up="other"', ',sure_pct=0i,runner_up=""']
    says += [',sure_pct=98i,runner_up="x",corrected=true', ',sure_pct=100i,runner_up="left"']
    points = [f"location,staff_id=sure-2 {place}{one} {start_ms + n * 1000}" for n, one in enumerate(says)]
    store(stack, "locations", points)
    ask = {"staff_id": "sure-2", "start": start_ms / 1000, "end": start_ms / 1000 + 60}
    found = api.pages("listLocations", "locations", **ask)
    assert [(one["probability"], one["probably"], one["runner_up"], one["corrected"]) for one in found] == [
        (None, False, None, None),  # of an earlier version
        (0.63, True, "other", False),
        (0.0, True, None, False),
        (0.98, False, None, True),
        (1.0, False, None, False),
    ]
    assert api.pages("listLocations", "locations", doubtful="1", limit=2, **ask) == found[1:4]


def test_the_window_is_half_open_in_both_time_formats(api: Api, walks: Walks) -> None:
    whole = api.pages("listLocations", "locations", staff_id=walks.ann, **walks.window)
    first, last = whole[10]["ts"], whole[20]["ts"]
    part = api.get("listLocations", staff_id=walks.ann, start=first / 1000, end=last / 1000)
    assert [one["ts"] for one in part["locations"]] == [one["ts"] for one in whole[10:20]]
    assert (part["start_ms"], part["end_ms"], part["next"]) == (first, last, None)
    written = {"start": _rfc_3339(first), "end": _rfc_3339(last)}
    assert api.get("listLocations", staff_id=walks.ann, **written) == part


def test_pages_neither_lose_nor_repeat_records_during_writes(
    api: Api, stack: RunningStack, walks: Walks, demo: Building
) -> None:
    """Get the first page, then add locations, then get the other pages."""
    beacon, start_ms = demo.beacons[0], walks.end_ms
    publish(
        stack, *[("phone/walk-cat/readings", batch((beacon.id, -45), ts=walks.start_ms + n * 1000)) for n in range(60)]
    )
    ask = {"staff_id": "walk-cat", "start": walks.start_ms / 1000, "end": start_ms / 1000 + 600, "limit": 20}
    eventually(lambda: _is_heard(api, "walk-cat"), what="walk-cat is heard")  # until then the answer is 404
    eventually(lambda: _seconds(api, ask) >= 58, within_s=60, what="the first minute")
    first = api.get("listLocations", **ask)
    publish(
        stack,
        *[("phone/walk-cat/readings", batch((beacon.id, -45), ts=walks.start_ms + n * 1000)) for n in range(60, 90)],
    )
    eventually(lambda: _seconds(api, ask) >= 88, within_s=60, what="a minute and a half")
    found, cursor = list(first["locations"]), first["next"]
    while cursor:
        page = api.get("listLocations", **ask, cursor=cursor)
        found, cursor = found + page["locations"], page["next"]
    times = [one["ts"] for one in found]
    assert times == sorted(set(times))
    later = api.pages("listLocations", "locations", **ask | {"limit": 1000})  # the last second may have come since
    assert found == later[: len(found)]


def _is_heard(api: Api, staff_id: str) -> bool:
    return any(one["staff_id"] == staff_id for one in api.pages("listStaff", "staff"))


def _seconds(api: Api, ask: dict[str, Any]) -> int:
    return len(api.pages("listLocations", "locations", **ask))


def test_a_cursor_is_valid_only_for_its_query(api: Api, walks: Walks) -> None:
    page = api.get("listLocations", staff_id=walks.ann, limit=5, **walks.window)
    cursor = page["next"]
    assert (
        "another question" in api.ask("listLocations", expected=400, staff_id=walks.ben, cursor=cursor).json()["error"]
    )
    assert "start" in api.ask("listLocations", 400, staff_id=walks.ann, cursor=cursor, start=1).json()["error"]
    assert "none of ours" in api.ask("listLocations", 400, staff_id=walks.ann, cursor="abc").json()["error"]
    assert api.get("listLocations", staff_id=walks.ann, cursor=cursor)["locations"]


def test_stays_are_not_clipped_to_the_window(api: Api, walks: Walks) -> None:
    stays = api.pages("listStays", "stays", staff_id=walks.ann, limit=1, **walks.window)
    assert [one["room"] for one in stays] == [walks.first.room, walks.second.room]
    first, second = stays
    assert abs(first["enter_ms"] - walks.start_ms) <= SLACK_S * 1000
    assert abs(first["leave_ms"] - walks.turn_ms) <= SLACK_S * 1000
    assert first["duration_s"] == (first["leave_ms"] - first["enter_ms"]) / 1000
    assert first["ongoing"] is False
    middle = {"start": walks.start_ms / 1000 + 40, "end": walks.start_ms / 1000 + 50}
    assert api.get("listStays", staff_id=walks.ann, **middle)["stays"] == [first]
    after = {"start": walks.end_ms / 1000 - 30, "end": walks.end_ms / 1000 - 20}
    assert [one["enter_ms"] for one in api.get("listStays", staff_id=walks.ann, **after)["stays"]] == [
        second["enter_ms"]
    ]


def test_the_present_stay_is_open(api: Api, walks: Walks) -> None:
    last = api.pages("listStays", "stays", staff_id=walks.ann)[-1]
    assert (last["room"], last["ongoing"]) == (walks.second.room, True)


def _still(stays: list[dict[str, Any]], *only: str) -> list[dict[str, Any]]:
    """The present stays; open ones without the fields that change with each reading."""
    return [
        one if not one["ongoing"] else {**one, "leave_ms": None, "duration_s": None}
        for one in stays
        if not only or one["staff_id"] in only
    ]


def test_stays_of_several_people_equal_those_of_each(api: Api, walks: Walks) -> None:
    both = {"staff_id": f"{walks.ben},{walks.ann},nobody-at-all,{walks.ben}", **walks.window}
    each = [
        {"staff_id": who, **one}
        for who in (walks.ann, walks.ben)
        for one in api.pages("listStays", "stays", staff_id=who, **walks.window)
    ]
    each = _still(sorted(each, key=lambda one: (one["enter_ms"], one["staff_id"])))
    for limit in (1, 3, 1000):
        assert _still(api.pages("searchStays", "stays", limit=limit, **both)) == each
    middle = walks.window | {"start": walks.start_ms / 1000 + 40, "end": walks.start_ms / 1000 + 50}
    found = api.get("searchStays", **both | middle)["stays"]
    assert found == [one for one in each if one["enter_ms"] < walks.start_ms + 40_000], "whole"
    assert [(one["staff_id"], one["room"]) for one in found] == [
        (walks.ann, walks.first.room),
        (walks.ben, walks.first.room),
    ]


def test_stays_on_a_level_include_everybody_there(api: Api, walks: Walks) -> None:
    who, level = (walks.ann, walks.ben), walks.first.level
    everybody = _still(api.pages("searchStays", "stays", **walks.window), *who)
    assert {one["staff_id"] for one in everybody} == set(who)
    on_level = _still(api.pages("searchStays", "stays", level=level, limit=2, **walks.window), *who)
    assert on_level == [one for one in everybody if one["level"] == level]
    mine = api.pages("searchStays", "stays", level=level, staff_id=walks.ann, **walks.window)
    assert _still(mine) == [one for one in on_level if one["staff_id"] == walks.ann]
    assert api.get("searchStays", level="L99", **walks.window)["stays"] == []
    for wrong in ("a,", "a,,b", "a b", ",".join(map(str, range(201)))):
        assert "staff_id" in api.ask("searchStays", expected=400, staff_id=wrong).json()["error"]


def test_contacts_are_people_in_the_same_room(api: Api, walks: Walks) -> None:
    found = api.get("listContacts", staff_id=walks.ann, **walks.window)
    ben = next(one for one in found["contacts"] if one["staff_id"] == walks.ben)
    assert abs(ben["total_s"] - (TURN_S - LATER_S)) <= SLACK_S
    assert {one["room"] for one in ben["meetings"]} == {walks.first.room}
    assert found["count"] == len(found["contacts"])
    enough = api.get("listContacts", staff_id=walks.ann, least_s=LENGTH_S, **walks.window)
    assert walks.ben not in [one["staff_id"] for one in enough["contacts"]]
    turned = api.get("listContacts", staff_id=walks.ben, **walks.window)
    assert walks.ann in [one["staff_id"] for one in turned["contacts"]]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"start": "yesterday"}, "start is no time"),
        ({"start": 1_700_000_000_000}, "start looks like milliseconds"),
        ({"start": 20, "end": 10}, "start is after end"),
        ({"start": 0, "end": 32 * 86_400}, "more than 31 days"),
        ({"start": "2026-02-30T00:00:00Z"}, "start is no time"),
        ({"limit": 0}, "limit must be a whole number from 1 to 10000"),
        ({"limit": "many"}, "limit is not a number"),
        ({"limit": [1, 2]}, "limit must be given once"),
    ],
)
def test_an_invalid_parameter_is_named(api: Api, parameters: dict[str, Any], said: str) -> None:
    assert said in api.ask("listLocations", expected=400, staff_id="0", **parameters).json()["error"]


def _rfc_3339(ms: int) -> str:
    moment = datetime.fromtimestamp(ms / 1000, UTC).astimezone(timezone(timedelta(hours=8)))
    return moment.isoformat(timespec="milliseconds")
