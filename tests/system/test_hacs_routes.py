"""The three HACS-era routes, clause by clause."""

import time
import uuid
from functools import partial
from typing import Any

import pytest
from support import web
from support.building import Building
from support.running import RunningStack
from support.stack_client import at_least, batch, eventually, get, history, influx, now_ms, publish
from support.stored import stored_readings

WINDOW = {"staff_id": "0", "start_time": "1637396900", "end_time": "1637396960"}


def test_published_readings_become_history_newest_first(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    start_ms = now_ms() - 60_000
    publish(
        stack,
        ("phone/hist-1/readings", batch((first.id, -50), ts=start_ms)),
        ("phone/hist-1/readings", batch((second.id, -50), ts=start_ms + 50_000)),
    )
    records = eventually(lambda: at_least(2, history(stack, "hist-1", start_ms / 1000 - 1, time.time())))
    assert records == [
        {"level": second.level, "location": demo.room_name(second.room), "timestamp": (start_ms + 50_000) // 1000},
        {"level": first.level, "location": demo.room_name(first.room), "timestamp": start_ms // 1000},
    ]


def test_window_is_inclusive_at_both_ends(stack: RunningStack, demo: Building) -> None:
    beacon = demo.beacons_of_two_rooms()[0]
    base_s = int(time.time()) - 40
    messages = [("phone/hist-2/readings", batch((beacon.id, -50), ts=(base_s + n) * 1000 + 500)) for n in range(10)]
    publish(stack, *messages)
    eventually(lambda: at_least(10, history(stack, "hist-2", base_s, base_s + 9)))
    assert [r["timestamp"] for r in history(stack, "hist-2", base_s + 2, base_s + 4)] == [
        base_s + 4,
        base_s + 3,
        base_s + 2,
    ]
    assert [r["timestamp"] for r in history(stack, "hist-2", base_s + 3, base_s + 3)] == [base_s + 3]


def test_an_answer_says_up_to_where_it_is_complete(stack: RunningStack) -> None:
    end_s = int(time.time()) - 20
    for staff_id in ("nobody", "nobody,else", "*"):
        answer = get(stack, "/extractbeacon", staff_id=staff_id, start_time=end_s - 1, end_time=end_s)
        # after a break of the broker it is earlier for a while
        complete_ms = int(answer.headers["X-Complete-Until-Ms"])
        assert (end_s - 1) * 1000 <= complete_ms <= (end_s + 1) * 1000, staff_id


@pytest.mark.parametrize("how", ["query", "form", "json", "post-query"])
def test_parameters_come_from_query_form_or_json(stack: RunningStack, demo: Building, how: str) -> None:
    beacon = demo.beacons_of_two_rooms()[0]
    ts = now_ms() - 5_000
    publish(stack, ("phone/42/readings", batch((beacon.id, -50), ts=ts)))
    url = f"{stack.http_url}/extractbeacon"
    parameters: dict[str, Any] = {"staff_id": 42, "start_time": ts // 1000, "end_time": ts // 1000}
    method, sent_as = {
        "query": ("GET", "params"),
        "form": ("POST", "data"),
        "json": ("POST", "json"),
        "post-query": ("POST", "params"),
    }[how]
    asked: dict[str, Any] = {sent_as: parameters}
    eventually(lambda: web.request(method, url, **asked).json()["location"], what=how)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"staff_id": None}, "staff_id"),
        ({"staff_id": ""}, "staff_id"),
        ({"start_time": None}, "start_time"),
        ({"end_time": None}, "end_time"),
        ({"start_time": "yesterday"}, "start_time"),
        ({"end_time": "NaN"}, "end_time"),
        ({"end_time": "Infinity"}, "end_time"),
        ({"start_time": "1637396919123", "end_time": "1637396919124"}, "start_time"),
        ({"end_time": "1637396899"}, "end_time"),
        ({"staff_id": ["0", "1"]}, "staff_id"),
        ({"staff_id": "0' OR '1'='1"}, "staff_id"),
    ],
    ids=str,
)
def test_an_invalid_parameter_is_named(stack: RunningStack, change: dict[str, Any], names: str) -> None:
    parameters = {key: value for key, value in {**WINDOW, **change}.items() if value is not None}
    answer = get(stack, "/extractbeacon", **parameters)
    assert answer.status_code == 400
    assert names in answer.json()["error"]
    assert answer.json()["location"] == []


def test_unknown_staff_member_is_an_empty_list(stack: RunningStack) -> None:
    answer = get(stack, "/extractbeacon", **{**WINDOW, "staff_id": "nobody-at-all"})
    assert (answer.status_code, answer.json()) == (200, {"location": []})


def test_broken_json_body_is_a_named_400_in_json(stack: RunningStack) -> None:
    headers = {"Content-Type": "application/json"}
    answer = web.post(f"{stack.http_url}/extractbeacon", content=b'{"staff_id": ', headers=headers)
    assert answer.status_code == 400
    assert "JSON" in answer.json()["error"]


def test_detection_is_in_history_within_two_seconds_and_in_influxdb(stack: RunningStack, demo: Building) -> None:
    beacon = demo.beacons_of_two_rooms()[1]
    written = ":".join(beacon.id[i : i + 2] for i in range(0, 12, 2)).lower()
    before_s = int(time.time())
    answer = get(stack, "/newbeacondetect", user_address="0", beacon_address=written, rssi="-20")
    assert (answer.status_code, answer.text) == (200, "New Beacon Detection Added")
    records = eventually(lambda: history(stack, "0", before_s, time.time()), within_s=2)
    assert records[0]["location"] == demo.room_name(beacon.room)
    new = f"time >= {before_s}s"
    stored = partial(stored_readings, stack, f"{new} AND receiver = '0'", beacon.id)
    eventually(lambda: [row for row in stored() if row["rssi"] == -20])
    location = f"SELECT room FROM location WHERE {new} AND staff_id = '0' AND room = '{beacon.room}'"  # noqa: S608
    eventually(lambda: influx(stack, "locations", location))


@pytest.mark.parametrize(
    ("parameters", "status", "names"),
    [
        ({"beacon_address": "{known}", "rssi": "-20"}, 400, "staff_id"),
        ({"staff_id": "0", "rssi": "-20"}, 400, "beacon_address"),
        ({"staff_id": "0", "beacon_address": "{known}", "rssi": ""}, 400, "rssi"),
        ({"staff_id": "0", "beacon_address": "{known}", "rssi": "loud"}, 400, "rssi"),
        ({"staff_id": "0", "beacon_address": "{known}", "rssi": "-200"}, 400, "rssi"),
        ({"staff_id": "../gateway/x", "beacon_address": "{known}", "rssi": "-20"}, 400, "staff_id"),
        ({"staff_id": "0", "beacon_address": "FFFFFFFFFF00", "rssi": "-20"}, 404, "FFFFFFFFFF00"),
    ],
    ids=str,
)
def test_an_invalid_detection_names_the_fault(
    stack: RunningStack, demo: Building, parameters: dict[str, str], status: int, names: str
) -> None:
    known = demo.beacons_of_two_rooms()[0].id
    answer = get(stack, "/newbeacondetect", **{key: value.format(known=known) for key, value in parameters.items()})
    assert answer.status_code == status
    assert names in answer.json()["error"]


def test_answers_of_a_thousand_bytes_and_more_are_gzipped(stack: RunningStack, demo: Building) -> None:
    beacon = demo.beacons[0]
    base_s = int(time.time()) - 100
    who = f"zip-{uuid.uuid4().hex[:8]}"
    publish(stack, *((f"phone/{who}/readings", batch((beacon.id, -50), ts=(base_s + n) * 1000)) for n in range(60)))
    eventually(lambda: at_least(60, history(stack, who, base_s, base_s + 59)))
    for seconds, encoding in ((0, None), (59, "gzip")):
        window = {"staff_id": who, "start_time": base_s, "end_time": base_s + seconds}
        answer = web.get(f"{stack.http_url}/extractbeacon", params=window, headers={"Accept-Encoding": "gzip"})
        assert answer.headers.get("content-encoding") == encoding
        assert len(answer.json()["location"]) == seconds + 1


def test_monitoring_shows_people_from_before_a_restart(stack: RunningStack, demo: Building) -> None:
    """Older than the part that a start locates again: only the database has it."""
    who, beacon, ts = f"mon-{uuid.uuid4().hex[:8]}", demo.beacons[0], now_ms() - 300_000
    publish(stack, (f"phone/{who}/readings", batch((beacon.id, -50), ts=ts)))
    located = f"SELECT room FROM location WHERE staff_id = '{who}'"  # noqa: S608 - our own name
    eventually(lambda: influx(stack, "locations", located), within_s=60)
    stack.stop("node-red")
    stack.start("node-red")
    eventually(lambda: who in _monitored(stack), within_s=60)
    found = _monitored(stack)[who]
    assert (found["mac"], found["rssi"], found["timestamp"]) == (beacon.id, -50, ts // 1000)


def test_monitoring_lists_the_latest_locations_of_fifteen_minutes(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    now = now_ms()
    publish(
        stack,
        ("phone/mon-old/readings", batch((first.id, -50), ts=now - 16 * 60_000)),
        ("phone/mon-1/readings", batch((first.id, -51), ts=now - 2_000)),
        ("phone/mon-2/readings", batch((first.id, -50), ts=now - 50_000)),
        ("phone/mon-2/readings", batch((second.id, -52), ts=now - 1_000)),
    )
    eventually(lambda: "mon-2" in _monitored(stack) and "mon-1" in _monitored(stack))
    assert _monitored(stack)["mon-2"] == {
        "staff_id": "mon-2",
        "level": second.level,
        "location": demo.room_name(second.room),
        "timestamp": (now - 1_000) // 1000,
        "rssi": -52,
        "mac": second.id,
    }
    assert "mon-old" not in _monitored(stack)
    times = [row["timestamp"] for row in get(stack, "/retrieveformonitoring").json()["data"]]
    assert times == sorted(times, reverse=True)


def _monitored(stack: RunningStack) -> dict[str, dict[str, Any]]:
    return {row["staff_id"]: row for row in get(stack, "/retrieveformonitoring").json().get("data", [])}
