"""Reads messages from the broker into a queue on disk, and acknowledges them when the disk has them."""

import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import mqtt_packets as mqtt
from disk_queue import DiskQueue, QueueFullError

MESSAGES = "messages"
"""The bucket of the queue's records."""
KEEPALIVE_S = 60
ANSWER_WITHIN_S = 10.0
RECONNECT_AFTER_S = 1.0
READ_EVERY_S = 0.02
"""A pause between reads takes more messages at once. At thousands a second that is a tenth of the system calls."""
MUCH_BYTES = 2**14
"""After a read of this size more data waits already. A pause would fill the socket, and then the broker's queue."""
SYNC_EVERY_S = 0.1
"""The disk is written at most ten times a second. Meanwhile the broker has 30,000 messages in flight."""
SYNC_BYTES = 2**20
RECEIVE_BYTES = 2**20
PIECE_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class Account:
    """The account that reads, and the broker: `url` is `tcp://host:port`, or `ssl://host:port`.

    On a plain connection Mosquitto reads one packet, then serves all other clients. When a thousand of them publish at
    once, acknowledgements hardly get through, and Mosquitto's queue for this account grows until it drops messages. On
    a TLS connection Mosquitto reads all packets of a TLS record. So TLS is used for that, not for secrecy. The
    certificate is not checked: the listener is on the same loopback interface or container network as the plain one.
    """

    url: str
    client_id: str
    user: str
    password: str


class BrokerReader:
    """Puts the messages of `topics` into `queue` until `stopped`."""

    def __init__(
        self,
        account: Account,
        topics: Sequence[str],
        queue: DiskQueue,
        stopped: threading.Event,
        log: Callable[[str], None],
    ) -> None:
        self._account, self._topics, self._queue = account, topics, queue
        self._stopped, self._log = stopped, log
        self.fault = ""
        """Why nothing is read at present. Empty: reading works."""

    def run(self) -> None:
        """Read until stopped. Connects again whenever the connection ends."""
        while not self._stopped.is_set():
            try:
                self._read_connection()
            except (OSError, mqtt.ProtocolError, QueueFullError) as error:
                text = f"nothing is read from the broker: {error or type(error).__name__}"
                if text != self.fault:
                    self._log(text)
                self.fault = text
                self._stopped.wait(RECONNECT_AFTER_S)

    def _read_connection(self) -> None:
        url = urlsplit(self._account.url)
        with socket.create_connection((url.hostname or "127.0.0.1", url.port or 1883), ANSWER_WITHIN_S) as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with _unchecked_tls().wrap_socket(plain) if url.scheme == "ssl" else plain as connection:
                self._begin(connection)
                self._read(connection)
                connection.sendall(mqtt.end_chain(mqtt.DISCONNECT))

    def _begin(self, connection: socket.socket) -> None:
        """Continue the session. The broker may send publications between the answers."""
        account = self._account
        connection.sendall(mqtt.connect(account.client_id, account.user, account.password, KEEPALIVE_S))
        self._reader = mqtt.PacketReader()
        self._waits_for = [mqtt.CONNACK, mqtt.SUBACK]

    def _read(self, connection: socket.socket) -> None:
        reader = self._reader
        began_s = heard_s = sent_s = time.monotonic()
        oldest_s, much = 0.0, False
        while not self._stopped.is_set():
            if not much:
                select.select([connection], [], [], SYNC_EVERY_S if reader.acknowledgements else 1.0)
            data = _received(connection)
            much = len(data) >= MUCH_BYTES
            now_s = time.monotonic()
            if data:
                heard_s = now_s
                oldest_s = oldest_s if reader.acknowledgements else now_s
                self._answers(connection, reader.feed(data))
            if reader.acknowledgements and (now_s - oldest_s >= SYNC_EVERY_S or reader.size >= SYNC_BYTES):
                self._keep(connection)
                sent_s = now_s
            if self._waits_for and now_s - began_s > ANSWER_WITHIN_S:
                raise mqtt.ProtocolError("the broker does not answer")
            if now_s - sent_s >= KEEPALIVE_S / 2:
                connection.sendall(mqtt.continue_chain())
                sent_s = now_s
            if now_s - heard_s > KEEPALIVE_S * 1.5:
                raise ConnectionError("nothing is heard from the broker")
            if data and not much:
                self._stopped.wait(READ_EVERY_S)
        self._keep(connection)

    def _keep(self, connection: socket.socket) -> None:
        reader = self._reader
        if reader.lines:
            self._queue.append(MESSAGES, b"".join(reader.lines))
        if reader.acknowledgements:
            connection.sendall(mqtt.continue_chain(mqtt.acknowledge(reader.acknowledgements)))
        reader.forget()

    def _answers(self, connection: socket.socket, packets: list[tuple[int, bytes]]) -> None:
        """Subscribe when the broker has accepted the account. Raises ProtocolError when it refuses."""
        for first, body in packets:
            if first not in self._waits_for[:1]:
                continue  # PINGRESP
            self._waits_for.pop(0)
            if first == mqtt.CONNACK:
                if body[1:] != b"\0":
                    raise mqtt.ProtocolError(f"the broker refuses the account {self._account.user}")
                connection.sendall(mqtt.begin_chain(mqtt.subscribe(self._topics)))
            elif any(code & 0x80 for code in body[2:]):
                raise mqtt.ProtocolError(f"the broker refuses a subscription of {self._account.user}")
            else:
                self._log("reads from the broker")
                self.fault = ""


def _received(connection: socket.socket) -> bytes:
    """Returns all that has arrived, at most RECEIVE_BYTES and one TLS record. Raises ConnectionError at the end."""
    pieces: list[bytes] = []
    size = 0
    connection.settimeout(0)
    try:
        while size < RECEIVE_BYTES:
            pieces.append(connection.recv(PIECE_BYTES))
            size += len(pieces[-1])
            if not pieces[-1]:
                raise ConnectionError("the broker has closed the connection")
    except (BlockingIOError, ssl.SSLWantReadError):
        pass
    finally:
        connection.settimeout(ANSWER_WITHIN_S)
    return b"".join(pieces)


def _unchecked_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
