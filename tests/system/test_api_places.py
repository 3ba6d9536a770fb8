"""`/api/v1` of rooms and levels: presence, visits, rankings."""

import pytest
from support.api import Api
from support.building import Building
from support.walks import LATER_S, SLACK_S, TURN_S, Walks

pytestmark = pytest.mark.usefixtures("stack")


def test_levels_count_who_is_there_now(api: Api, walks: Walks, demo: Building) -> None:
    levels = api.get("listLevels")["levels"]
    assert [one["level"] for one in levels] == [one["id"] for one in demo.raw["levels"]]
    level = next(one for one in levels if one["level"] == walks.second.level)
    assert level["count"] >= 2
    assert {walks.first.room, walks.second.room} <= set(level["rooms"])
    whole = api.get("getLevel", level=walks.second.level)
    assert [room["room"] for room in whole["rooms"]] == level["rooms"]
    assert sum(room["count"] for room in whole["rooms"]) == whole["count"]


def test_rooms_are_listed_by_id_with_their_people(api: Api, walks: Walks, demo: Building) -> None:
    rooms = api.pages("listRooms", "rooms", limit=7)
    ids = [one["room"] for one in rooms]
    assert ids == sorted(ids)
    assert set(ids) == {room["id"] for level in demo.raw["levels"] for room in level["rooms"]}
    people = {one["room"]: [person["staff_id"] for person in one["people"]] for one in rooms}
    assert walks.ann in people[walks.second.room]
    assert walks.ben in people[walks.third.room]
    only = api.pages("listRooms", "rooms", level=walks.second.level)
    assert {one["level"] for one in only} == {walks.second.level}


def test_one_room_with_its_plan(api: Api, walks: Walks, demo: Building) -> None:
    room = api.get("getRoom", room=walks.second.room)
    assert (room["name"], room["level"]) == (demo.room_name(walks.second.room), walks.second.level)
    assert room["count"] == len(room["people"])
    assert room["listed"]
    assert len(room["polygon"]) >= 3


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [("getRoom", {"room": "nowhere"}), ("getLevel", {"level": "L99"}), ("listVisits", {"room": "nowhere"})],
)
def test_unknown_place_is_404(api: Api, operation: str, parameters: dict[str, str]) -> None:
    assert "there is no" in api.ask(operation, expected=404, **parameters).json()["error"]


def test_visits_of_a_room_newest_first(api: Api, walks: Walks) -> None:
    mine = [
        one
        for one in api.pages("listVisits", "visits", room=walks.first.room, limit=1, **walks.window)
        if one["staff_id"] in {walks.ann, walks.ben}
    ]
    assert [one["staff_id"] for one in mine] == [walks.ben, walks.ann]
    assert abs(mine[1]["duration_s"] - TURN_S) <= SLACK_S
    assert mine[1]["in_window_s"] == mine[1]["duration_s"]
    middle = {"start": walks.start_ms / 1000 + LATER_S + 30, "end": walks.start_ms / 1000 + LATER_S + 40}
    cut = api.get("listVisits", room=walks.first.room, **middle)["visits"]
    assert {one["staff_id"]: one["in_window_s"] for one in cut if one["staff_id"] in {walks.ann, walks.ben}} == {
        walks.ann: 10,
        walks.ben: 10,
    }
    visits = api.get("listVisits", room=walks.second.room)["visits"]
    now = next(one for one in visits if one["staff_id"] == walks.ann)
    assert now["ongoing"]


def test_patrols_have_the_last_visitor_of_each_room(api: Api, walks: Walks, demo: Building) -> None:
    past = {"start": walks.start_ms / 1000 - 1, "end": walks.turn_ms / 1000 - SLACK_S}
    patrols = {one["room"]: one for one in api.get("listPatrols", level=walks.first.level, **past)["patrols"]}
    assert list(patrols) == [
        room["id"] for level in demo.raw["levels"] if level["id"] == walks.first.level for room in level["rooms"]
    ]
    last = patrols[walks.first.room]
    assert last["staff_id"] in {walks.ann, walks.ben}
    assert last["last_ms"] == past["end"] * 1000
    assert last["age_s"] == 0
    assert patrols[walks.second.room]["staff_id"] not in {walks.ann, walks.ben}
    now = next(one for one in api.get("listPatrols")["patrols"] if one["room"] == walks.second.room)
    assert now["ongoing"]
    assert now["staff_id"] in {one["staff_id"] for one in api.get("getRoom", room=walks.second.room)["people"]}
    long = {one["room"]: one for one in api.get("listPatrols", least_s=86_400)["patrols"]}
    assert long[walks.second.room]["last_ms"] is None


@pytest.mark.parametrize("by", ["visits", "time"])
def test_top_rooms(api: Api, walks: Walks, by: str) -> None:
    rooms = api.get("rankRooms", by=by, limit=1000, **walks.window)["rooms"]
    first = next(one for one in rooms if one["room"] == walks.first.room)
    assert first["visits"] >= 2
    assert first["staff"] >= 2
    assert first["time_s"] >= TURN_S * 2 - LATER_S - 2 * SLACK_S
    key = "visits" if by == "visits" else "time_s"
    assert [one[key] for one in rooms] == sorted((one[key] for one in rooms), reverse=True)
    assert api.get("rankRooms", by=by, limit=1, **walks.window)["rooms"] == rooms[:1]


@pytest.mark.parametrize("by", ["visits", "time"])
def test_top_staff(api: Api, walks: Walks, by: str) -> None:
    staff = api.get("rankStaff", by=by, limit=1000, **walks.window)["staff"]
    ann = next(one for one in staff if one["staff_id"] == walks.ann)
    assert (ann["visits"], ann["rooms"], ann["name"]) == (2, 2, None)
    key = "visits" if by == "visits" else "time_s"
    assert [one[key] for one in staff] == sorted((one[key] for one in staff), reverse=True)
