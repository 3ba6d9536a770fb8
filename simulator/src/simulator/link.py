"""One receiver's connection to the broker, opened repeatedly, and its outbox. QoS 1.

The agent's paho client for asyncio loops carries each connection."""

import os
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from gateway_agent.endpoint import Endpoint, Stream
from gateway_agent.loop_client import EventLoop, LoopClient
from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import MQTTProtocolVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from simulator.outbox import Batch, Limits, Outbox

KEEPALIVE_S = 30  # a frozen broker is noticed after at most twice this time
CONNECT_WITHIN_S = 30.0  # a broker that thousands connect to at once takes its time
BROKER_UPTIME = "$SYS/broker/uptime"
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
        "_loop",
        "_observer",
        "_receiver",
        "_statuses",
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
        loop: EventLoop | None = None,
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
        self._endpoint, self._receiver, self._observer, self._loop = endpoint, receiver, observer, loop
        self._client: LoopClient | None = None
        self._statuses: set[int] | None = None

    @property
    def has_pending_status(self) -> bool:
        """Whether a retained message is not acknowledged yet."""
        return bool(self._statuses)

    async def open(self) -> None:
        """Try once to connect; `link_up` or `link_down` reports the result later. Does nothing while connecting."""
        if self._client is not None:
            return
        self._client = client = self._make_client()
        try:
            await client.open(self._endpoint, KEEPALIVE_S, CONNECT_WITHIN_S)
        except (OSError, ValueError) as error:
            self._lost(named(error))

    def start(self, stream: Stream) -> None:
        """As `open`, on a connected stream."""
        self._client = client = self._make_client()
        try:
            client.start(stream, self._endpoint.host, self._endpoint.port, KEEPALIVE_S)
        except (OSError, ValueError) as error:
            self._lost(named(error))

    def _make_client(self) -> LoopClient:
        receiver = self._receiver
        client = LoopClient(
            receiver.client_id,
            MQTTProtocolVersion.MQTTv311,
            clean_session=True,
            userdata=self,
            loop=self._loop,
        )
        client.username_pw_set(receiver.username, receiver.password)
        if receiver.will is not None:
            client.will_set(*receiver.will, qos=1, retain=True)
        if receiver.subscription is not None:
            client.on_message = _on_message
        client.on_connect, client.on_disconnect, client.on_publish = _on_connect, _on_disconnect, _on_publish
        return client

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
        if self._client is None or not self.is_up:
            return
        mid = self._client.send(topic, payload, retain)
        if retain:
            self._statuses = {*(self._statuses or ()), mid}

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
        client = self._client
        assert client is not None  # noqa: S101 - is_up
        mid = client.send(self._receiver.topic, batch.payload)
        if self._client is client:
            self.outbox.sent(mid, batch, now_s)
        else:  # the connection ended with this message
            self.outbox.add(batch)

    def _fill(self) -> None:
        outbox = self.outbox
        while self.is_up and outbox.is_waiting and outbox.may_send:
            self._send(outbox.next(), time.monotonic())

    def connected(self) -> None:
        """The broker accepted the connection."""
        assert self._client is not None  # noqa: S101 - it calls
        self.is_up, self.refused, self.failures = True, None, 0
        self.connections += 1
        if self._receiver.subscription is not None:
            self._client.subscribe(self._receiver.subscription.topic, 0)
        if self._receiver.reads_uptime:
            self._client.subscribe(BROKER_UPTIME, 0)
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

    def acknowledged(self, mid: int) -> None:
        """The broker has a message."""
        self.last_acked_s = now_s = time.monotonic()
        found = self.outbox.acknowledged(mid, now_s)
        if found is None:
            if self._statuses:
                self._statuses.discard(mid)
            return
        batch, sent_s = found
        self._observer.link_acknowledged(self, batch, now_s - sent_s)
        if self.outbox.is_waiting:
            self._fill()

    def ended(self, client: LoopClient, problem: str) -> None:
        """The connection of this client is lost."""
        if client is self._client:
            self._lost(self.refused or problem)

    def _lost(self, problem: str) -> None:
        self.problem = problem
        self._client, self._statuses = None, None
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


# paho calls these with the link as its user data: bound methods would cost memory with each of thousands of clients.


def _on_connect(_c: Client, link: Link, _f: ConnectFlags, reason: ReasonCode, _p: Properties | None) -> None:
    if reason.is_failure:
        link.refused = link.problem = str(reason)
    else:
        link.connected()


def _on_message(_c: Client, link: Link, message: MQTTMessage) -> None:
    link.received(message.topic, bytes(message.payload))


def _on_publish(_c: Client, link: Link, mid: int, _r: ReasonCode, _p: Properties) -> None:
    link.acknowledged(mid)


def _on_disconnect(client: Any, link: Link, _f: DisconnectFlags, reason: ReasonCode, _p: Properties | None) -> None:
    link.ended(client, str(reason))
