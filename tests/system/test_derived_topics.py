"""Topics of the flows: locations, retained presence, events, refused messages."""

from itertools import groupby
from typing import Any

import pytest
from support.building import Building
from support.listening import Message, listening
from support.running import RunningStack
from support.stack_client import at_least, batch, eventually, influx, now_ms, publish
from support.stored import stored_readings


def _payloads(heard: list[Message], topic: str) -> list[dict[str, Any]]:
    return [one.payload for one in heard if one.topic == topic]


def test_presence_is_published_on_change_and_retained(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    start = now_ms() - 20_000
    with listening(stack, "staff/topic-1/location", "events") as heard:
        publish(stack, *[("phone/topic-1/readings", batch((first.id, -50), ts=start + n * 1000)) for n in range(4)])
        publish(stack, ("phone/topic-1/readings", batch((second.id, -30), ts=start + 15_000)))
        eventually(lambda: [one for one in _payloads(heard, "staff/topic-1/location") if one["room"] == second.room])
        reported = _payloads(heard, "staff/topic-1/location")
        kinds = eventually(
            lambda: at_least(3, [one for one in _payloads(heard, "events") if one.get("staff_id") == "topic-1"])
        )
    rooms = [(one["room"], one["level"], one["state"]) for one in reported]
    # within a room it may be reported again that they are probably there
    assert [room for room, _ in groupby(rooms)] == [
        (first.room, first.level, "present"),
        (second.room, second.level, "present"),
    ]
    sureness = {"probability", "probably", "runner_up"}
    assert reported[0].keys() == {"staff_id", "level", "room", "since", "ts", "state"} | sureness
    for one in reported:
        assert 0 <= one["probability"] <= 1
        assert one["probably"] == (one["probability"] < 0.7)
    assert [(one["type"], one["room"]) for one in kinds] == [
        ("enter", first.room),
        ("leave", first.room),
        ("enter", second.room),
    ]
    with listening(stack, "staff/topic-1/location") as later:
        eventually(lambda: later)
    assert later[0].retained, "the latest presence is retained"
    assert later[0].payload["room"] == second.room


def test_leaving_a_room_publishes_a_stay_with_its_time_of_entering(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    start = now_ms() - 60_000
    publish(stack, *[("phone/stay-1/readings", batch((first.id, -50), ts=start + n * 2000)) for n in range(11)])
    publish(stack, ("phone/stay-1/readings", batch((second.id, -30), ts=start + 40_000)))
    query = "SELECT level, room, enter_ms, leave_ms, duration_s FROM stay WHERE staff_id = 'stay-1'"
    stay = eventually(lambda: influx(stack, "locations", query))[0]
    assert (stay["time"], stay["enter_ms"], stay["level"], stay["room"]) == (start, start, first.level, first.room)
    assert start + 20_000 <= stay["leave_ms"] <= start + 40_000
    assert stay["duration_s"] == (stay["leave_ms"] - stay["enter_ms"]) / 1000


def test_how_sure_a_location_is_is_stored(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    start = now_ms() - 60_000
    # louder in turn, so that live guesses and history corrects it
    loud = [(first, second) if n % 6 < 3 else (second, first) for n in range(40)]
    publish(
        stack,
        *[
            ("phone/sure-1/readings", batch((near.id, -60), (far.id, -63), ts=start + n * 1000))
            for n, (near, far) in enumerate(loud)
        ],
    )
    query = "SELECT room, sure_pct, runner_up, corrected FROM location WHERE staff_id = 'sure-1'"
    stored = eventually(lambda: at_least(38, influx(stack, "locations", query)))
    assert all(0 <= one["sure_pct"] <= 100 for one in stored)
    unsure = [one for one in stored if one["sure_pct"] < 90]
    assert unsure
    assert all(one["runner_up"] is not None and one["runner_up"] != one["room"] for one in unsure)


def test_a_tag_is_located_at_the_gateway_with_the_strongest_rssi(stack: RunningStack, demo: Building) -> None:
    person, tag = demo.tagged()
    near, far = demo.gateways[0], next(one for one in demo.gateways if one.room != demo.gateways[0].room)
    ts = now_ms() - 5_000
    publish(
        stack,
        (f"gateway/{far.id}/readings", batch((tag, -80), ts=ts)),
        (f"gateway/{near.id}/readings", batch((tag, -50), ts=ts)),
        (f"gateway/{near.id}/readings", batch((tag, -50), ts=ts + 1000)),
        (f"gateway/{near.id}/readings", batch((tag, -50), ts=ts + 2000)),
    )
    query = f"SELECT last(room) AS room, beacon FROM location WHERE staff_id = '{person}'"  # noqa: S608
    eventually(lambda: [one for one in influx(stack, "locations", query) if one["room"] == near.room])


REFUSED: dict[str, tuple[bytes | dict[str, Any], str]] = {
    "not json": (b"\x00\xff{", "not_json"),
    "an array": (b"[1,2]", "not_a_batch"),
    "readings missing": ({"ts": 0}, "not_a_batch"),
    "too many": ({"ts": 0, "readings": [{"beacon": "C2A628384B08", "rssi": -60}] * 501}, "too_many_readings"),
    "other version": ({"v": 2, "ts": 0, "readings": []}, "version"),
    "no time": ({"readings": []}, "ts_missing"),
    "time as text": ({"ts": "now", "readings": []}, "ts_invalid"),
    "eight days old": ({"ts": -8 * 86_400_000, "readings": []}, "ts_too_old"),
    "ahead": ({"ts": 400 * 86_400_000, "readings": []}, "ts_ahead"),
    "rssi as text": ({"ts": 0, "readings": [{"beacon": "C2A628384B08", "rssi": "-60"}]}, "rssi_invalid"),
    "rssi not measured": ({"ts": 0, "readings": [{"beacon": "C2A628384B08", "rssi": 0}]}, "rssi_unknown"),
    "a tab in a text": (b'{"ts":0,"x":"\t","readings":[]}', "not_json"),
    "no utf-8": (b'{"ts":0,"x":"\xff","readings":[]}', "not_json"),
    "beacon as number": ({"ts": 0, "readings": [{"beacon": 12, "rssi": -60}]}, "beacon_invalid"),
}
"""Payload (numeric `ts` relative to now) and the reason of its refusal."""


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_message_is_stored_with_its_reason(stack: RunningStack, case: str) -> None:
    payload, reason = REFUSED[case]
    if isinstance(payload, dict) and isinstance(payload.get("ts"), int):
        payload = {**payload, "ts": payload["ts"] + now_ms()}
    receiver = f"bad-{case.replace(' ', '-')}"
    with listening(stack, "rejected", username="telegraf-rejected") as heard:
        publish(stack, (f"phone/{receiver}/readings", payload))
        mine = eventually(lambda: [one for one in _payloads(heard, "rejected") if one["receiver"] == receiver])
    assert [(one["reason"], one["kind"], one["topic"]) for one in mine] == [
        (reason, "phone", f"sda/v1/phone/{receiver}/readings")
    ]
    assert mine[0]["detail"]
    assert len(mine[0]["payload"]) <= 1024
    query = f"SELECT count, payload FROM rejected WHERE receiver = '{receiver}' AND reason = '{reason}'"  # noqa: S608
    assert eventually(lambda: influx(stack, "health", query))[0]["count"] == mine[0]["count"]


def test_an_invalid_reading_is_refused_and_others_are_stored(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    body = batch((first.id, -50), (second.id, -60))
    body["readings"].insert(1, {"beacon": first.id, "rssi": -200})
    with listening(stack, "rejected", username="telegraf-rejected") as heard:
        publish(stack, ("phone/neighbours/readings", body))
        eventually(lambda: [one for one in _payloads(heard, "rejected") if one["reason"] == "rssi_invalid"])
    stored = eventually(lambda: at_least(2, stored_readings(stack, "receiver = 'neighbours'")))
    assert {(one["beacon"], one["rssi"]) for one in stored} == {(first.id, -50), (second.id, -60)}
