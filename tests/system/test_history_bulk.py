"""`/extractbeacon` of several staff members, of long windows, and across the boundary of memory and database."""

import socket
import time
from functools import partial
from typing import Any

import httpx
import pytest
from support import web
from support.building import Building
from support.influx_writer import Stored, store_locations
from support.running import RunningStack
from support.stack_client import batch, eventually, get, history, now_ms, publish


def test_several_staff_get_the_same_records_as_each_alone(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    ts = now_ms() - 20_000
    publish(
        stack,
        *[(f"phone/bulk-{n}/readings", batch((first.id, -50), ts=ts + n * 1000)) for n in range(3)],
        ("phone/bulk-1/readings", batch((second.id, -30), ts=ts + 9000)),
    )
    start_s, end_s = ts / 1000 - 1, ts / 1000 + 12
    located = partial(_located, stack, {"bulk-0": 1, "bulk-1": 2, "bulk-2": 1}, start_s, end_s)
    eventually(located, within_s=60, what="all of them located: of before a start it takes its time")
    alone = {f"bulk-{n}": history(stack, f"bulk-{n}", start_s, end_s) for n in range(3)}
    assert _by_staff(history(stack, "bulk-0,bulk-1,bulk-2,nobody", start_s, end_s)) == alone
    everybody = _by_staff(history(stack, "*", start_s, end_s))
    assert {staff: everybody[staff] for staff in alone} == alone


def _located(stack: RunningStack, counts: dict[str, int], start_s: float, end_s: float) -> bool:
    return all(len(history(stack, who, start_s, end_s)) == count for who, count in counts.items())


def test_an_invalid_or_too_large_list_is_refused(stack: RunningStack) -> None:
    now_s = int(time.time())
    for staff, start_s, says in (
        ("0,", now_s - 10, "staff_id"),
        ("0,' OR 1=1", now_s - 10, "staff_id"),
        (",".join(map(str, range(1001))), now_s - 10, "1000 staff members"),
        ("0,1", now_s - 31 * 86_400, "end_time"),
        ("*", now_s - 31 * 86_400, "s of so many"),
    ):
        answer = get(stack, "/extractbeacon", staff_id=staff, start_time=start_s, end_time=now_s)
        assert answer.status_code == 400, staff
        assert says in answer.json()["error"]
        assert answer.json()["location"] == []


def test_records_across_memory_and_database_appear_once(stack: RunningStack, demo: Building) -> None:
    """Records of the database only, of both, and of memory only."""
    beacon = demo.beacons_of_two_rooms()[0]
    now_s = int(time.time())
    old_s = now_s - 900
    past = [Stored("seam", (old_s + n) * 1000, "L1", "l1-lobby") for n in range(500)]
    store_locations(stack, past)
    recent_s = range(now_s - 60, now_s - 10, 2)
    publish(stack, *[("phone/seam/readings", batch((beacon.id, -50), ts=s * 1000 + 500)) for s in recent_s])
    expected = [*reversed(recent_s), *reversed(range(old_s, old_s + 500))]
    eventually(lambda: [r["timestamp"] for r in history(stack, "seam", old_s, now_s)] == expected, within_s=60)
    bulk = _by_staff(history(stack, "seam,nobody", old_s, now_s))
    assert [r["timestamp"] for r in bulk["seam"]] == expected


def test_all_staff_of_a_time_that_only_the_database_has(stack: RunningStack) -> None:
    from_s = int(time.time()) - 7200
    people = ["a", "a.b", "a-b", "a_b", "B", "10", "9", "100"]
    store_locations(
        stack, (Stored(f"then{who}", (from_s + n) * 1000, "L1", "l1-lobby") for who in people for n in range(30))
    )
    found = _by_staff(history(stack, "*", from_s + 10, from_s + 20))
    expected = list(range(from_s + 20, from_s + 9, -1))
    assert {f"then{who}" for who in people} <= found.keys()
    assert all([r["timestamp"] for r in found[f"then{who}"]] == expected for who in people)


def test_a_long_window_is_streamed_completely_newest_first(stack: RunningStack) -> None:
    end_s = int(time.time()) - 3600
    count = store_locations(
        stack, (Stored("long", (end_s - n) * 1000, "L1", f"room-{n // 600 % 7}") for n in range(60_000))
    )
    asked: dict[str, str | int] = {"staff_id": "long", "start_time": 0, "end_time": end_s + 100}
    with (
        web.Client(base_url=stack.http_url, timeout=30) as caller,
        caller.stream("GET", "/extractbeacon", params=asked) as answer,
    ):
        assert answer.status_code == 200
        assert "content-length" not in answer.headers
        answer.read()
        records = answer.json()["location"]
    assert [record["timestamp"] for record in records] == list(range(end_s, end_s - count, -1))
    assert {record["location"] for record in records} == {f"room-{n}" for n in range(7)}


def test_a_stream_that_the_database_aborts_is_not_terminated(stack: RunningStack) -> None:
    end_s = int(time.time()) - 3600
    store_locations(stack, (Stored("cut", (end_s - n) * 1000, "L1", "l1-lobby") for n in range(400_000)))
    asked: dict[str, str | int] = {"staff_id": "cut", "start_time": 0, "end_time": end_s + 100}
    narrow = httpx.HTTPTransport(socket_options=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)])
    with (
        web.Client(base_url=stack.http_url, transport=narrow, timeout=60) as caller,
        caller.stream("GET", "/extractbeacon", params=asked) as answer,
    ):
        assert answer.status_code == 200
        pieces = answer.iter_bytes()
        next(pieces)  # the rest waits until it is read: 25 MB, more than all socket buffers
        stack.kill("influxd")
        with pytest.raises(httpx.RemoteProtocolError):
            list(pieces)


@pytest.mark.parametrize("staff", ["nobody-0", "nobody-0,nobody-1"])
def test_a_window_of_years_works(stack: RunningStack, staff: str) -> None:
    answer = get(stack, "/extractbeacon", staff_id=staff, start_time=0, end_time=86_400)
    assert (answer.status_code, answer.json()) == (200, {"location": []})


def _by_staff(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        staff = record.pop("staff_id")
        assert staff not in found or staff == list(found)[-1], "one staff member after the other"
        found.setdefault(staff, []).append(record)
    return found
