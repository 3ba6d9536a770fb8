"""`make campus`: a site on a cluster of three NATS nodes behind HAProxy, and the entry."""

import ssl
from collections.abc import Iterator

import paho.mqtt.client as mqtt
import pytest
from campus.run import campus_status
from paho.mqtt.enums import CallbackAPIVersion
from running_campus import RunningCampus, Sender, running_campus
from stack.layout import ROOT
from support import web
from support.building import Building
from support.running import RunningStack
from support.stack_client import end, eventually
from support.stored import stored_readings

ANNEX = ROOT / "flows" / "building" / "annex.json"
CAMPUS = f"""
[entry]
processes = 1
[broker]
nodes = 3
[[sites]]
name = "south"
building = "{ANNEX}"
demo = true
"""
BEFORE, AFTER = 40, 20
"""Batches acknowledged before a kill, and after it."""


@pytest.fixture(scope="module")
def campus() -> Iterator[RunningCampus]:
    with running_campus(CAMPUS) as running:
        yield running


def test_what_was_acknowledged_over_a_kill_of_the_leader_is_stored_and_shown(campus: RunningCampus) -> None:
    south, beacon = campus.sites["south"], Building(ANNEX).beacons[0]
    sender = Sender(south, "walker", beacon.id, rate_per_s=20)
    leader = eventually(lambda: campus.leader("south"), what="a leader")
    with sender.publishing():
        eventually(lambda: len(sender.acked) >= BEFORE, what="batches before the kill")
        pid = campus.pid(leader)
        campus.crash(leader)
        acked = len(sender.acked)
        eventually(lambda: len(sender.acked) >= acked + AFTER, what="batches after the kill")
    assert campus.pid(leader) != pid
    eventually(lambda: _stored(south) == sender.acknowledged, what="all that was acknowledged in InfluxDB")

    times = sorted(sender.acknowledged)
    asked = f"/extractbeacon?staff_id=walker&start_time={times[0] // 1000}&end_time={times[-1] // 1000}"
    records = eventually(lambda: web.get(campus.url + asked).json()["location"], what="the entry's answer")
    assert {(one["site"], one["location"]) for one in records} == {("south", Building(ANNEX).room_name(beacon.room))}
    eventually(lambda: campus.is_whole("south"), within_s=120, what="the killed node to be whole again")


def _stored(south: RunningStack) -> set[int]:
    return {row["time"] for row in stored_readings(south, "receiver = 'walker'")}


def test_receivers_use_tls_and_their_own_client_id_through_haproxy(campus: RunningCampus) -> None:
    password = campus.sites["south"].command("account", "add", "gateway", "gw-a1-store").strip()
    assert campus.topology.cluster
    port = campus.topology.cluster.mqtts_port

    def answer(client_id: str, *, tls: bool) -> str:
        answers: list[str] = []
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id)
        client.username_pw_set("gw-a1-store", password)
        if tls:
            client.tls_set(str(campus.authority), tls_version=ssl.PROTOCOL_TLS_CLIENT)
        client.on_connect = lambda _client, _data, _flags, reason, _more: answers.append(str(reason))
        client.on_disconnect = lambda *_: answers.append("ended")
        try:
            client.connect("127.0.0.1", port)
            client.loop_start()
            return eventually(lambda: answers, what="an answer to CONNECT")[0]
        finally:
            end(client)
            client.on_connect = client.on_disconnect = None

    assert answer("gw-a1-store", tls=True) == "Success"
    assert answer("gw-a1-other", tls=True) == "Not authorized"
    assert answer("gw-a1-store", tls=False) == "ended", "without TLS HAProxy does not let it through"


def test_status_is_that_of_the_whole_campus_and_of_each_site(campus: RunningCampus) -> None:
    of_site = campus.sites["south"].command("status").splitlines()
    assert of_site[0].split()[0] == "influxd", "it has no broker of its own"
    assert of_site[-1] == "all parts are up"
    lines, all_up = campus_status(campus.topology, campus.folder)
    assert all_up, lines
    parts = [line.split()[0] for line in lines]
    callouts = [f"callout-{number}" for number in (1, 2, 3)]
    assert parts[: parts.index("site")] == [*campus.nodes, "haproxy", *callouts, "certificates"]
    assert parts[-1] == "entry-1"
