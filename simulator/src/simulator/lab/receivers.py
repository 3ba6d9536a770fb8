"""MQTT receivers of the generator: paho-mqtt in gevent's loop, one greenlet for each connection, no threads. What
comes in is read by the loop itself, without a switch to the greenlet.

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
import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from simulator.lab.logins import USERNAME
from simulator.lab.target import Target
from simulator.message import Reading, Receiver, batch, readings_topic

KEEPALIVE_S = 60
CONNECTS_PER_S = 500.0
BACKOFF_S = (0.2, 5.0)
IN_FLIGHT = 1000
READABLE = 1
"""Of libev: something is to be read, or the connection is closed."""
MOST_REFUSALS, MOST_CONNECTIONS = 5, 5
"""Before the run. Who is refused or cut off so often has a wrong password, or shares its account."""
REFUSED = "the broker refuses the account {user!r}: {reason} (it is missing there, or has another password)"
CUT_OFF = "the broker ended the connection; does another client use the same account, of a run that goes on?"


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


def tls_of(target: Target) -> ssl.SSLContext | None:
    """What all connections of a worker share; None: they are not encrypted. Raises OSError."""
    return ssl.create_default_context(cafile=target.ca or None) if target.mqtt_tls else None


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
        tls: ssl.SSLContext | None,
        subscription: tuple[str, Callable[[str, bytes], None]] | None = None,
    ) -> None:
        self.receiver = receiver
        self.is_up = False
        self.problem = ""
        self.pending: dict[int, Sent] = {}
        self.early: set[int] = set()
        self.connections = 0
        self.refusals = 0
        """In a row."""
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
        self._user = receiver.id if own else USERNAME
        client.username_pw_set(self._user, own or target.mqtt_password)
        if tls is not None:
            client.tls_set_context(tls)
        client.max_inflight_messages_set(IN_FLIGHT)
        client.connect_async(target.mqtt_host, target.mqtt_port, KEEPALIVE_S)
        client.on_connect, client.on_publish = self._on_connect, self._on_publish
        self._subscription = subscription
        if subscription is not None:
            received = subscription[1]
            client.on_message = lambda _c, _u, message: received(message.topic, bytes(message.payload))

    @property
    def is_hopeless(self) -> bool:
        """Whether it is no use to wait for the connection; `problem` says why."""
        return self.refusals >= MOST_REFUSALS or self.connections > MOST_CONNECTIONS

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
                self.problem = CUT_OFF
            self.is_up = False
            if not self._closing:
                longest = min(BACKOFF_S[1], BACKOFF_S[0] * 2**failures)
                failures += 1
                gevent.sleep(self._chance.uniform(0, longest))

    def _read(self, handle: Any) -> None:
        """Read what comes in until the connection ends, at the latest when paho misses an answer to its ping."""
        ended = gevent.event.Event()
        watcher = gevent.get_hub().loop.io(handle.fileno(), READABLE)

        def read() -> None:
            try:
                is_open = self._client.socket() is handle and self._client.loop_read() == mqtt.MQTT_ERR_SUCCESS
                while is_open and isinstance(handle, ssl.SSLSocket) and handle.pending():
                    self._client.loop_read()
            except (OSError, ValueError) as error:
                self.problem, is_open = str(error), False
            if not is_open:
                ended.set()
            elif self._client.want_write():
                gevent.spawn(self._flush)

        self._client.on_disconnect = lambda *_: ended.set()
        watcher.start(read)
        try:
            ended.wait()
        finally:
            watcher.stop()
            watcher.close()

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
            self.refusals += 1
            self.problem = REFUSED.format(user=self._user, reason=reason)
            return
        self.is_up, self.refusals = True, 0
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
