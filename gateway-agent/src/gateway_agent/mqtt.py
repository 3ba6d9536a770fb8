"""An MQTT client (5 and 3.1.1) on a connected socket of an event loop: no thread, no lock, nothing that blocks.

It publishes at QoS 1 and subscribes at QoS 0. The agent, the simulator and the load laboratory use it; what each wants
to know again of a message is in **one** map, from the message's id to that, until the broker has answered. It neither
reconnects nor sends anything again: both users have an outbox. Why no library: docs/decisions/011.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

from gateway_agent.endpoint import Stream

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

MQTT_311, MQTT_5 = 4, 5
"""The protocol's versions as CONNECT names them."""
RECEIVE_MAXIMUM = 65535  # the default of MQTT 5; MQTT 3.1.1 has no limit
_FOR_EVER = 0xFFFFFFFF

_CONNECT, _CONNACK, _PUBLISH, _PUBACK = 0x10, 0x20, 0x30, 0x40
_SUBSCRIBE, _SUBACK, _UNSUBSCRIBE, _UNSUBACK = 0x82, 0x90, 0xA2, 0xB0
_PINGREQ, _DISCONNECT = b"\xc0\x00", b"\xe0\x00"
_DISCONNECTED = 0xE0
_KIND, _QOS, _QOS_1, _RETAIN = 0xF0, 0x06, 0x02, 0x01
_CLEAN, _WILL, _PASSWORD, _USERNAME = 0x02, 0x2C, 0x40, 0x80  # the will at QoS 1, retained
_LONGEST = 4  # bytes of a remaining length
_FAILED = 0x80  # and above: reason codes of failures

# Reason codes of MQTT 5 and return codes of MQTT 3.1.1 (below 0x80), as the standards name them.
REASONS = {
    0x01: "Unsupported protocol version",
    0x02: "Client identifier not valid",
    0x03: "Server unavailable",
    0x04: "Bad user name or password",
    0x05: "Not authorized",
    0x80: "Unspecified error",
    0x81: "Malformed packet",
    0x82: "Protocol error",
    0x83: "Implementation specific error",
    0x84: "Unsupported protocol version",
    0x85: "Client identifier not valid",
    0x86: "Bad user name or password",
    0x87: "Not authorized",
    0x88: "Server unavailable",
    0x89: "Server busy",
    0x8A: "Banned",
    0x8B: "Server shutting down",
    0x8C: "Bad authentication method",
    0x8D: "Keep alive timeout",
    0x8E: "Session taken over",
    0x8F: "Topic filter invalid",
    0x90: "Topic name invalid",
    0x91: "Packet identifier in use",
    0x93: "Receive maximum exceeded",
    0x95: "Packet too large",
    0x96: "Message rate too high",
    0x97: "Quota exceeded",
    0x98: "Administrative action",
    0x99: "Payload format invalid",
    0x9A: "Retain not supported",
    0x9B: "QoS not supported",
    0x9C: "Use another server",
    0x9D: "Server moved",
    0x9F: "Connection rate exceeded",
}
# Length of a property's value in bytes, to find the ones that matter; the others are text with its length.
_PROPERTY_BYTES = {
    **dict.fromkeys((0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2A), 1),
    **dict.fromkeys((0x13, 0x21, 0x22, 0x23), 2),
    **dict.fromkeys((0x02, 0x11, 0x18, 0x27), 4),
}
_PAIR, _SESSION_EXPIRY, _KEEP_ALIVE, _RECEIVE = 0x26, 0x11, 0x13, 0x21


class ProtocolError(ValueError):
    """Something else than MQTT came."""


class Login(NamedTuple):
    """A client's account and wishes. ``will``: topic and payload, retained. ``resumes``: its session is kept.

    Silence of ``keepalive_s`` is tested; twice that ends the connection."""

    client_id: str
    username: str
    password: str
    keepalive_s: int
    will: tuple[str, bytes] | None = None
    version: int = MQTT_311
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
    """The one object that a client calls: in the loop while it reads, and from `keep_alive`."""

    def connected(self, connack: Connack) -> None:
        """The broker has answered; after a refusal the end follows."""

    def acknowledged(self, sent: T_contra, refusal: str | None) -> None:
        """The broker has a message or request. ``refusal``: why it does not take it; MQTT 3.1.1 never says so."""

    def received(self, topic: str, payload: bytes) -> None:
        """A message of a subscription."""

    def ended(self, problem: str) -> None:
        """There is no connection any more, and the client is of no use. What is in the map has no answer."""


class Client(Generic[T]):
    """One connection: sends CONNECT on ``stream``, which it closes. Raises ValueError for a login that MQTT cannot say.

    ``in_flight`` is the map, from the message id to what `publish` was given. Others may read it.
    """

    __slots__ = (
        "_connected",
        "_heard_s",
        "_in_flight",
        "_is_5",
        "_keepalive_s",
        "_last_id",
        "_loop",
        "_out",
        "_owner",
        "_pinged_s",
        "_problem",
        "_rest",
        "_sent_s",
        "_stream",
    )

    def __init__(
        self, stream: Stream, login: Login, owner: Owner[T], in_flight: dict[int, T], loop: EventLoop | None = None
    ) -> None:
        try:
            packet = _connect(login)
        except BaseException:
            stream.close()
            raise
        self._owner, self._in_flight = owner, in_flight
        self._loop: EventLoop = loop or asyncio.get_running_loop()
        self._stream: Stream | None = stream
        self._is_5, self._keepalive_s = login.version == MQTT_5, login.keepalive_s
        self._connected = False
        self._last_id = 0
        self._out = self._rest = b""
        self._problem = ""
        self._heard_s = self._sent_s = time.monotonic()
        self._pinged_s: float | None = None
        self._loop.add_reader(stream.fileno(), self._on_readable)
        self._write(packet)

    @property
    def has_unsent(self) -> bool:
        """Whether something waits until the socket takes it."""
        return bool(self._out)

    @property
    def reports_refusals(self) -> bool:
        """Whether the broker says that it does not take a message."""
        return self._is_5

    def publish(self, topic: str, payload: bytes, sent: T, retain: bool = False) -> None:
        """Send at QoS 1; ``sent`` is in the map until the broker has answered."""
        name = topic.encode()
        body = (len(name).to_bytes(2), name, self._register(sent), b"\0" if self._is_5 else b"", payload)
        self._write(_packet(_PUBLISH | _QOS_1 | retain, b"".join(body)))

    def subscribe(self, topics: tuple[str, ...], sent: T | None = None) -> None:
        """Subscribe at QoS 0: the broker sends retained messages, and queues nothing while we are away."""
        asked = b"".join(_text(topic) + b"\0" for topic in topics)
        self._write(_packet(_SUBSCRIBE, self._register(sent) + (b"\0" if self._is_5 else b"") + asked))

    def unsubscribe(self, topic: str) -> None:
        """End a subscription."""
        self._write(_packet(_UNSUBSCRIBE, self._register(None) + (b"\0" if self._is_5 else b"") + _text(topic)))

    def keep_alive(self) -> None:
        """Call every second or so: sends pings, and ends a connection on which no answer comes."""
        now_s = time.monotonic()
        if self._stream is None or now_s - min(self._heard_s, self._sent_s) < self._keepalive_s:
            return
        if self._pinged_s is None and self._connected:
            self._pinged_s = now_s
            self._write(_PINGREQ)
        elif now_s - (self._pinged_s or self._sent_s) >= self._keepalive_s:
            self._end(f"no answer for {self._keepalive_s} s")

    def leave(self) -> None:
        """Disconnect cleanly, so that the broker publishes no last will. The owner is not called any more.

        A socket that takes no more data is closed without DISCONNECT."""
        self._write(_DISCONNECT)
        self._close()

    def cut(self) -> None:
        """End the connection like a network outage: the broker publishes the last will, the owner hears of the end."""
        if self._stream is not None:
            self._problem = self._problem or "cut off"
            self._stream.cut()

    def _register(self, sent: T | None) -> bytes:
        """The id of the next message or request."""
        self._last_id = mid = self._last_id % 0xFFFF + 1
        while mid in self._in_flight:
            self._last_id = mid = mid % 0xFFFF + 1
        if sent is not None:
            self._in_flight[mid] = sent
        return mid.to_bytes(2)

    def _write(self, packet: bytes) -> None:
        if self._stream is None or self._problem:
            return
        self._sent_s = time.monotonic()
        if self._out:
            self._out += packet
            return
        written = self._send(packet)
        if written < len(packet):
            self._out = packet[written:]
            self._loop.add_writer(self._stream.fileno(), self._on_writable)

    def _on_writable(self) -> None:
        self._out = self._out[self._send(self._out) :]
        if not self._out and self._stream is not None:
            self._loop.remove_writer(self._stream.fileno())

    def _send(self, data: bytes) -> int:
        """How many bytes the socket took. An error ends the connection where the end is read, not here."""
        assert self._stream is not None  # noqa: S101 - see the callers
        try:
            return self._stream.send(data)
        except OSError as error:
            self._problem = error.strerror or str(error)
            self._stream.cut()
            return len(data)

    def _on_readable(self) -> None:
        assert self._stream is not None  # noqa: S101 - there is a reader
        if self._problem:
            self._end(self._problem)
            return
        try:
            data = self._stream.receive()
            if data:
                self._heard_s, self._pinged_s = time.monotonic(), None
                self._read(self._rest + data if self._rest else data)
            elif data is not None:
                self._end("the broker has closed the connection")
        except OSError as error:
            self._end(error.strerror or str(error))
        except (ProtocolError, IndexError, UnicodeDecodeError) as error:
            self._end(f"what came is not MQTT: {error}")

    def _read(self, data: bytes) -> None:
        """Take all whole packets; the rest waits for more data."""
        at, end = 0, len(data)
        while end - at >= 2 and self._stream is not None:
            body = at + 2
            size = data[at + 1]
            if size & 0x80:
                found = _long_length(data, at + 1)
                if found is None:
                    break
                size, body = found
            if body + size > end:
                break
            if data[at] == _PUBACK and size == 2:  # nearly all packets are this one
                self._answered(data, body, 0)
            else:
                self._packet(data[at], data[body : body + size])
            at = body + size
        self._rest = data[at:]

    def _packet(self, first: int, body: bytes) -> None:
        kind = first & _KIND
        if kind == _PUBLISH:
            self._message(first, body)
        elif kind == _CONNACK:
            self._connack(body)
        elif kind == _PUBACK:
            self._answered(body, 0, body[2])
        elif kind in (_SUBACK, _UNSUBACK):
            self._answered(body, 0, body[-1])
        elif kind == _DISCONNECTED:
            self._end(REASONS.get(body[0], f"reason {body[0]}") if body else "the broker has disconnected")

    def _answered(self, data: bytes, at: int, reason: int) -> None:
        sent = self._in_flight.pop(data[at] << 8 | data[at + 1], None)
        if sent is not None:
            refusal = None if reason < _FAILED else REASONS.get(reason, f"reason {reason}")
            self._owner.acknowledged(sent, refusal)

    def _message(self, first: int, body: bytes) -> None:
        name = 2 + (body[0] << 8 | body[1])
        at = name
        if first & _QOS:
            if first & _QOS != _QOS_1:
                raise ProtocolError("a message at QoS 2 was not asked for")
            at += 2
            self._write(_packet(_PUBACK, body[name:at]))
        if self._is_5:
            size, at = _length(body, at)
            at += size
        self._owner.received(body[2:name].decode(), body[at:])

    def _connack(self, body: bytes) -> None:
        code = body[1]
        if code:
            refusal = REASONS.get(code, f"reason {code}")
            self._owner.connected(Connack(refusal))
            self._end(refusal)
            return
        self._connected = True
        numbers = _numbers(body, 2) if self._is_5 else {}
        self._keepalive_s = numbers.get(_KEEP_ALIVE, self._keepalive_s)
        self._owner.connected(Connack(None, bool(body[0] & 1), numbers.get(_RECEIVE, RECEIVE_MAXIMUM)))

    def _end(self, problem: str) -> None:
        if self._stream is not None:
            self._close()
            self._owner.ended(self._problem or problem)

    def _close(self) -> None:
        if self._stream is not None:
            handle = self._stream.fileno()
            self._loop.remove_reader(handle)
            self._loop.remove_writer(handle)
            with contextlib.suppress(OSError):
                self._stream.close()
            self._stream = None


def _connect(login: Login) -> bytes:
    is_5 = login.version == MQTT_5
    flags = 0 if login.resumes else _CLEAN
    expiry = b"\x05" + bytes([_SESSION_EXPIRY]) + _FOR_EVER.to_bytes(4) if login.resumes else b"\0"
    rest = [expiry if is_5 else b"", _text(login.client_id)]
    if login.will is not None:
        topic, payload = login.will
        flags |= _WILL
        rest += [b"\0" if is_5 else b"", _text(topic), len(payload).to_bytes(2), payload]
    if login.username:
        flags |= _USERNAME
        rest.append(_text(login.username))
    if login.password:
        flags |= _PASSWORD
        rest.append(_text(login.password))
    head = b"\0\x04MQTT" + bytes([login.version, flags]) + login.keepalive_s.to_bytes(2)
    return _packet(_CONNECT, head + b"".join(rest))


def _packet(first: int, body: bytes) -> bytes:
    size = len(body)
    if size < 0x80:
        return bytes((first, size)) + body
    head = bytearray((first,))
    while size > 0x7F:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    return bytes(head) + body


def _text(text: str) -> bytes:
    encoded = text.encode()
    if len(encoded) > 0xFFFF:
        raise ValueError(f"{text[:20]!r}… is longer than MQTT's 65,535 bytes")
    return len(encoded).to_bytes(2) + encoded


def _long_length(data: bytes, at: int) -> tuple[int, int] | None:
    """A length and where it ends. None: not all of it has come. Raises ProtocolError."""
    size = 0
    for number, byte in enumerate(data[at : at + _LONGEST]):
        size |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return size, at + number + 1
    if len(data) - at >= _LONGEST:
        raise ProtocolError("a length of more than four bytes")
    return None


def _length(data: bytes, at: int) -> tuple[int, int]:
    """As `_long_length`, of a packet that is complete."""
    found = _long_length(data, at)
    if found is None:
        raise ProtocolError("a length without an end")
    return found


def _numbers(body: bytes, at: int) -> dict[int, int]:
    """The properties of a packet that are numbers of fixed length."""
    size, at = _length(body, at)
    end = at + size
    numbers = {}
    while at < end:
        name = body[at]
        at += 1
        fixed = _PROPERTY_BYTES.get(name)
        if fixed is not None:
            numbers[name] = int.from_bytes(body[at : at + fixed])
            at += fixed
        else:
            for _ in range(2 if name == _PAIR else 1):
                at += 2 + (body[at] << 8 | body[at + 1])
    return numbers
