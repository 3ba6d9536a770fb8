"""The services' accounts work only on the inner listener: a leaked password is useless from outside."""

from collections.abc import Iterator

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import batch, eventually, now_ms, publish
from support.stored import stored_readings

MESSAGES = 50
OUTSIDE = [
    ("nodered", "nodered/flows"),
    ("nodered-publisher", "nodered/publisher"),
    ("telegraf-readings", "telegraf/readings"),
    ("nodered-operator", "nodered/operator"),
    ("nodered-probe", "nodered"),
]


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    """A default stack; other tests accept services everywhere, to use their accounts at the same time."""
    with running_stack(environment={"MQTT_SERVICES_OUTSIDE": ""}) as running:
        yield running


@pytest.mark.parametrize(("account", "client_id"), OUTSIDE)
def test_a_services_password_is_refused_over_tls(stack: RunningStack, account: str, client_id: str) -> None:
    answers: list[str] = []
    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id)
    variable = "MQTT_TELEGRAF_PASSWORD" if account.startswith("telegraf") else "MQTT_NODERED_PASSWORD"
    client.username_pw_set(account, stack.secrets[variable])
    client.tls_set(str(stack.data_dir / "broker" / "tls" / "ca.crt"))
    client.on_connect = lambda _client, _data, _flags, reason, _more: answers.append(str(reason))
    client.connect("localhost", stack.ports.mqtts)
    client.loop_start()
    try:
        eventually(lambda: answers, what="an answer to CONNECT")
    finally:
        client.loop_stop()
    assert answers[0] == "Not authorized"


def test_messages_during_an_outage_of_the_spool_survive_a_broker_restart(stack: RunningStack, demo: Building) -> None:
    stack.stop("spool")
    beacon = demo.beacons_of_two_rooms()[0].id
    first = now_ms()
    half = MESSAGES // 2
    sent = [("phone/away/readings", batch((beacon, -60), ts=first + n)) for n in range(MESSAGES)]
    publish(stack, *sent[:half])
    stack.stop("mosquitto")
    stack.start("mosquitto")
    publish(stack, *sent[half:])
    stack.start("spool")
    eventually(lambda: len(stored_readings(stack, "receiver = 'away'")) == MESSAGES, what="all of them stored")
