"""Every case of `cases` through the real broker, Telegraf, InfluxDB and flows."""

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from support.building import Building
from support.running import RunningStack
from support.stack_client import connect, end, eventually, influx, now_ms
from support.stored import stored_with_measurements, stored_without_rssi

from ingest.case import Case, load, names, names_with_refusals

# Measurement -> its bucket, the tag that holds a case's receiver.
STORED = {
    "reading": ("readings", "receiver"),
    "measured": ("readings", "receiver"),
    "gateway_status": ("health", "gateway"),
    "gateway_health": ("health", "gateway"),
    "location": ("locations", "staff_id"),
    "stay": ("locations", "staff_id"),
    "event": ("locations", "subject"),
    "rejected": ("health", "receiver"),
}
# The end of a topic -> what its messages become. The last three come from the flows, the others from receivers.
BECOMES = {
    "/readings": ("reading", "measured"),
    "/status": ("gateway_status",),
    "/health": ("gateway_health",),
    "/locations": ("location", "stay"),
    "/events": ("event",),
    "/rejected": ("rejected",),
}
FROM_FLOWS = ("/locations", "/events", "/rejected")
LARGEST_PACKET = 65_664


@dataclass(frozen=True, slots=True)
class Played:
    """All cases, sent; `sent_ms` is when."""

    cases: Mapping[str, Case]
    sent_ms: int


@pytest.fixture(scope="module")
def played(session_stack: RunningStack, demo: Building) -> Played:
    """Send every case, then wait until the last message on each topic is stored."""
    run, sent_ms = uuid.uuid4().hex[:8], now_ms()
    beacons = [beacon.id for beacon in demo.beacons]
    cases = {name: load(name, f"{run}-{name}", beacons, sent_ms) for name in names()}
    last, place = f"{run}-end", {"level": demo.beacons[0].level, "room": demo.beacons[0].room}
    ends = {
        "sda/v1/gateway/{}/readings": {"v": 1, "ts": sent_ms, "readings": [{"beacon": beacons[0], "rssi": -60}]},
        "sda/v1/gateway/{}/status": {"state": "online", "ts": sent_ms},
        "sda/v1/gateway/{}/health": {"ts": sent_ms, "uptime_s": 1},
        "sda/v1/locations": {
            "v": 1,
            "locations": [{"ts": sent_ms, "staff_id": last, **place, "beacon": beacons[0], "rssi": -60}],
        },
        "sda/v1/events": {"ts": sent_ms, "type": "enter", "subject": last, "room": "x"},
        "sda/v1/phone/{}/readings": "refused",
    }
    with client_of(session_stack, "simulator") as receivers, client_of(session_stack, "nodered-publisher") as flows:
        for case in cases.values():
            send(session_stack, flows if case.topic.endswith(FROM_FLOWS) else receivers, case)
        for topic, payload in ends.items():
            end = Case(topic.format(last), json.dumps(payload).encode(), 1, last, [])
            send(session_stack, flows if topic.endswith(FROM_FLOWS) else receivers, end)
    for measurement in ("reading", "gateway_status", "gateway_health", "location", "event", "rejected"):
        eventually(partial(points, session_stack, measurement, last), within_s=60, what=f"the last {measurement}")
    return Played(cases, sent_ms)


@pytest.mark.parametrize("name", names())
def test_points_are_those_expected(session_stack: RunningStack, played: Played, name: str) -> None:
    case = played.cases[name]
    measurements = next(become for end, become in BECOMES.items() if case.topic.endswith(end))
    found = [point for measurement in measurements for point in points(session_stack, measurement, case.receiver)]
    expected = [dict(point) for point in case.points]
    for wanted, point in zip(expected, found, strict=False):
        if wanted["time"] == "$arrival" and played.sent_ms <= point["time"] <= now_ms():
            wanted["time"] = point["time"]
    assert sorted(found, key=order) == sorted(expected, key=order)


@pytest.mark.parametrize("name", names_with_refusals())
def test_refusals_are_those_expected(session_stack: RunningStack, played: Played, name: str) -> None:
    case = played.cases[name]
    found = [(point["reason"], point["count"]) for point in points(session_stack, "rejected", case.receiver)]
    assert sorted(found) == sorted(case.rejected)


@pytest.mark.usefixtures("played")
def test_field_types_are_the_contracts(session_stack: RunningStack) -> None:
    optional = {"battery_mv": "integer", "temperature_c": "float", "humidity_pct": "float"}
    place = {"level": "string", "room": "string"}
    assert field_types(session_stack, "batch") == {"readings": "string"}
    assert field_types(session_stack, "probe") == {"ms": "integer"}  # of the flows' start
    by = {"kind": "string", "receiver": "string"}
    assert field_types(session_stack, "heard") == {"rssi": "integer"} | by
    assert field_types(session_stack, "measured") == optional | by
    sure = {"sure_pct": "integer", "runner_up": "string", "corrected": "boolean"}
    assert field_types(session_stack, "location") == place | {"beacon": "string", "rssi": "integer"} | sure
    times = {"enter_ms": "integer", "leave_ms": "integer", "duration_s": "float"}
    assert field_types(session_stack, "stay") == place | times
    assert field_types(session_stack, "event") == place | {"reason": "string"} | dict.fromkeys(
        ("count", "limit", "battery_mv"), "integer"
    )
    health = field_types(session_stack, "gateway_health")
    assert health.pop("version") == "string"
    assert set(health.values()) == {"float"}


@contextmanager
def client_of(stack: RunningStack, account: str) -> Iterator[mqtt.Client]:
    """A connected client of an account, closed at the end of the block."""
    client = connect(stack, account)
    try:
        yield client
    finally:
        end(client)


def send(stack: RunningStack, client: mqtt.Client, case: Case) -> None:
    """Publish the case's message; one above the broker's limit on a separate connection, until the broker closes it."""
    if len(case.payload) > LARGEST_PACKET:
        cut_off: list[object] = []
        with client_of(stack, "simulator") as own:
            own.on_disconnect = lambda *reason: cut_off.append(reason)
            own.publish(case.topic, case.payload, qos=1)
            eventually(lambda: cut_off, what="the connection cut off")
        return
    for _ in range(case.times):
        client.publish(case.topic, case.payload, qos=1).wait_for_publish(10)


def points(stack: RunningStack, measurement: str, receiver: str) -> list[dict[str, Any]]:
    """Stored points of a receiver, gateway or staff member, without empty fields."""
    bucket, tag = STORED[measurement]
    if measurement in ("reading", "measured"):
        stored = stored_with_measurements if measurement == "reading" else stored_without_rssi
        return [{"measurement": measurement} | row for row in stored(stack, f"receiver = '{receiver}'")]
    rows = influx(stack, bucket, f"SELECT * FROM {measurement} WHERE {tag} = '{receiver}'")  # noqa: S608 - our own names
    return [{"measurement": measurement} | {key: val for key, val in row.items() if val is not None} for row in rows]


def field_types(stack: RunningStack, measurement: str) -> dict[str, str]:
    bucket = STORED.get(measurement, ("readings", ""))[0]
    rows = influx(stack, bucket, f"SHOW FIELD KEYS FROM {measurement}")
    return {row["fieldKey"]: row["fieldType"] for row in rows}


def order(point: Mapping[str, Any]) -> str:
    return json.dumps(dict(point), sort_keys=True)
