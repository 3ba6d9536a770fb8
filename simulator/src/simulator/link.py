"""One receiver's connection to the broker, opened repeatedly, and its outbox. QoS 1.

The agent's MQTT client carries each connection."""

import os
import socket
import ssl
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from gateway_agent.mqtt import Client, Connack, Endpoint, EventLoop, Login
from gateway_agent.readings import BROKER_UPTIME

from simulator.outbox import Batch, Limits, Outbox, Sent

KEEPALIVE_S = 30  # a frozen broker is noticed after at most twice this time
CONNECT_WITHIN_S = 30.0  # a broker that thousands connect to at once takes its time
UPTIME_MARGIN_S = 2.0  # the broker's figure is whole seconds and may be one too many


class LinkObserver(Protocol):
    """Callbacks of a link; called in the event loop, must not block."""

    def link_up(self, link: "Link") -> None: ...
    def link_down(self, link: "Link") -> None: ...
    def link_acknowledged(self, link: "Link", batch: Batch, latency_s: float) -> None: ...


class Subscription(NamedTuple):
    """A topic at QoS 0, and the function that gets topic and payload of each message, called in the loop."""

    topic: str
    received: Callable[[str, bytes], None]


class Receiver(NamedTuple):
    """How a receiver connects: `will` is topic and payload of its last will; `reads_uptime`: it may ask the broker
    since when it runs, to know which acknowledged batches it may have lost."""

    client_id: str
    username: str
    password: str
    topic: str
    """Of its batches."""
    will: tuple[str, bytes] | None = None
    subscription: Subscription | None = None
    reads_uptime: bool = False


class Link:
    """A connection that can be opened again after each end."""

    __slots__ = (
        "_client",
        "_endpoint",
        "_is_opening",
        "_observer",
        "_receiver",
        "connections",
        "failures",
        "is_up",
        "last_acked_s",
        "outbox",
        "problem",
        "readings_acknowledged",
        "refused",
        "replayed",
    )

    def __init__(
        self,
        endpoint: Endpoint,
        receiver: Receiver,
        observer: LinkObserver,
        limits: Limits,
    ) -> None:
        self.is_up = False
        self.refused: str | None = None
        """The broker's reason when it refused the connection, for example 'Not authorized'."""
        self.problem = "not yet tried"
        """Why there is no connection."""
        self.failures = 0
        """Attempts in a row that did not lead to a connection."""
        self.connections = self.readings_acknowledged = self.replayed = 0
        """Since the start; `replayed`: batches sent again since the broker may have lost them."""
        self.last_acked_s = 0.0
        self.outbox = Outbox(limits)
        self._endpoint, self._receiver, self._observer = endpoint, receiver, observer
        self._client: Client[Sent] | None = None
        self._is_opening = False

    @property
    def has_pending_status(self) -> bool:
        """Whether a retained message is not acknowledged yet."""
        return any(sent.is_status for sent in self.outbox.in_flight.values())

    async def open(self) -> None:
        """Try once to connect; `link_up` or `link_down` reports the result later. Does nothing while connecting."""
        if self._client is not None or self._is_opening:
            return
        self._is_opening = True
        client = self._new_client()
        try:
            await client.open(self._endpoint, CONNECT_WITHIN_S)
        except (OSError, ValueError) as error:
            self._lost(named(error))
        else:
            self._client = client
        finally:
            self._is_opening = False

    def connect(self, loop: EventLoop) -> None:
        """As `open` for another loop than asyncio's; blocks. Raises OSError, ValueError instead of `link_down`."""
        client = self._new_client()
        client.connect(self._endpoint, CONNECT_WITHIN_S)
        client.start(loop)
        self._client = client

    def _new_client(self) -> Client[Sent]:
        receiver = self._receiver
        login = Login(receiver.client_id, receiver.username, receiver.password, KEEPALIVE_S, receiver.will)
        return Client(login, self, self.outbox.in_flight)

    @property
    def is_through(self) -> bool:
        """Whether everything is acknowledged, and nothing is to be sent again."""
        return self.outbox.is_empty and (self.is_up or not self.outbox.holds)

    def publish(self, payload: bytes, readings: int, ts_ms: int = 0, context: object = None) -> None:
        """Send a batch now, or as soon as the connection and earlier batches allow; `ts_ms` is its time stamp."""
        now_s = time.monotonic()
        batch = Batch(payload, readings, now_s, ts_ms, None, context)
        outbox = self.outbox
        if self.is_up and outbox.may_send and not outbox.is_waiting:
            self._send(batch, now_s)
        else:
            outbox.add(batch)

    def publish_other(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Send a message that is no batch, if connected: a status (retained) or health."""
        if self._client is not None and self.is_up:
            self._client.publish(topic, payload, Sent(None, time.monotonic(), is_status=retain), retain)

    def replay(self, until_s: float | None = None) -> None:
        """Send again what the broker acknowledged (until a time on the monotonic clock) and may have lost."""
        self.replayed += self.outbox.replay(until_s)
        self._fill()

    def keep_alive(self, now_s: float) -> None:
        """Call every few seconds: sends pings and closes a dead connection."""
        if self._client is not None and now_s - self.last_acked_s > KEEPALIVE_S / 2:
            self._client.keep_alive()

    def cut(self) -> None:
        """End the connection without DISCONNECT, like a network outage: the broker publishes the last will."""
        if self._client is not None and self.is_up:
            self._client.cut()

    def close(self) -> None:
        """Disconnect cleanly, so that the broker sends no last will."""
        if self._client is not None and self.is_up:
            self._client.leave()
            self._lost("disconnected")

    def _send(self, batch: Batch, now_s: float) -> None:
        assert self._client is not None  # noqa: S101 - is_up
        self._client.publish(self._receiver.topic, batch.payload, Sent(batch, now_s))

    def _fill(self) -> None:
        outbox = self.outbox
        while self.is_up and outbox.is_waiting and outbox.may_send:
            self._send(outbox.next(), time.monotonic())

    # The client calls these.

    def connected(self, connack: Connack) -> None:
        """The broker has answered."""
        if connack.refusal is not None:
            self.refused = self.problem = connack.refusal
            return
        assert self._client is not None  # noqa: S101 - it calls
        self.is_up, self.refused, self.failures = True, None, 0
        self.connections += 1
        if self._receiver.subscription is not None:
            self._client.subscribe((self._receiver.subscription.topic,))
        if self._receiver.reads_uptime:
            self._client.subscribe((BROKER_UPTIME,))
        self._observer.link_up(self)
        if not self._receiver.reads_uptime:
            self.replay()

    def received(self, topic: str, payload: bytes) -> None:
        """A message of a subscription."""
        if topic == BROKER_UPTIME:
            self._replay_since_start(payload)
        elif self._receiver.subscription is not None:
            self._receiver.subscription.received(topic, payload)

    def _replay_since_start(self, payload: bytes) -> None:
        """`payload` is, for example, b'12 seconds'. Only the first of a connection is needed."""
        if self._client is not None:
            self._client.unsubscribe(BROKER_UPTIME)
        if (seconds := payload.split()[:1]) and seconds[0].isdigit():
            self.replay(time.monotonic() - float(seconds[0]) + UPTIME_MARGIN_S)

    def acknowledged(self, sent: Sent, _refusal: str | None) -> None:
        """The broker has a message."""
        self.last_acked_s = now_s = time.monotonic()
        batch = sent.batch
        if batch is None:
            return
        self.outbox.acknowledged(batch, now_s)
        self._observer.link_acknowledged(self, batch, now_s - sent.sent_s)
        if self.outbox.is_waiting:
            self._fill()

    def ended(self, problem: str) -> None:
        """The connection is lost."""
        self._lost(self.refused or problem)

    def _lost(self, problem: str) -> None:
        self.problem = problem
        self._client = None
        self.failures = 0 if self.is_up else self.failures + 1
        self.outbox.connection_lost()
        self._observer.link_down(self)
        self.is_up = False


def named(error: Exception) -> str:
    """An error of a connection in a few words."""
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or error}"
    if isinstance(error, socket.gaierror) or not isinstance(error, OSError):
        return str(error)
    return os.strerror(error.errno) if error.errno else "no answer"
