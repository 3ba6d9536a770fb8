"""The few packets of MQTT 3.1.1 that a subscriber needs. Many publications are read at once."""

import re
from collections.abc import Iterable

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ = 0x10, 0x20, 0x30, 0x40, 0x82, 0x90, 0xC0
DISCONNECT = b"\xe0\x00"
_PING_BEGIN, _PING_END = bytes([PINGREQ]), b"\x00"
_LEVEL_AND_FLAGS = b"\x00\x04MQTT\x04\xc0"
"""Protocol level 4; a user name, a password, no clean session, no last will."""
_QOS_FLAGS = 0x06
_LENGTH_BYTES = 4
_TOPIC = re.compile(rb"sda/v1/(gateway|phone)/([A-Za-z0-9_.-]{1,64})/readings")
_BYTE_ORDER_MARK = re.compile(rb"\xef\xbb\xbf|\xfe\xff|\xff\xfe(?:\0\0)?|\0\0\xfe\xff")
"""A byte order mark is skipped, as in the flows."""
_MAX_PREFIXES = 200_000


class ProtocolError(Exception):
    """The broker has sent something that is not MQTT, or a refusal. The text says which."""


def connect(client_id: str, user: str, password: str, keepalive_s: int) -> bytes:
    """CONNECT that continues the client's session."""
    body = _LEVEL_AND_FLAGS + keepalive_s.to_bytes(2) + b"".join(map(_text, (client_id, user, password)))
    return bytes([CONNECT]) + _length(len(body)) + body


def subscribe(topics: Iterable[str]) -> bytes:
    """SUBSCRIBE with QoS 1 for all; its packet id is 1."""
    body = b"\x00\x01" + b"".join(_text(topic) + b"\x01" for topic in topics)
    return bytes([SUBSCRIBE]) + _length(len(body)) + body


class PacketReader:
    """Reads a stream in pieces of any size. Publications become lines. Other packets are returned whole."""

    def __init__(self) -> None:
        self._rest = b""
        self._prefixes: dict[bytes, bytes | None] = {}
        self.lines: list[bytes] = []
        """Line protocol: `batch,kind=phone,receiver=3 message="{…}"` and a newline; Telegraf sets the time."""
        self.acknowledgements: list[bytes] = []
        """A PUBACK for each publication so far, in their order."""
        self.size = 0
        """Bytes of `lines`."""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Take the next piece.

        Returns:
            The first byte and the body of every packet that is no publication.

        Raises:
            ProtocolError: the data is not MQTT.
        """
        data = self._rest + data if self._rest else data
        others: list[tuple[int, bytes]] = []
        at, end = 0, len(data)
        while end - at >= 2:
            first, length, body = data[at], data[at + 1], at + 2
            if length & 0x80:  # more bytes of the length follow
                found = _long_length(data, at + 1)
                if found is None:
                    break
                length, body = found
            stop = body + length
            if stop > end:
                break
            if first & 0xF0 == PUBLISH:
                self._take(data, first, body, stop)
            else:
                others.append((first, data[body:stop]))
            at = stop
        self._rest = data[at:]
        return others

    def forget(self) -> None:
        """Forget all lines and acknowledgements."""
        self.lines, self.acknowledgements, self.size = [], [], 0

    def _take(self, data: bytes, first: int, body: int, stop: int) -> None:
        payload = body + 2 + (data[body] << 8 | data[body + 1])
        topic = data[body + 2 : payload]
        if first & _QOS_FLAGS:
            self.acknowledgements.append(data[payload : payload + 2])
            payload += 2
        try:
            prefix = self._prefixes[topic]
        except KeyError:
            prefix = self._prefix(topic)
        if prefix is not None:
            line = prefix + _quoted(data[payload:stop])
            self.lines.append(line)
            self.size += len(line)

    def _prefix(self, topic: bytes) -> bytes | None:
        """The part of a line before the message. None: the contract has no such receiver."""
        match = _TOPIC.fullmatch(topic)
        if len(self._prefixes) >= _MAX_PREFIXES:
            self._prefixes.clear()
        prefix = b'batch,kind=%b,receiver=%b message="' % match.groups() if match else None
        self._prefixes[topic] = prefix
        return prefix


def begin_chain(packets: bytes) -> bytes:
    """The first packets of a chain. A chain always ends with half a PINGREQ.

    Mosquitto reads one TLS record, then serves all other clients. When eight thousand of them publish at once, that is
    too seldom. In the middle of a packet Mosquitto reads on, record after record, until the packet is complete.
    """
    return packets + _PING_BEGIN


def continue_chain(packets: bytes = b"") -> bytes:
    """Further packets of a chain. Without any packets this completes a PINGREQ."""
    return _PING_END + packets + _PING_BEGIN


def end_chain(packets: bytes) -> bytes:
    """The last packets of a chain."""
    return _PING_END + packets


def acknowledge(packet_ids: Iterable[bytes]) -> bytes:
    """PUBACKs."""
    return b"".join(b"\x40\x02" + packet_id for packet_id in packet_ids)


def _quoted(payload: bytes) -> bytes:
    """The rest of a line. A newline would end it, so it becomes a tab, which JSON allows in the same places."""
    if payload[:1] != b"{" and (mark := _BYTE_ORDER_MARK.match(payload)):
        payload = payload[mark.end() :]
    if b"\\" in payload:
        payload = payload.replace(b"\\", b"\\\\")
    return payload.replace(b'"', b'\\"').replace(b"\n", b"\t") + b'"\n'


def _text(text: str) -> bytes:
    encoded = text.encode()
    return len(encoded).to_bytes(2) + encoded


def _length(length: int) -> bytes:
    encoded = bytearray()
    while length > 0x7F:
        encoded.append(length & 0x7F | 0x80)
        length >>= 7
    encoded.append(length)
    return bytes(encoded)


def _long_length(data: bytes, at: int) -> tuple[int, int] | None:
    """A remaining length, and where the body begins. None: not all of the length has arrived."""
    length = 0
    for number, byte in enumerate(data[at : at + _LENGTH_BYTES]):
        length |= (byte & 0x7F) << 7 * number
        if not byte & 0x80:
            return length, at + number + 1
    if len(data) - at >= _LENGTH_BYTES:
        raise ProtocolError("a length of more than four bytes")
    return None
