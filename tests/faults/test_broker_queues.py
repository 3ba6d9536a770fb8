"""Queues of absent subscribers: kept over a clean restart, up to the limits of mosquitto.conf."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from ingest.private_broker import SERVICES, PrivateBroker, Session, private_broker
from stack.layout import ROOT
from support.stack_client import eventually

TOPIC = "sda/v1/phone/17/readings"
LONGEST_TOPIC = f"sda/v1/gateway/{'g' * 64}/readings"
PAYLOAD_LIMIT = 64 * 1024


@pytest.fixture(scope="module")
def running(broker_kind: type[PrivateBroker], tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateBroker]:
    with private_broker(tmp_path_factory.mktemp("broker"), kind=broker_kind) as broker:
        yield broker


@pytest.fixture
def broker(running: PrivateBroker) -> PrivateBroker:
    """It keeps the flows' session, which is absent and has no queue yet."""
    with running.session("nodered"):  # a clean session ends the one before
        pass
    with running.session("nodered", keep=True) as absent:
        absent.subscribe("sda/v1/+/+/readings")
    return running


def test_a_clean_restart_keeps_session_queue_and_retained(broker: PrivateBroker) -> None:
    count = 3000  # Mosquitto's own default would keep 1,000
    with broker.session("simulator") as sender:
        for number in range(count):
            sender.client.publish(TOPIC, str(number), qos=1)
        sender.publish("sda/v1/gateway/gw-1/status", payload="online", retain=True)
    broker.stop()
    broker.start()
    with broker.session("nodered", keep=True) as back:
        eventually(lambda: len(back.received) >= count, what="all that was queued")
        back.subscribe("sda/v1/gateway/+/status")
        eventually(lambda: back.topics(b"online"), what="the retained status")
    assert [body for topic, body in back.received if topic == TOPIC] == [
        str(number).encode() for number in range(count)
    ]


def test_a_full_queue_of_mosquitto_drops_messages_and_logs_it(tmp_path: Path) -> None:
    with private_broker(tmp_path / "broker") as broker:
        with broker.session("nodered", keep=True) as absent:
            absent.subscribe("sda/v1/+/+/readings")
        _fill_the_queue(broker)


def _fill_the_queue(broker: PrivateBroker) -> None:
    bound = int(setting("max_queued_bytes"))
    count = bound // PAYLOAD_LIMIT + 20
    with broker.session("simulator") as sender:
        for _ in range(count):
            sender.client.publish(LONGEST_TOPIC, bytes(PAYLOAD_LIMIT), qos=1)
        sender.publish("sda/v1/gateway/g/status", payload="end")
    with broker.session("nodered", keep=True) as back:
        eventually(lambda: len(back.received) >= count - 20, within_s=60, what="what fits into the queue")
        back.subscribe("sda/v1/gateway/+/health")
        with broker.session("simulator") as sender:
            sender.publish("sda/v1/gateway/g/health", payload="end")
        eventually(lambda: back.topics(b"end"), what="a message after the queue")
    assert len(back.received) - 1 == pytest.approx(bound / PAYLOAD_LIMIT, abs=1)
    assert "Outgoing messages are being dropped for client nodered/flows" in broker.log()


def test_the_largest_payload_passes_and_a_larger_one_ends_the_connection(broker: PrivateBroker) -> None:
    with broker.session("simulator") as sender:
        sender.publish(LONGEST_TOPIC, payload=b"x" * PAYLOAD_LIMIT)
        assert sender.losses == []
        sender.client.publish(LONGEST_TOPIC, b"x" * (PAYLOAD_LIMIT + 100), qos=1)
        eventually(lambda: sender.losses, what="the connection cut off")
    assert re.search("disconnected: oversize packet|maximum payload exceeded", broker.log(), re.IGNORECASE)
    with broker.session("nodered", keep=True) as back:
        eventually(lambda: back.received, what="the largest payload")
    assert [len(body) for _, body in back.received] == [PAYLOAD_LIMIT]


def test_a_lost_connection_publishes_its_last_will(broker: PrivateBroker) -> None:
    with broker.session("nodered") as flows:
        flows.subscribe("sda/v1/gateway/+/status")
        will = Session()
        will.client.will_set("sda/v1/gateway/gw-w/status", "offline", 1, retain=True)
        denied = Session()
        denied.client.will_set("sda/v1/locations", "denied", 1)
        flows.subscribe("sda/v1/events")
        for gone in (denied, will):
            gone.client.username_pw_set("simulator", SERVICES["simulator"][0])
            gone.client.connect("127.0.0.1", broker.port)
            gone.client.loop_start()
            eventually(partial(_is_admitted, gone), what="the connection")
            gone.client.loop_stop()
            connection = gone.client.socket()
            assert connection is not None
            connection.close()
        eventually(lambda: flows.topics(b"offline"), what="the last will")
    with broker.session("nodered") as later:
        later.subscribe("sda/v1/gateway/gw-w/status")
        eventually(lambda: later.topics(b"offline"), what="the last will, retained")


def _is_admitted(session: Session) -> bool:
    return session.answer == "Success"


def test_a_session_is_taken_over_by_its_next_connection(broker: PrivateBroker) -> None:
    with broker.session("nodered", keep=True) as first:
        with broker.session("nodered", keep=True) as second, broker.session("simulator") as sender:
            eventually(lambda: first.losses, what="the end of the first connection")
            sender.publish(TOPIC, payload="for the second")
            eventually(lambda: second.topics(b"for the second"), what="the message")
        first.client.loop_stop()


def setting(name: str) -> str:
    """A value of mosquitto.conf."""
    found = re.search(rf"^{name} (\S+)$", (ROOT / "broker" / "mosquitto.conf").read_text(), re.MULTILINE)
    assert found, f"{name} is not in mosquitto.conf"
    return found[1]
