"""MQTT receivers of the generator: paho-mqtt in gevent's loop, one greenlet for each connection, no threads.

Each device publishes at QoS 1. What is not acknowledged at the end is reported as such, since nobody knows then whether
the platform has it."""

import random
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gevent
import gevent.event
import gevent.socket
import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from simulator.lab.target import Target
from simulator.message import Reading, Receiver, batch, readings_topic

KEEPALIVE_S = 60
CONNECTS_PER_S = 500.0
BACKOFF_S = (0.2, 5.0)
IN_FLIGHT = 1000
USERNAME = "simulator"


@dataclass(slots=True)
class Sent:
    """A message on its way; times in s on the monotonic clock."""

    due_s: float
    sent_s: float
    due_ms: float
    step: int
    iteration: int
    readings: int
    call: str


Acknowledged = Callable[["Device", Sent, float], None]


class Device:
    """One receiver: connects, connects again, publishes. Its callbacks run in the loop and must not block."""

    def __init__(
        self,
        target: Target,
        receiver: Receiver,
        acknowledged: Acknowledged,
        reconnected: Callable[["Device", float], None],
        accounts: Mapping[str, str],
        subscription: tuple[str, Callable[[str, bytes], None]] | None = None,
    ) -> None:
        self.receiver = receiver
        self.is_up = False
        self.problem = ""
        self.pending: dict[int, Sent] = {}
        self.early: set[int] = set()
        self.connections = 0
        self.last_ms = 0
        """Time stamp of the last batch, for who wants each to have another one."""
        self.answered = gevent.event.Event()
        """Set when nothing is open."""
        self._topic = readings_topic(receiver)
        self._target = target
        self._acknowledged, self._reconnected = acknowledged, reconnected
        self._lost_s = 0.0
        self._seq = 0
        self._closing = False
        self._chance = random.Random(receiver.id)  # noqa: S311 - spreads reconnects
        self._client = client = mqtt.Client(
            CallbackAPIVersion.VERSION2, receiver.id, protocol=mqtt.MQTTv311, reconnect_on_failure=False
        )
        own = accounts.get(receiver.id)
        client.username_pw_set(receiver.id if own else USERNAME, own or target.mqtt_password)
        if target.mqtt_tls:
            client.tls_set(ca_certs=target.ca or None)
        client.max_inflight_messages_set(IN_FLIGHT)
        client.connect_async(target.mqtt_host, target.mqtt_port, KEEPALIVE_S)
        client.on_connect, client.on_publish = self._on_connect, self._on_publish
        self._subscription = subscription
        if subscription is not None:
            received = subscription[1]
            client.on_message = lambda _c, _u, message: received(message.topic, bytes(message.payload))

    def run(self) -> None:
        """Keep the connection until `close`; the body of the device's greenlet."""
        failures = 0
        while not self._closing:
            try:
                self._client.reconnect()
                handle: Any = self._client.socket()
                if handle is not None:
                    handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._read(handle)
            except (OSError, ValueError) as error:
                self.problem = str(error)
            if self.is_up:
                failures, self._lost_s = 0, time.monotonic()
            self.is_up = False
            if not self._closing:
                longest = min(BACKOFF_S[1], BACKOFF_S[0] * 2**failures)
                failures += 1
                gevent.sleep(self._chance.uniform(0, longest))

    def _read(self, handle: Any) -> None:
        while self._is_open(handle):
            gevent.socket.wait_read(handle.fileno(), timeout=KEEPALIVE_S * 2)
            if self._client.loop_read() != mqtt.MQTT_ERR_SUCCESS:
                return
            while isinstance(handle, ssl.SSLSocket) and handle.pending():
                self._client.loop_read()
            self._flush()

    def _is_open(self, handle: Any) -> bool:
        return self._client.socket() is handle

    def publish(self, sent: Sent, ts_ms: int, readings: tuple[Reading, ...]) -> None:
        """Publish one batch; paho keeps it while there is no connection."""
        self._seq += 1
        self.answered.clear()
        sent.sent_s = time.monotonic()
        mid = self._client.publish(self._topic, batch(ts_ms, self._seq, readings), 1).mid
        if mid in self.early:
            self.early.discard(mid)
            self._answer(sent)
        else:
            self.pending[mid] = sent
        self._flush()

    def keep_alive(self) -> None:
        """Call every few seconds."""
        if self.is_up:
            self._client.loop_misc()
            self._flush()

    def cut(self) -> None:
        """End the connection as an outage of the network does."""
        handle: Any = self._client.socket()
        self._lost_s = time.monotonic()
        if handle is not None:
            handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._closing = True
        if self.is_up:
            self._client.disconnect()
            self._flush()

    def _flush(self) -> None:
        for _ in range(1000):
            if not self.is_up or not self._client.want_write():
                return
            if self._client.loop_write() != mqtt.MQTT_ERR_SUCCESS:
                return
            if self._client.want_write():
                gevent.sleep(0.005)

    def _on_connect(self, _c: Any, _u: Any, _f: Any, reason: Any, _p: Any) -> None:
        if reason.is_failure:
            self.problem = str(reason)
            return
        self.is_up = True
        self.connections += 1
        if self._subscription is not None:
            self._client.subscribe(self._subscription[0], 0)
        if self._lost_s:
            self._reconnected(self, self._lost_s)

    def _on_publish(self, _c: Any, _u: Any, mid: int, _r: Any, _p: Any) -> None:
        sent = self.pending.pop(mid, None)
        if sent is None:
            self.early.add(mid)
        else:
            self._answer(sent)

    def _answer(self, sent: Sent) -> None:
        self._acknowledged(self, sent, time.monotonic())
        if not self.pending:
            self.answered.set()
