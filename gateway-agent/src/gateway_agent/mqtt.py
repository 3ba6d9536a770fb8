"""paho-mqtt (MQTT 5 and 3.1.1) in an event loop, by its interface for external loops (docs/decisions/011).

It publishes at QoS 1 and subscribes at QoS 0. The agent, the simulator and the load laboratory use it; what each wants
to know again of a message is in **one** map, from the message's id to that, until the broker has answered. It neither
reconnects nor sends anything again: both users have an outbox.
"""

import asyncio
import concurrent.futures
import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion, LogLevel, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

MQTT_311, MQTT_5 = MQTTProtocolVersion.MQTTv311, MQTTProtocolVersion.MQTTv5
RECEIVE_MAXIMUM = 65535  # the default of MQTT 5; MQTT 3.1.1 has no limit
_FOR_EVER = 0xFFFFFFFF
_NO_REASON = "Unspecified error"  # paho's name of an end without any


class Endpoint(NamedTuple):
    """Where a broker listens; ``tls`` None: not encrypted. Connections share it."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None


class Login(NamedTuple):
    """A client's account and wishes. ``will``: topic and payload, retained. ``resumes``: its session is kept.

    Silence of ``keepalive_s`` is tested; twice that ends the connection."""

    client_id: str
    username: str
    password: str
    keepalive_s: int
    will: tuple[str, bytes] | None = None
    version: MQTTProtocolVersion = MQTT_311
    resumes: bool = False


class Connack(NamedTuple):
    """The broker's answer. ``refusal``: why there is no connection; ``receive_maximum``: messages it takes at once."""

    refusal: str | None
    session_present: bool = False
    receive_maximum: int = RECEIVE_MAXIMUM


class EventLoop(Protocol):
    """What the client needs of a loop; asyncio's has it."""

    def add_reader(self, handle: int, callback: Callable[[], object], /) -> object: ...
    def remove_reader(self, handle: int, /) -> object: ...
    def add_writer(self, handle: int, callback: Callable[[], object], /) -> object: ...
    def remove_writer(self, handle: int, /) -> object: ...


class Owner(Protocol[T_contra]):
    """The one object that a client calls: in the loop while it reads or writes, and from `keep_alive`.

    Reasons are paho's names of MQTT 5's reason codes, in both versions."""

    def connected(self, connack: Connack) -> None:
        """The broker has answered; after a refusal the end follows."""

    def acknowledged(self, sent: T_contra, refusal: str | None) -> None:
        """The broker has a message or request. ``refusal``: why it does not take it; MQTT 3.1.1 never says so."""

    def received(self, topic: str, payload: bytes) -> None:
        """A message of a subscription."""

    def ended(self, problem: str) -> None:
        """There is no connection any more, and the client is of no use. What is in the map has no answer."""


class Client(Generic[T]):
    """One connection. ``in_flight`` is the map, from the message id to what `publish` was given; others may read it."""

    __slots__ = ("_in_flight", "_login", "_loop", "_owner", "_paho", "_problem")

    def __init__(self, login: Login, owner: Owner[T], in_flight: dict[int, T]) -> None:
        self._login, self._owner, self._in_flight = login, owner, in_flight
        self._loop: EventLoop | None = None  # while the owner is called
        self._problem = ""
        self._paho = client = paho.Client(
            CallbackAPIVersion.VERSION2,
            login.client_id,
            clean_session=None if login.version == MQTT_5 else not login.resumes,
            protocol=login.version,
            reconnect_on_failure=False,
        )
        client.max_inflight_messages_set(0)  # the outboxes have a limit
        if login.username:
            client.username_pw_set(login.username, login.password or None)
        if login.will is not None:
            client.will_set(*login.will, qos=1, retain=True)
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_publish = self._on_publish
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        client.on_log = self._on_log

    async def open(self, endpoint: Endpoint, within_s: float) -> None:
        """`connect` in a thread of its own, then `start` in the running loop. Who opens many limits their number."""
        opened: concurrent.futures.Future[None] = concurrent.futures.Future()
        opened.set_running_or_notify_cancel()

        def work() -> None:
            try:
                self.connect(endpoint, within_s)
            except BaseException as error:  # noqa: BLE001 - raised where it is awaited
                opened.set_exception(error)
            else:
                opened.set_result(None)

        # A program that ends does not wait for a daemon, unlike for a thread of an executor.
        threading.Thread(target=work, name="mqtt-connect", daemon=True).start()
        try:
            await asyncio.wrap_future(opened)
        except asyncio.CancelledError:
            opened.add_done_callback(lambda _: self.leave())
            raise
        self.start(asyncio.get_running_loop())

    def connect(self, endpoint: Endpoint, within_s: float) -> None:
        """Connect and send CONNECT; blocks. ``within_s``: for each of TCP (per address) and TLS.

        Raises OSError, of which TimeoutError, socket.gaierror and ssl.SSLError are kinds, and ValueError."""
        client, login = self._paho, self._login
        options: dict[str, Any] = {}
        if login.version == MQTT_5:
            options["clean_start"] = not login.resumes
            if login.resumes:
                options["properties"] = kept = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
                kept.SessionExpiryInterval = _FOR_EVER
        if endpoint.tls is not None:
            client.tls_set_context(endpoint.tls)
        client.connect_timeout = within_s
        client.connect(endpoint.host, endpoint.port, login.keepalive_s, **options)
        connected = client.socket()
        if not isinstance(connected, socket.socket):
            raise ConnectionError(self._problem or "the connection was closed at once")
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def start(self, loop: EventLoop) -> None:
        """After `connect`: from now on the loop reads and writes, and the owner is called."""
        client, self._loop = self._paho, loop
        connected = client.socket()
        assert connected is not None  # noqa: S101 - see `connect`
        handle = connected.fileno()
        loop.add_reader(handle, self._read)
        client.on_socket_register_write = self._on_socket_register_write
        client.on_socket_unregister_write = self._on_socket_unregister_write
        client.on_socket_close = self._on_socket_close
        if client.want_write():
            loop.add_writer(handle, self._write)

    @property
    def reports_refusals(self) -> bool:
        """Whether the broker says that it does not take a message."""
        return self._login.version == MQTT_5

    def publish(self, topic: str, payload: bytes, sent: T, retain: bool = False) -> None:
        """Send at QoS 1; ``sent`` is in the map until the broker has answered."""
        info = self._paho.publish(topic, payload, 1, retain)
        while info.rc == MQTTErrorCode.MQTT_ERR_QUEUE_SIZE:  # another message in flight has this id
            info = self._paho.publish(topic, payload, 1, retain)
        self._in_flight[info.mid] = sent

    def subscribe(self, topics: tuple[str, ...], sent: T | None = None) -> None:
        """Subscribe at QoS 0: the broker sends retained messages, and queues nothing while we are away."""
        _, mid = self._paho.subscribe([(topic, 0) for topic in topics])
        if sent is not None and mid is not None:
            self._in_flight[mid] = sent

    def unsubscribe(self, topic: str) -> None:
        """End a subscription."""
        self._paho.unsubscribe(topic)

    def keep_alive(self) -> None:
        """Call every second or so: sends pings, and ends a connection on which no answer comes."""
        self._paho.loop_misc()
        self._look()

    def leave(self) -> None:
        """Disconnect cleanly, so that the broker publishes no last will. The owner is not called any more.

        A socket that takes no more data is closed without DISCONNECT."""
        client = self._paho
        if self._loop is not None and (connected := client.socket()) is not None:
            self._on_socket_close(None, None, connected)
        self._let_go()
        client.disconnect()
        client.loop_write()
        if (connected := client.socket()) is not None:
            connected.close()

    def cut(self, problem: str = "cut off") -> None:
        """End the connection like a network outage: the broker publishes the last will, the owner hears of the end."""
        self._problem = self._problem or problem
        connected = self._paho.socket()
        if isinstance(connected, socket.socket):
            with contextlib.suppress(OSError):  # it has ended already
                connected.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        self._paho.loop_read()
        # What TLS has decrypted already, the loop does not see.
        while isinstance(connected := self._paho.socket(), ssl.SSLSocket) and connected.pending():
            self._paho.loop_read()
        self._look()

    def _write(self) -> None:
        self._paho.loop_write()
        self._look()

    def _look(self) -> None:
        """Report the end, outside of paho's callbacks."""
        if self._loop is not None and self._paho.socket() is None:
            self._let_go()
            self._owner.ended(self._problem)

    def _let_go(self) -> None:
        """No more calls; and no cycle of references, so that an ended connection takes no memory."""
        self._loop, client = None, self._paho
        client.on_connect = client.on_disconnect = client.on_publish = client.on_subscribe = client.on_message = None
        client.on_socket_register_write = client.on_socket_unregister_write = client.on_socket_close = None
        client.on_log = None

    # paho calls these.

    def _on_socket_register_write(self, _client: object, _data: object, connected: Any) -> None:
        if self._loop is not None:
            self._loop.add_writer(connected.fileno(), self._write)

    def _on_socket_unregister_write(self, _client: object, _data: object, connected: Any) -> None:
        if self._loop is not None:
            self._loop.remove_writer(connected.fileno())

    def _on_socket_close(self, _client: object, _data: object, connected: Any) -> None:
        if self._loop is not None:
            self._loop.remove_reader(connected.fileno())
            self._loop.remove_writer(connected.fileno())

    def _on_connect(
        self, _client: object, _data: object, flags: paho.ConnectFlags, code: ReasonCode, properties: Properties | None
    ) -> None:
        receive_maximum = getattr(properties, "ReceiveMaximum", RECEIVE_MAXIMUM)
        refusal = str(code) if code.is_failure else None
        self._problem = refusal or self._problem
        self._paho.on_log = None  # it costs some lines of text a message
        self._owner.connected(Connack(refusal, flags.session_present, receive_maximum))

    def _on_disconnect(self, _client: object, _data: object, _flags: object, code: ReasonCode, _more: object) -> None:
        reason = "the broker has closed the connection" if str(code) == _NO_REASON else str(code)
        self._problem = self._problem or reason

    def _on_publish(self, _client: object, _data: object, mid: int, code: ReasonCode, _more: object) -> None:
        sent = self._in_flight.pop(mid, None)
        if sent is not None:
            self._owner.acknowledged(sent, str(code) if code.is_failure else None)

    def _on_subscribe(self, _client: object, _data: object, mid: int, codes: list[ReasonCode], _more: object) -> None:
        sent = self._in_flight.pop(mid, None)
        if sent is not None:
            self._owner.acknowledged(sent, next((str(code) for code in codes if code.is_failure), None))

    def _on_message(self, _client: object, _data: object, message: paho.MQTTMessage) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError as error:
            self.cut(f"what came is not MQTT: {error}")
        else:
            self._owner.received(topic, bytes(message.payload))

    def _on_log(self, _client: object, _data: object, level: int, text: str) -> None:
        if level == LogLevel.MQTT_LOG_ERR:
            self._problem = self._problem or text
