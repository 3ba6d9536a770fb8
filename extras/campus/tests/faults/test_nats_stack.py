"""The whole stack with BROKER=nats: the same Telegraf, flows and commands; what was acknowledged is stored."""

import json
import re
from collections.abc import Iterator

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from stack.lifecycle import up
from stack.settings import load
from support import web
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import batch, connect, end, eventually, now_ms
from support.stored import stored_readings
from support.walks import LENGTH_S, walk

MESSAGES, KILL_AT = 1000, 400


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    with running_stack(environment={"BROKER": "nats", "MQTT_SERVICES_OUTSIDE": ""}) as running:
        yield running


def test_readings_are_stored_and_located(stack: RunningStack, demo: Building) -> None:
    walk(stack, demo, "walk-ann", "walk-ben")
    stored = "receiver = 'walk-ann'"
    eventually(lambda: len(stored_readings(stack, stored)) == LENGTH_S + 1, what="each reading of the walk in InfluxDB")


def test_what_was_acknowledged_is_stored_over_a_kill_of_the_broker(stack: RunningStack, demo: Building) -> None:
    beacon, first = demo.beacons_of_two_rooms()[0].id, now_ms() - 60_000
    client = connect(stack)
    sent: list[mqtt.MQTTMessageInfo] = []
    for number in range(MESSAGES):
        if number == KILL_AT:
            eventually(lambda: sum(one.is_published() for one in sent) > len(sent) // 2, what="half acknowledged")
            stack.crash("nats")
            eventually(client.is_connected, what="the connection")
        body = json.dumps(batch((beacon, -60), ts=first + number))
        sent.append(client.publish("sda/v1/phone/killed/readings", body, qos=1))
    eventually(lambda: all(one.is_published() for one in sent), what="all acknowledged")
    end(client)
    eventually(lambda: len(stored_readings(stack, "receiver = 'killed'")) == MESSAGES, what="all stored")
    stack.wait_until_healthy()


def test_an_account_is_added_and_removed_without_a_restart(stack: RunningStack) -> None:
    pid = stack.pid("nats")
    password = stack.command("account", "add", "gateway", "pi-9").strip()
    answers: list[str] = []
    client = mqtt.Client(CallbackAPIVersion.VERSION2, "pi-9")
    client.username_pw_set("pi-9", password)
    client.tls_set(str(stack.authority))
    client.on_connect = lambda _client, _data, _flags, reason, _more: answers.append(str(reason))
    client.connect("localhost", stack.ports.mqtts)
    client.loop_start()
    try:
        eventually(lambda: answers == ["Success"], what="the new account let in")
        stack.command("account", "remove", "pi-9")
        eventually(lambda: "Not authorized" in answers, what="no way back")
    finally:
        end(client)
    assert stack.pid("nats") == pid


def test_status_and_figures_are_those_of_nats(stack: RunningStack) -> None:
    lines = stack.command("status").splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["nats", "callout-1", "callout-2"]
    assert lines[-1] == "all parts are up"

    def figures() -> dict[str, float]:
        text = web.get(f"{stack.http_url}/metrics").text
        return {name: float(value) for name, value in re.findall(r"^(sda_\S*broker\S*) (\S+)$", text, re.MULTILINE)}

    eventually(lambda: figures().get("sda_broker_received_total", 0) > 0, what="messages received")
    assert figures()['sda_memory_bytes{part="broker"}'] > 2**20


def test_another_broker_takes_its_place_while_everything_runs(stack: RunningStack) -> None:
    environment = {**stack.settings.environment, "BROKER": "mosquitto"}
    settings = up(load(stack.settings.env_file, environment), report=lambda _: None, leave_out=("simulator",))
    changed = RunningStack(settings)
    changed.wait_until_healthy()
    assert [changed.pid(name) > 0 for name in ("mosquitto", "nats", "callout-1")] == [True, False, False]
