"""Alerts: raised with a remedy, acknowledgements survive a restart."""

import json
from typing import Any

from stack.layout import ROOT
from support.building import Building
from support.keys import admin, asking, named_key
from support.running import RunningStack
from support.stack_client import batch, connect, end, eventually, forget_session, get, now_ms, publish

WITHIN_S = 45.0


def alert(stack: RunningStack, id_: str) -> dict[str, Any] | None:
    """The alert with that id, if any."""
    alerts: list[dict[str, Any]] = get(stack, "/api/v1/alerts").json()["alerts"]
    return next((one for one in alerts if one["id"] == id_), None)


def wait_for_alert(stack: RunningStack, id_: str, within_s: float = WITHIN_S) -> dict[str, Any]:
    """Wait for the alert with that id."""

    def goes_on() -> dict[str, Any] | None:
        found = alert(stack, id_)
        return found if found and found["ended_ms"] is None else None

    return eventually(goes_on, within_s, f"the alert {id_}") or {}


def retain_status(stack: RunningStack, gateway: str, state: str) -> None:
    client = connect(stack)
    body = json.dumps({"state": state, "ts": now_ms(), "version": "1.2.3"})
    client.publish(f"sda/v1/gateway/{gateway}/status", body, qos=1, retain=True).wait_for_publish(10)
    end(client)


def test_a_gateway_alert_is_acknowledged_over_a_restart_and_ends(stack: RunningStack, demo: Building) -> None:
    gateway = demo.gateways[0]
    id_ = f"gateway_down:{gateway.id}"
    retain_status(stack, gateway.id, "online")
    retain_status(stack, gateway.id, "offline")
    down = wait_for_alert(stack, id_)
    assert (down["severity"], down["room"]) == ("critical", gateway.room)
    assert demo.room_name(gateway.room) in down["text"]
    assert "gateway-agent doctor" in down["todo"]
    with asking(stack, named_key(stack, "watcher", "presence")) as watcher:
        assert watcher.post(f"/api/v1/alerts/{id_}/acknowledge").status_code == 403
    with admin(stack) as caller:
        seen = caller.post(f"/api/v1/alerts/{id_}/acknowledge").json()
    assert seen["acknowledged"]["by"] == "SDA_API_KEY"
    stack.kill("node-red")
    stack.start("node-red")
    after = wait_for_alert(stack, id_)
    assert after["acknowledged"] == seen["acknowledged"]
    assert after["raised_ms"] == seen["raised_ms"]
    retain_status(stack, gateway.id, "online")
    client = connect(stack)

    def works_again() -> bool:
        client.publish(f"sda/v1/gateway/{gateway.id}/health", json.dumps({"ts": now_ms(), "queued": 0}), qos=1)
        return alert(stack, id_) is None

    eventually(works_again, within_s=180, what="its end, which somebody has seen already")
    end(client)


def test_alerts_for_battery_crowd_and_refused_messages(stack: RunningStack, demo: Building) -> None:
    beacon = demo.beacons[5]
    level, room = next(
        (level["id"], room) for level in demo.raw["levels"] for room in level["rooms"] if "limit" in room
    )
    inside = next(one for one in demo.beacons if one.room == room["id"])
    low = {"v": 1, "ts": now_ms(), "readings": [{"beacon": beacon.id, "rssi": -60, "battery_mv": 2210}]}
    publish(
        stack,
        ("phone/battery/readings", low),
        ("phone/nonsense/readings", "this is no JSON"),
        *((f"phone/crowd-{n}/readings", batch((inside.id, -40))) for n in range(room["limit"] + 1)),
    )
    refused = wait_for_alert(stack, "messages_refused:nonsense")
    assert "not_json" in refused["text"]
    crowded = wait_for_alert(stack, f"room_crowded:{room['id']}")
    assert crowded["level"] == level
    assert f"limit is {room['limit']}" in crowded["text"]
    lost = wait_for_alert(stack, "sda_lost:crowd-0", within_s=90)
    assert demo.room_name(room["id"]) in lost["text"]
    assert "2.21 V" in wait_for_alert(stack, f"battery_low:{beacon.id}", within_s=90)["text"]


def test_an_ambiguous_location_is_not_lost(stack: RunningStack, demo: Building) -> None:
    who, (first, second) = demo.raw["staff"][-1]["id"], demo.beacons_of_two_rooms()
    states: list[str | None] = []

    def state() -> str | None:
        presence = get(stack, f"/api/v1/staff/{who}").json()["presence"]
        states.append(presence and presence["state"])
        return states[-1]

    assert state() is None
    publish(stack, (f"phone/{who}/readings", batch((first.id, -84), (second.id, -84))))
    eventually(state, what=f"{who} is somewhere")
    assert set(states) == {None, "present"}
    assert alert(stack, f"sda_lost:{who}") is None


def test_alert_for_ingest_behind_has_its_reason(stack: RunningStack) -> None:
    stack.stop("telegraf")
    behind = wait_for_alert(stack, "ingest_behind:ingest", within_s=60)
    assert behind["severity"] == "critical"
    assert "no heartbeat" in behind["text"]
    stack.start("telegraf")


def test_unregistered_beacons_and_gateways_are_candidates(stack: RunningStack) -> None:
    ts = now_ms()
    reading = {"v": 1, "ts": ts, "readings": [{"beacon": "DEADBEEF0001", "rssi": -71}]}
    topic = "gateway/gw-unlisted/readings"
    publish(stack, (topic, reading), (topic, reading | {"ts": ts + 1}))

    def candidate() -> dict[str, Any] | None:
        beacons = get(stack, "/api/v1/strangers").json()["beacons"]
        return next((one for one in beacons if one["beacon"] == "DEADBEEF0001" and one["count"] == 2), None)

    found = eventually(candidate, what="the candidate") or {}
    assert (found["kind"], found["receiver"], found["rssi"]) == ("gateway", "gw-unlisted", -71)
    assert ts <= found["first_ms"] <= found["heard_ms"] <= ts + 1
    gateways = get(stack, "/api/v1/strangers").json()["gateways"]
    assert [one["state"] for one in gateways if one["gateway"] == "gw-unlisted"] == ["online"]


def test_the_alert_for_dropped_messages_survives_restarts(stack: RunningStack) -> None:
    """Publish more than the broker queues for the stopped spool."""
    configuration = (ROOT / "broker" / "mosquitto.conf").read_text()
    bound = int(configuration.partition("max_queued_bytes ")[2].split()[0])
    largest = "x" * 64_000
    stack.stop("spool")
    publish(stack, *[("phone/flood/readings", largest)] * (bound // len(largest) + 100))

    def losses() -> dict[str, Any]:
        part: dict[str, Any] = get(stack, "/health").json()["parts"]["losses"]
        return part

    eventually(lambda: losses()["status"] == "degraded", what="the loss in /health")
    assert "by the broker" in losses()["reason"]
    lost = losses()["by"]["broker_dropped"]
    assert lost >= 90
    assert wait_for_alert(stack, "messages_lost:messages")["severity"] == "critical"
    alerts = get(stack, "/api/v1/alerts").json()["alerts"]
    place = [one["id"] for one in alerts].index("messages_lost:messages")
    above = [
        one for one in alerts[:place] if one["severity"] != "critical" or one["raised_ms"] < alerts[place]["raised_ms"]
    ]
    assert not above, "only what is as urgent and newer stands above it"
    forget_session(stack, "telegraf/readings")  # 110 MiB of test messages
    stack.stop("node-red")
    stack.stop("mosquitto")
    stack.start("mosquitto")
    stack.start("spool")
    stack.start("node-red")
    assert losses()["by"]["broker_dropped"] >= lost
    assert wait_for_alert(stack, "messages_lost:messages")["acknowledged"] is None
    with admin(stack) as caller:
        assert caller.post("/api/v1/alerts/kinds/messages_lost/acknowledge").json() == {"acknowledged": 1}
