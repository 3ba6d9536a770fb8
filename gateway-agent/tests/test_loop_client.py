"""paho without threads: connecting, much data, a broker that does not answer, and paho's methods that are replaced."""

import asyncio
import inspect
import socket

import pytest
from gateway_agent.endpoint import Endpoint, Stream
from gateway_agent.loop_client import LoopClient
from paho.mqtt.client import Client
from paho.mqtt.enums import MQTTProtocolVersion
from real_broker import PASSWORDS, Broker
from unused_ports import unused_ports

V311, V5 = MQTTProtocolVersion.MQTTv311, MQTTProtocolVersion.MQTTv5
TOPIC = "sda/v1/gateway/gw-test/readings"


def test_a_stream_reads_ahead() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        stream = Stream(ours)
        with pytest.raises(BlockingIOError):
            stream.recv(1)
        theirs.send(b"abcdef")
        assert [stream.recv(1), stream.recv(2), stream.has_data()] == [b"a", b"bc", True]
        assert [stream.recv(9), stream.has_data()] == [b"def", False]
        stream.cut()
        assert stream.recv(1) == b""


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


@pytest.mark.parametrize("protocol", [V311, V5])
def test_more_than_the_socket_takes_is_acknowledged(broker: Broker, protocol: MQTTProtocolVersion) -> None:
    payload, messages = b"x" * 60_000, 200  # 12 MB at once: the socket's buffers hold less

    async def work() -> tuple[set[int], set[int]]:
        done = asyncio.Event()
        sent: set[int] = set()
        acknowledged: set[int] = set()

        def on_publish(_client: Client, _data: object, mid: int, *_more: object) -> None:
            acknowledged.add(mid)
            if len(acknowledged) == messages:
                done.set()

        client = LoopClient("test", protocol)
        client.username_pw_set("simulator", PASSWORDS["simulator"])
        connected = asyncio.Event()
        client.on_connect = lambda *_paho: connected.set()
        client.on_publish = on_publish
        await client.open(Endpoint("127.0.0.1", broker.port), 30, 10)
        await asyncio.wait_for(connected.wait(), 10)
        broker.freeze()  # it reads nothing meanwhile
        sent.update(client.send(TOPIC, payload) for _ in range(messages))
        assert client.want_write()
        broker.thaw()
        await asyncio.wait_for(done.wait(), 60)
        client.leave()
        return sent, acknowledged

    sent, acknowledged = asyncio.run(work())
    assert sent == acknowledged


CONNACK, PINGRESP = b"\x20\x02\x00\x00", b"\xd0\x00"


def puback(mid: int) -> bytes:
    return b"\x40\x02" + mid.to_bytes(2, "big")


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
    ours, theirs = socket.socketpair()

    async def work() -> list[int]:
        acknowledged: list[int] = []
        connected, lost, read = asyncio.Event(), asyncio.Event(), asyncio.Event()
        client = LoopClient("test", V311)
        client.on_connect = lambda *_paho: connected.set()
        client.on_disconnect = lambda *_paho: lost.set()

        def on_publish(_client: Client, _data: object, mid: int, *_more: object) -> None:
            acknowledged.append(mid)
            read.set()

        client.on_publish = on_publish
        ours.setblocking(False)
        client.start(Stream(ours), "broker", 1, 30)
        theirs.send(CONNACK)
        await asyncio.wait_for(connected.wait(), 10)
        assert [client.send(TOPIC, b"{}") for _ in range(3)] == [1, 2, 3]
        for part in parts:
            theirs.send(part)
            while not is_read(ours):  # noqa: ASYNC110 - the next part is to come alone
                await asyncio.sleep(0)
        while len(acknowledged) < 3:
            read.clear()
            await asyncio.wait_for(read.wait(), 10)
        theirs.close()
        await asyncio.wait_for(lost.wait(), 10)
        return acknowledged

    with ours, theirs:
        assert asyncio.run(work()) == [1, 2, 3]


def is_read(connected: socket.socket) -> bool:
    """Whether the client has taken what came, so that the next part comes alone."""
    try:
        return not connected.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True


def test_a_frozen_broker_is_noticed(broker: Broker) -> None:
    async def work() -> None:
        lost = asyncio.Event()
        client = LoopClient("test", V311)
        client.username_pw_set("simulator", PASSWORDS["simulator"])
        client.on_disconnect = lambda *_paho: lost.set()
        await client.open(Endpoint("127.0.0.1", broker.port), 1, 10)
        broker.freeze()
        async with asyncio.timeout(20):
            while not lost.is_set():
                client.keep_alive()
                await asyncio.wait([asyncio.ensure_future(lost.wait())], timeout=0.1)

    asyncio.run(work())


def test_paho_has_what_is_replaced() -> None:
    """A version of paho without these would fall back to blocking sockets or cost more, and nothing would say so."""
    source = inspect.getsource(Client)
    assert "self._sock = self._create_socket()" in source
    assert 'return self._handle_pubackcomp("PUBACK")' in source
    assert source.count("_mutex = threading.") == 7
    assert "return self._packet_queue(PUBLISH, packet, mid, qos, info)" in source
    for name in ("_mid_generate", "_send_publish", "_in_packet", "_last_bytes_received", "_last_msg_out"):
        assert name in source
