"""One receiver's connection to the broker: paho-mqtt in the running asyncio loop, without a thread.

QoS 1. paho has at most WINDOW messages at a time and sends unacknowledged ones again after a reconnect. The rest waits
here as bytes (a tenth of the memory). What was acknowledged shortly before a connection was lost can be sent again
after the reconnect, as receivers do: a broker that was killed has forgotten it."""

import asyncio
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from simulator.settings import Broker

WINDOW = 20  # paho's own default of messages in flight
KEEPALIVE_S = 30  # a frozen broker is noticed after at most twice this time


class Message(NamedTuple):
    """One publish. `readings` and `ts_ms` (the batch's time stamp) are for whoever counts acknowledgements."""

    topic: str
    payload: bytes
    readings: int
    ts_ms: int = 0
    retain: bool = False
    first_acked_s: float | None = None
    """When it was acknowledged first, by the monotonic clock; None: not yet."""


class LinkObserver(Protocol):
    """Callbacks of a link; called in the event loop, must not block."""

    def link_up(self, link: "Link") -> None: ...
    def link_down(self, link: "Link") -> None: ...
    def link_acknowledged(self, link: "Link", sent: "Message", latency_s: float) -> None: ...


class Subscription(NamedTuple):
    """A topic at QoS 0, and the function that gets each payload, called in the loop."""

    topic: str
    received: Callable[[bytes], None]


class Link:
    """A connection that can be opened repeatedly until `close`."""

    def __init__(
        self,
        broker: Broker,
        client_id: str,
        observer: LinkObserver,
        will: tuple[str, bytes] | None = None,
        subscription: Subscription | None = None,
        replay_s: float = 0.0,
    ) -> None:
        self.is_up = False
        self.refused: str | None = None
        """The broker's reason when it refused the connection, for example 'Not authorized'."""
        self.problem = "not yet tried"
        """Why there is no connection."""
        self.failures = 0
        """Attempts in a row that did not lead to a connection."""
        self.connections = self.readings_acknowledged = 0
        """Since the start."""
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._opening = False
        self._reading: int | None = None  # the file descriptor registered in the loop
        self._writing = False
        self._waiting: deque[Message] = deque()
        self._pending: dict[int, tuple[float, Message]] = {}  # by message id, with the time sent
        self._replay_s = replay_s
        self._kept: deque[tuple[float, Message]] = deque()  # with the time of their latest acknowledgement
        self._pending_statuses = 0
        self._client = Client(CallbackAPIVersion.VERSION2, client_id, protocol=MQTTv311, reconnect_on_failure=False)
        self._client.connect_async(broker.host, broker.port, KEEPALIVE_S)
        self._client.username_pw_set(broker.username, broker.password)
        if broker.ca_file is not None:
            self._client.tls_set(ca_certs=str(broker.ca_file))
        if will is not None:
            self._client.will_set(*will, qos=1, retain=True)
        self._subscription = subscription
        if subscription is not None:
            self._client.on_message = self._on_message
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_publish = self._on_publish
        self._client.on_socket_close = self._on_socket_close

    @property
    def has_pending_status(self) -> bool:
        """Whether a retained message is not acknowledged yet."""
        return bool(self._pending_statuses)

    @property
    def is_through(self) -> bool:
        """Whether everything is acknowledged, and nothing is to be sent again."""
        return self.is_up and not self._waiting and not self._pending

    async def open(self) -> None:
        """Try once to connect; `link_up` or `link_down` reports the result later."""
        self._opening = True
        try:
            await asyncio.to_thread(self._client.reconnect)  # blocks during name look-up and connecting
        except OSError as error:
            self.problem = error.strerror or str(error)
        self._opening = False
        handle = self._client.socket()
        if handle is None:
            self._failed()
            return
        if isinstance(handle, socket.socket):
            handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reading = handle.fileno()
        self._loop.add_reader(self._reading, self._readable)
        self._write()

    def publish(self, message: Message) -> None:
        """Send now, or as soon as the connection and earlier messages allow. Retained messages go first."""
        if message.retain:
            self._pending_statuses += 1
            self._waiting.appendleft(message)
        else:
            self._waiting.append(message)
        self._fill()

    def keep_alive(self) -> None:
        """Call every few seconds: sends pings and closes a dead connection."""
        if not self._opening and self._reading is not None:
            self._client.loop_misc()
            self._write()

    def cut(self) -> None:
        """End the connection without DISCONNECT, like a network outage: the broker publishes the last will."""
        handle = self._client.socket()
        if self.is_up and isinstance(handle, socket.socket):
            handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Disconnect cleanly, so that the broker sends no last will."""
        if self.is_up:
            self._client.disconnect()
            self._write()

    def _fill(self) -> None:
        while self._waiting and self.is_up and len(self._pending) < WINDOW:
            message = self._waiting.popleft()
            sent_s = time.perf_counter()
            published = self._client.publish(message.topic, message.payload, 1, message.retain)
            self._pending[published.mid] = (sent_s, message)
        if self._client.want_write():
            self._write()

    def _readable(self) -> None:
        self._client.loop_read()  # calls back; paho's repeated messages go before waiting ones
        while isinstance(handle := self._client.socket(), ssl.SSLSocket) and handle.pending():
            self._client.loop_read()  # decrypted already, so the loop sees no more data in the socket
        self._fill()

    def _write(self) -> None:
        """Write paho's data; let the loop call again when the socket is writable."""
        if self._client.want_write():
            self._client.loop_write()
        if self._reading is None:
            return
        if self._client.want_write() != self._writing:
            self._writing = not self._writing
            if self._writing:
                self._loop.add_writer(self._reading, self._write)
            else:
                self._loop.remove_writer(self._reading)

    def _on_connect(self, _c: Client, _u: Any, _f: ConnectFlags, reason: ReasonCode, _p: Properties | None) -> None:
        if reason.is_failure:
            self.refused = self.problem = str(reason)
            return
        self.is_up, self.refused, self.failures = True, None, 0
        self.connections += 1
        self._replay()
        if self._subscription is not None:
            self._client.subscribe(self._subscription.topic, 0)
        self._observer.link_up(self)

    def _on_message(self, _c: Client, _u: Any, message: MQTTMessage) -> None:
        if self._subscription is not None:
            self._subscription.received(bytes(message.payload))

    def _on_publish(self, _c: Client, _u: Any, mid: int, _r: ReasonCode, _p: Properties) -> None:
        sent_s, message = self._pending.pop(mid)
        self._pending_statuses -= message.retain
        now_s = time.perf_counter()
        if message.first_acked_s is None:
            self.readings_acknowledged += max(0, message.readings)
            self._observer.link_acknowledged(self, message, now_s - sent_s)
        self._keep(message, now_s)

    def _keep(self, message: Message, now_s: float) -> None:
        """Keep it for `replay_s`, and for twice that at most however often it is sent again."""
        if not self._replay_s or message.retain:
            return
        first_s = now_s if message.first_acked_s is None else message.first_acked_s
        if now_s - first_s <= 2 * self._replay_s:
            self._kept.append((now_s, message._replace(first_acked_s=first_s)))
        while self._kept and now_s - self._kept[0][0] > self._replay_s:
            self._kept.popleft()

    def _replay(self) -> None:
        """After a reconnect: what the broker may have forgotten waits again, before all that waits already."""
        self._waiting.extendleft(message for _, message in reversed(self._kept))
        self._kept.clear()

    def _on_disconnect(
        self, _c: Client, _u: Any, _f: DisconnectFlags, reason: ReasonCode, _p: Properties | None
    ) -> None:
        if self.refused is None:
            self.problem = str(reason)
        if not self._opening:  # else `open`, still in its thread, finds no socket
            self._failed()

    def _on_socket_close(self, _c: Client, _u: Any, _s: Any) -> None:
        if self._reading is not None:
            self._loop.remove_reader(self._reading)
            self._loop.remove_writer(self._reading)
            self._reading, self._writing = None, False

    def _failed(self) -> None:
        self.failures = 0 if self.is_up else self.failures + 1
        self._observer.link_down(self)
        self.is_up = False
