"""The MQTT client: connecting, much data, packets in pieces, a broker that does not answer or says something else."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from gateway_agent.endpoint import Endpoint, Stream
from gateway_agent.mqtt import MQTT_5, MQTT_311, Client, Connack, Login
from hypothesis import given
from hypothesis import strategies as st
from real_broker import PASSWORDS, Broker
from unused_ports import unused_ports

TOPIC = "sda/v1/gateway/gw-test/readings"
CONNACK, CONNACK_5, PINGRESP = b"\x20\x02\x00\x00", b"\x20\x06\x00\x00\x03\x21\x00\x0a", b"\xd0\x00"


class Owner:
    """Notes what the client calls."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.connack: Connack | None = None
        self.acknowledgements: list[tuple[int, str | None]] = []
        self.messages: list[tuple[str, bytes]] = []
        self.problem: str | None = None

    def connected(self, connack: Connack) -> None:
        self.connack = connack
        self.changed.set()

    def acknowledged(self, sent: int, refusal: str | None) -> None:
        self.acknowledgements.append((sent, refusal))
        self.changed.set()

    def received(self, topic: str, payload: bytes) -> None:
        self.messages.append((topic, payload))
        self.changed.set()

    def ended(self, problem: str) -> None:
        self.problem = problem
        self.changed.set()

    async def until(self, state: str, count: int = 1) -> None:
        """Wait until there are so many of these."""
        async with asyncio.timeout(60):
            while not (found := getattr(self, state)) or (isinstance(found, list) and len(found) < count):
                self.changed.clear()
                await self.changed.wait()


def login(version: int = MQTT_311, keepalive_s: int = 30) -> Login:
    return Login("test", "simulator", PASSWORDS["simulator"], keepalive_s, version=version)


@contextmanager
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The client's end and the broker's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.settimeout(10)
        yield ours, theirs


def test_a_stream_says_what_has_come() -> None:
    with sockets() as (ours, theirs):
        stream = Stream(ours)
        assert stream.receive() is None
        theirs.send(b"abc")
        assert [stream.receive(), stream.receive()] == [b"abc", None]
        stream.cut()
        assert stream.receive() == b""


def test_an_endpoint_tries_each_address() -> None:
    async def connect(endpoint: Endpoint) -> int:
        stream = await endpoint.connect(5)
        stream.close()
        return stream.fileno()

    with socket.create_server(("127.0.0.1", 0)) as server:  # localhost may be ::1 first, where nothing listens
        assert asyncio.run(connect(Endpoint("localhost", server.getsockname()[1]))) == -1
    with pytest.raises(ConnectionRefusedError):
        asyncio.run(connect(Endpoint("localhost", unused_ports(1)[0])))
    with pytest.raises(socket.gaierror):
        asyncio.run(connect(Endpoint("broker.invalid", 1)))


@pytest.mark.parametrize("version", [MQTT_311, MQTT_5])
def test_more_than_the_socket_takes_is_acknowledged(broker: Broker, version: int) -> None:
    payload, messages = b"x" * 60_000, 200  # 12 MB at once: the socket's buffers hold less

    async def work() -> Owner:
        owner, in_flight = Owner(), dict[int, int]()
        client = Client(await Endpoint("127.0.0.1", broker.port).connect(10), login(version), owner, in_flight)
        await owner.until("connack")
        broker.freeze()  # it reads nothing meanwhile
        for number in range(messages):
            client.publish(TOPIC, payload, number)
        assert client.has_unsent
        assert list(in_flight.values()) == list(range(messages))
        broker.thaw()
        await owner.until("acknowledgements", messages)
        assert not in_flight
        client.leave()
        return owner

    assert asyncio.run(work()).acknowledgements == [(number, None) for number in range(messages)]


@pytest.mark.parametrize("version", [MQTT_311, MQTT_5])
def test_a_broker_sends_what_was_subscribed(broker: Broker, version: int) -> None:
    async def work() -> list[tuple[str, bytes]]:
        owner = Owner()
        client = Client(await Endpoint("127.0.0.1", broker.port).connect(10), login(version), owner, dict[int, int]())
        client.subscribe(("$SYS/broker/uptime",), 7)
        await owner.until("acknowledgements")
        await owner.until("messages")
        client.leave()
        assert owner.problem is None
        return owner.messages

    (((topic, payload),)) = asyncio.run(work())
    assert topic == "$SYS/broker/uptime"
    assert payload.endswith(b" seconds")


def puback(mid: int) -> bytes:
    return b"\x40\x02" + mid.to_bytes(2)


@pytest.mark.parametrize(
    "parts",
    [
        [puback(1), puback(2), puback(3)],
        [puback(1) + puback(2) + puback(3)],
        [puback(1)[:1], puback(1)[1:] + puback(2)[:3], puback(2)[3:] + puback(3)],
        [PINGRESP + puback(1) + puback(2) + PINGRESP, puback(3)],
        [puback(1) + PINGRESP[:1], PINGRESP[1:] + puback(2) + puback(3)],
    ],
    ids=["one by one", "together", "in pieces", "between others", "before half of another"],
)
def test_acknowledgements_are_read_however_they_come(parts: list[bytes]) -> None:
    async def work(ours: socket.socket, theirs: socket.socket) -> list[tuple[int, str | None]]:
        owner = Owner()
        client = Client(Stream(ours), login(), owner, dict[int, int]())
        theirs.send(CONNACK)
        await owner.until("connack")
        for number in (1, 2, 3):
            client.publish(TOPIC, b"{}", number)
        for part in parts:
            theirs.send(part)
            while not is_read(ours):  # noqa: ASYNC110 - the next part is to come alone
                await asyncio.sleep(0)
        await owner.until("acknowledgements", 3)
        theirs.close()
        await owner.until("problem")
        return owner.acknowledgements

    with sockets() as pair:
        assert asyncio.run(work(*pair)) == [(1, None), (2, None), (3, None)]


def is_read(connected: socket.socket) -> bool:
    """Whether the client has taken what came, so that the next part comes alone."""
    try:
        return not connected.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True


def answers_to(*sent: bytes, version: int = MQTT_5, publish: int = 3) -> Owner:
    """What the owner hears when the broker sends these to a client with messages 1 … ``publish`` in flight."""

    async def work(ours: socket.socket, theirs: socket.socket) -> Owner:
        owner = Owner()
        client = Client(Stream(ours), login(version), owner, dict[int, int]())
        for number in range(1, publish + 1):
            client.publish(TOPIC, b"{}", number)
        theirs.sendall(b"".join(sent))
        theirs.shutdown(socket.SHUT_WR)
        await owner.until("problem")
        return owner

    with sockets() as pair:
        return asyncio.run(work(*pair))


def test_mqtt_5_says_what_the_broker_takes_and_refuses() -> None:
    owner = answers_to(CONNACK_5, puback(1), b"\x40\x03\x00\x02\x10", b"\x40\x04\x00\x03\x87\x00", puback(9))
    assert owner.connack == Connack(None, False, 10)
    assert owner.acknowledgements == [(1, None), (2, None), (3, "Not authorized")]  # 0x10: nobody subscribed to it
    assert owner.problem == "the broker has closed the connection"


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (b"\x20\x02\x00\x05", "Not authorized"),
        (b"\x20\x03\x00\x86\x00", "Bad user name or password"),
        (b"\x20\x02\x00\x01", "Unsupported protocol version"),
        (CONNACK_5 + b"\xe0\x02\x8e\x00", "Session taken over"),
        (CONNACK_5 + b"\xe0\x00", "the broker has disconnected"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the broker has closed the connection"),
        (b"\x20\xff\xff\xff\xff\xff", "what came is not MQTT: a length of more than four bytes"),
        (CONNACK_5 + b"\x34\x08\x00\x01t\x00\x01\x00{}", "what came is not MQTT: a message at QoS 2"),
    ],
)
def test_an_end_has_its_reason(sent: bytes, problem: str) -> None:
    owner = answers_to(sent)
    assert str(owner.problem).startswith(problem)
    refused = sent[:1] == b"\x20" and sent[3:4] != b"\0" and len(sent) < 6
    assert (owner.connack is not None and owner.connack.refusal == problem) is refused


class Pieces(Stream):
    """A stream of which the broker's end is a list of pieces."""

    __slots__ = ("pieces",)

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    def receive(self) -> bytes | None:
        return self.pieces.pop(0) if self.pieces else b""

    def send(self, data: bytes) -> int:
        return len(data)

    def fileno(self) -> int:
        return 7

    def close(self) -> None:
        pass


class Loop:
    """A loop that reads until the end."""

    def add_reader(self, _handle: int, callback: Callable[[], object]) -> None:
        self.read = callback

    def remove_reader(self, _handle: int) -> None:
        pass

    add_writer = add_reader
    remove_writer = remove_reader


@given(st.lists(st.integers(1, 400), max_size=8))
def test_packets_may_be_cut_anywhere(cuts: list[int]) -> None:
    packets = CONNACK_5 + PINGRESP + b"\x30\x86\x02\x00\x01t\x02\x01\x01" + b"x" * 256 + b"\x40\x04\x00\x01\x87\x00"
    packets += b"\x90\x04\x00\x02\x00\x00" + PINGRESP + puback(3) + b"\xe0\x02\x8e\x00"
    places = sorted({0, *(cut for cut in cuts if cut < len(packets)), len(packets)})
    owner, loop = Owner(), Loop()
    client = Client(Pieces([packets[a:b] for a, b in pairwise(places)]), login(MQTT_5), owner, dict[int, int](), loop)
    for number in (1, 2, 3):
        client.publish(TOPIC, b"{}", number)
    while owner.problem is None:
        loop.read()
    assert owner.connack == Connack(None, False, 10)
    assert owner.messages == [("t", b"x" * 256)]
    assert owner.acknowledgements == [(1, "Not authorized"), (2, None), (3, None)]
    assert owner.problem == "Session taken over"


@given(st.binary(max_size=60))
def test_whatever_comes_ends_in_a_reason_or_in_nothing(data: bytes) -> None:
    for version in (MQTT_311, MQTT_5):
        owner = answers_to(data, version=version)
        assert owner.problem
        assert len(owner.acknowledgements) <= 3


def test_a_message_id_is_not_used_twice() -> None:
    async def work(ours: socket.socket, theirs: socket.socket) -> dict[int, int]:
        in_flight = {65_534: -1, 1: -2}
        client = Client(Stream(ours), login(), Owner(), in_flight)
        for number in range(70_000):
            client.publish("t", b"", number)
            mid = next(reversed(in_flight))
            assert in_flight.pop(mid) == number
            theirs.recv(1 << 16)
        client.leave()
        return in_flight

    with sockets() as pair:
        assert asyncio.run(work(*pair)) == {65_534: -1, 1: -2}


def test_a_frozen_broker_is_noticed(broker: Broker) -> None:
    async def work() -> Owner:
        owner = Owner()
        client = Client(
            await Endpoint("127.0.0.1", broker.port).connect(10), login(keepalive_s=1), owner, dict[int, int]()
        )
        await owner.until("connack")
        broker.freeze()
        async with asyncio.timeout(20):
            while owner.problem is None:
                client.keep_alive()
                await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0.1))])
        return owner

    assert asyncio.run(work()).problem == "no answer for 1 s"


def test_an_idle_connection_is_kept(broker: Broker) -> None:
    async def work() -> Owner:
        owner = Owner()
        client = Client(
            await Endpoint("127.0.0.1", broker.port).connect(10), login(keepalive_s=1), owner, dict[int, int]()
        )
        await owner.until("connack")
        ends = asyncio.get_running_loop().time() + 4  # the broker ends a silent connection after 1.5 s
        while asyncio.get_running_loop().time() < ends and owner.problem is None:
            client.keep_alive()
            await asyncio.wait([asyncio.ensure_future(owner.changed.wait())], timeout=0.1)
        client.publish(TOPIC, b"{}", 1)
        await owner.until("acknowledgements")
        client.leave()
        return owner

    assert asyncio.run(work()).problem is None
