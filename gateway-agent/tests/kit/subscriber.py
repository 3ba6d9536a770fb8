"""A subscriber with a persistent session, in place of the platform."""

import json
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from real_broker import PASSWORDS


class Received(NamedTuple):
    """One message; ``at`` is epoch seconds of its arrival."""

    topic: str
    payload: bytes
    retained: bool
    at: float

    @property
    def body(self) -> dict[str, Any]:
        """The payload's JSON object."""
        body = json.loads(self.payload)
        assert isinstance(body, dict)
        return body


class Subscriber:
    """Context manager; collects every message below ``sda/v1/gateway/``."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._messages: list[Received] = []
        self._lock = threading.Lock()
        self.connected = threading.Event()
        self._client = self._new_client()

    def __enter__(self) -> "Subscriber":
        self.reconnect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def disconnect(self) -> None:
        """Disconnect: the broker queues messages."""
        self.connected.clear()
        self._client.disconnect()
        self._client.loop_stop()
        self._client = self._new_client()

    def reconnect(self) -> None:
        """Connect and receive queued and new messages."""
        self._client.connect("127.0.0.1", self._port)
        self._client.loop_start()
        assert self.connected.wait(10), "the subscriber was not let in"

    def messages(self, name: str) -> list[Received]:
        """All messages so far on topics ending in ``name``."""
        with self._lock:
            return [message for message in self._messages if message.topic.endswith("/" + name)]

    def readings(self) -> dict[tuple[str, int], dict[str, Any]]:
        """(beacon, ts) -> reading. A message that arrived twice counts once, as in the database."""
        return {
            (reading["beacon"], message.body["ts"]): reading
            for message in self.messages("readings")
            for reading in message.body["readings"]
        }

    def adverts(self) -> dict[str, int]:
        """Beacon -> adverts in all its readings."""
        total: dict[str, int] = defaultdict(int)
        for (beacon, _), reading in self.readings().items():
            total[beacon] += reading.get("n", 1)
        return total

    def sequence(self) -> set[int]:
        """Numbers of the batches that arrived."""
        return {message.body["seq"] for message in self.messages("readings")}

    def status(self) -> str | None:
        """The last received state."""
        message = self.messages("status")
        return message[-1].body["state"] if message else None

    def _new_client(self) -> mqtt.Client:
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id="test-ingest", clean_session=False)
        client.username_pw_set("nodered", PASSWORDS["nodered"])
        client.reconnect_delay_set(1, 1)
        client.on_connect = self._on_connect
        client.on_subscribe = lambda *_: self.connected.set()
        client.on_message = self._on_message
        return client

    def _on_connect(self, client: mqtt.Client, *_: object) -> None:
        client.subscribe([(f"sda/v1/gateway/+/{name}", 1) for name in ("readings", "status", "health")])

    def _on_message(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        with self._lock:
            self._messages.append(Received(message.topic, bytes(message.payload), message.retain, time.time()))


def publish_config(port: int, gateway: str, config: dict[str, Any] | None) -> None:
    """Retain a `config` message for a gateway, as the flows do; None clears it."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2)
    client.username_pw_set("nodered-publisher", PASSWORDS["nodered"])
    client.connect("127.0.0.1", port)
    client.loop_start()
    payload = json.dumps(config) if config is not None else ""
    sent = client.publish(f"sda/v1/gateway/{gateway}/config", payload, 1, retain=True)
    sent.wait_for_publish(10)
    assert sent.is_published()
    client.disconnect()
    client.loop_stop()


def end_session(tls_port: int, ca: Path, account: str, password: str) -> None:
    """Connect as that account with a clean start, which ends its session and its connection."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=account, clean_session=True)
    client.username_pw_set(account, password)
    client.tls_set(str(ca))
    connected = threading.Event()
    client.on_connect = lambda *_: connected.set()
    client.connect("localhost", tls_port)
    client.loop_start()
    assert connected.wait(10), "not let in"
    client.disconnect()
    client.loop_stop()
