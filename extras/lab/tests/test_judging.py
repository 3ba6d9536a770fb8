"""Answers are compared with what is true, counts with what was acknowledged, rooms with the true ones."""

import json
from typing import Any

from lab.accuracy import Accuracy, judge
from lab.calls import CallContext, Place, Site, hacs, history, monitoring, site_of
from lab.catalogue import CALLS, LARGE_BYTES
from lab.plan import Plan, Step
from lab.samples import Sample
from lab.summary import expected, live

PLACES = (Place("A0", "L1", "a", "Room A"), Place("B0", "L2", "b", "Room B"))
SITE = Site(PLACES, past_end_s=9_000, run="x")


def call_context(**given: Any) -> CallContext:
    return CallContext(
        **{"site": SITE, "number": 0, "staff": 1, "first": 0, "rows": 0, "now_s": 100.0, "begun_s": 0.0, **given}
    )


def answer(*records: tuple[int, Place]) -> bytes:
    listed = [{"timestamp": at, "level": place.level, "location": place.room_name} for at, place in records]
    return json.dumps({"location": listed}).encode()


def test_a_history_must_have_every_record_in_its_room() -> None:
    call = history(call_context(rows=3))
    right = [(second, SITE.past_place(second)) for second in (9_000, 8_999, 8_998)]
    assert call.judge(answer(*right)) == ("", -1.0)
    assert call.judge(answer(*right[:2]))[0] == "2 records instead of 3"
    assert call.judge(answer(right[1], right[0], right[2]))[0] == "record 0 is wrong"


def test_a_poll_must_be_in_its_window_newest_first_and_in_the_right_room() -> None:
    call = hacs(call_context())
    assert call.judge(answer((100, PLACES[0]), (99, PLACES[0])))[0] == ""
    assert call.judge(answer((99, PLACES[0]), (100, PLACES[0])))[0] == "records are not newest first"
    assert call.judge(answer((80, PLACES[0])))[0] == "a record outside of the window"
    assert call.judge(answer((100, PLACES[1])))[0] == "wrong room Room B instead of Room A"


def test_a_viewer_sees_how_old_the_oldest_sender_is() -> None:
    def shown(*people: tuple[str, int, Place]) -> bytes:
        rows = [
            {"staff_id": who, "timestamp": at, "level": place.level, "location": place.room_name}
            for who, at, place in people
        ]
        return json.dumps({"data": rows}).encode()

    call = monitoring(call_context(devices=2))
    assert call.judge(shown(("lab-x-0", 99, PLACES[0]), ("lab-x-1", 97, PLACES[1]))) == ("", 3000.0)
    assert call.judge(shown(("lab-x-0", 99, PLACES[1])))[0] == "lab-x-0 is shown in Room B instead of Room A"
    assert call.judge(shown(("lab-y-0", 1, PLACES[1]), ("7", 1, PLACES[1]), ("lab-x-2", 1, PLACES[1]))) == ("", -1.0)


def test_the_truth_takes_one_beacon_of_each_room_first() -> None:
    levels = [{"id": "L1", "rooms": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}]
    beacons = [{"id": one, "level": "L1", "room": room} for one, room in (("A0", "a"), ("A1", "a"), ("B0", "b"))]
    assert [one.beacon for one in site_of({"levels": levels, "beacons": beacons}).places] == ["A0", "B0", "A1"]


def test_a_large_answer_is_read_again_as_soon_as_it_is_another_one() -> None:
    call = CALLS["staff"](call_context())
    people = json.dumps({"staff": [{"id": "7"}], "padding": "x" * LARGE_BYTES}).encode()
    nobody = json.dumps({"staff": [], "padding": "x" * LARGE_BYTES}).encode()
    assert [call.judge(body)[0] for body in (people, people, nobody, nobody, people)] == [
        "", "", "0 of staff instead of 1", "0 of staff instead of 1", "",
    ]  # fmt: skip


def sent(call: str, fault: str = "", status: int = 0, readings: int = 2) -> Sample:
    return Sample(0, 0, call, "lab-0", 0, 0, 1, status, fault, 0, 0, readings, -1, 0)


def test_only_what_was_acknowledged_must_be_stored() -> None:
    some = [
        sent("message"),
        sent("message", "not acknowledged"),
        sent("insert", "HTTP 503", 503, 0),
        sent("hacs", "", 200, 0),
    ]
    assert expected(some) == ({"lab-0": 2}, {"lab-0": 3})


def test_rooms_are_judged_second_by_second_between_start_and_end() -> None:
    course = [(0, "L1", "a"), (60_000, "L2", "b"), (100_000, "", "")]
    said = [(10, "L2", "b"), (50, "L1", "a"), (59, "L1", "b"), (70, "L2", "b"), (99, "L1", "a")]
    assert judge({"7": course}, {"7": said}) == Accuracy(people=1, seconds=68, located=3, right=2, level_right=3)


def test_the_live_view_of_a_step_is_judged_by_what_was_said_within_it() -> None:
    plan = Plan("s", "S", "", "short", (Step("calm", 0, 0, 20, ()),))
    said = [{"ms": 100_000 + at, "p50_ms": p50, "p99_ms": p50 + 500} for at, p50 in
            ((-2000, 1), (3000, 2), (8000, 600), (13_000, 500), (18_000, 5500), (23_000, 3))]  # fmt: skip
    run = {"step": 0, "begun_ms": 100_000, "seconds": 20}
    assert live(plan, run, said) == {"step": 0, "name": "calm", "p50_ms": 600, "p99_ms": 1100, "worst_p99_ms": 6000}
    assert live(plan, run, said[:2]) is None
