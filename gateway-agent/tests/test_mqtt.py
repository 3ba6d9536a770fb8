"""The MQTT client: connecting, much data, TLS, a broker that does not answer or says something else."""

import asyncio
import contextlib
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from gateway_agent.mqtt import MQTT_5, MQTT_311, Client, Connack, Endpoint, Login
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt.enums import MQTTProtocolVersion
from real_broker import PASSWORDS, Broker
from unused_ports import unused_ports
from waiting import eventually

TOPIC = "sda/v1/gateway/gw-test/readings"
CONNACK, CONNACK_5 = b"\x20\x02\x00\x00", b"\x20\x06\x00\x00\x03\x21\x00\x0a"
WITHIN_S = 10


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


def login(version: MQTTProtocolVersion = MQTT_311, keepalive_s: int = 30) -> Login:
    return Login("test", "simulator", PASSWORDS["simulator"], keepalive_s, version=version)


async def opened(endpoint: Endpoint, owner: Owner, in_flight: dict[int, int], login: Login) -> Client[int]:
    client = Client(login, owner, in_flight)
    await client.open(endpoint, WITHIN_S)
    return client


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[Endpoint]:
    """A server that plays a broker; it ends with the clients."""
    tasks = set[asyncio.Task[None]]()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(OSError):
            await serve(reader, writer)
            await reader.read()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
    await asyncio.wait(tasks)


@asynccontextmanager
async def played(answer: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[Endpoint, asyncio.Event]]:
    """A broker that says this at once, when the event is set, and then nothing more."""
    say = asyncio.Event()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await say.wait()
        writer.write(answer)
        if tls is None:
            writer.write_eof()

    async with serving(serve, tls) as endpoint:
        yield endpoint, say


def test_an_endpoint_tries_each_address() -> None:
    async def connect(endpoint: Endpoint) -> None:
        (await opened(endpoint, Owner(), {}, login())).leave()

    with socket.create_server(("127.0.0.1", 0)) as server:  # localhost may be ::1 first, where nothing listens
        asyncio.run(connect(Endpoint("localhost", server.getsockname()[1])))
    with pytest.raises(ConnectionRefusedError):
        asyncio.run(connect(Endpoint("localhost", unused_ports(1)[0])))
    with pytest.raises(socket.gaierror):
        asyncio.run(connect(Endpoint("broker.invalid", 1)))


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("version", [MQTT_311, MQTT_5])
def test_more_than_the_socket_takes_is_acknowledged(
    broker: Broker, version: MQTTProtocolVersion, encrypted: bool
) -> None:
    payload, messages = b"x" * 60_000, 200  # 12 MB at once: the socket's buffers hold less
    tls = ssl.create_default_context(cafile=broker.ca)
    endpoint = Endpoint("localhost", broker.tls_port, tls) if encrypted else Endpoint("localhost", broker.port)

    async def work() -> Owner:
        owner, in_flight = Owner(), dict[int, int]()
        client = await opened(endpoint, owner, in_flight, login(version))
        await owner.until("connack")
        broker.freeze()  # it reads nothing meanwhile
        for number in range(messages):
            client.publish(TOPIC, payload, number)
        assert list(in_flight.values()) == list(range(messages))
        broker.thaw()
        await owner.until("acknowledgements", messages)
        assert not in_flight
        client.leave()
        return owner

    assert asyncio.run(work()).acknowledgements == [(number, None) for number in range(messages)]


@pytest.mark.parametrize("version", [MQTT_311, MQTT_5])
def test_a_broker_sends_what_was_subscribed(broker: Broker, version: MQTTProtocolVersion) -> None:
    async def work() -> list[tuple[str, bytes]]:
        owner = Owner()
        client = await opened(Endpoint("127.0.0.1", broker.port), owner, {}, login(version))
        client.subscribe(("$SYS/broker/uptime",), 7)
        await owner.until("acknowledgements")
        await owner.until("messages")
        client.leave()
        assert owner.problem is None
        return owner.messages

    (((topic, payload),)) = asyncio.run(work())
    assert topic == "$SYS/broker/uptime"
    assert payload.endswith(b" seconds")


def test_all_messages_of_one_tls_record_are_read(broker: Broker) -> None:
    """The loop sees only that the socket has data, and TLS takes a record as a whole."""
    messages = b"".join(b"\x30\x04\x00\x01t%d" % number for number in range(5))
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(broker.ca.with_name("server.crt"), broker.ca.with_name("server.key"))

    async def work() -> list[tuple[str, bytes]]:
        owner = Owner()
        async with played(CONNACK + messages, server) as (endpoint, say):
            tls = ssl.create_default_context(cafile=broker.ca)
            client = await opened(endpoint._replace(host="localhost", tls=tls), owner, {}, login())
            say.set()
            await owner.until("messages", 5)
            client.leave()
        return owner.messages

    assert asyncio.run(work()) == [("t", b"%d" % number) for number in range(5)]


def answers_to(*sent: bytes, version: MQTTProtocolVersion = MQTT_5) -> Owner:
    """What the owner hears when the broker sends these to a client with messages 1, 2 and 3 in flight."""

    async def work() -> Owner:
        owner = Owner()
        async with played(b"".join(sent)) as (endpoint, say):
            client = await opened(endpoint, owner, {}, login(version))
            for number in (1, 2, 3):
                client.publish(TOPIC, b"{}", number)
            say.set()
            await owner.until("problem")
        return owner

    return asyncio.run(work())


def test_mqtt_5_says_what_the_broker_takes_and_refuses() -> None:
    taken, unheard, denied, unknown = (
        b"\x40\x02\x00\x01",
        b"\x40\x03\x00\x02\x10",  # nobody subscribed to it
        b"\x40\x04\x00\x03\x87\x00",
        b"\x40\x02\x00\x09",
    )
    owner = answers_to(CONNACK_5, taken, unheard, denied, unknown)
    assert owner.connack == Connack(None, False, 10)
    assert owner.acknowledgements == [(1, None), (2, None), (3, "Not authorized")]
    assert owner.problem == "the broker has closed the connection"


@pytest.mark.parametrize(
    ("sent", "version", "problem"),
    [
        (b"\x20\x02\x00\x05", MQTT_311, "Not authorized"),
        (b"\x20\x03\x00\x86\x00", MQTT_5, "Bad user name or password"),
        (b"\x20\x02\x00\x01", MQTT_5, "Unsupported protocol version"),
        (CONNACK_5 + b"\xe0\x02\x8e\x00", MQTT_5, "Session taken over"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", MQTT_5, "the broker has closed the connection"),
        (b"\x20\xff\xff\xff\xff\xff", MQTT_5, "Protocol error"),
        (CONNACK_5 + b"\x30\x04\x00\x01\xff\x00", MQTT_5, "what came is not MQTT: 'utf-8'"),
    ],
)
def test_an_end_has_its_reason(sent: bytes, version: MQTTProtocolVersion, problem: str) -> None:
    owner = answers_to(sent, version=version)
    assert str(owner.problem).startswith(problem)
    refused = sent[:1] == b"\x20" and sent[3:4] != b"\0" and len(sent) < 6
    assert (owner.connack is not None and owner.connack.refusal == problem) is refused


@given(st.binary(max_size=60))
def test_whatever_comes_ends_in_a_reason(data: bytes) -> None:
    for version in (MQTT_311, MQTT_5):
        owner = answers_to(data, version=version)
        assert owner.problem
        assert len(owner.acknowledgements) <= 3


def test_a_message_id_is_not_used_twice() -> None:
    kept, size = {1, 65_534}, len(b"\x32\x05\x00\x01tmm")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Acknowledge all messages but two."""
        await reader.readexactly((await reader.readexactly(2))[1])
        writer.write(CONNACK)
        while packet := await reader.read(size):
            packet += await reader.readexactly(size - len(packet)) if packet[0] == 0x32 else b""
            if int.from_bytes(packet[-2:]) not in kept:
                writer.write(b"\x40\x02" + packet[-2:])

    async def work() -> dict[int, int]:
        owner, in_flight = Owner(), dict[int, int]()
        async with serving(serve) as endpoint:
            client = await opened(endpoint, owner, in_flight, login())
            await owner.until("connack")
            for number in range(1, 66_001):
                client.publish("t", b"", number)
                if number % 1000 == 0:
                    await owner.until("acknowledgements", number - 2 if number > 65_534 else number - 1)
            client.leave()
        return in_flight

    assert asyncio.run(work()) == {1: 1, 65_534: 65_534}


def test_a_frozen_broker_is_noticed(broker: Broker) -> None:
    async def work() -> Owner:
        owner = Owner()
        client = await opened(Endpoint("127.0.0.1", broker.port), owner, {}, login(keepalive_s=1))
        await owner.until("connack")
        broker.freeze()
        async with asyncio.timeout(20):
            while owner.problem is None:
                client.keep_alive()
                await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0.1))])
        return owner

    assert asyncio.run(work()).problem == "Keep alive timeout"


def test_an_idle_connection_is_kept(broker: Broker) -> None:
    async def work() -> Owner:
        owner = Owner()
        client = await opened(Endpoint("127.0.0.1", broker.port), owner, {}, login(keepalive_s=1))
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


def test_leaving_is_no_outage_and_calls_nobody(broker: Broker) -> None:
    will = login()._replace(will=("sda/v1/gateway/gw-test/status", b"gone"))

    async def work(cut: bool) -> str | None:
        owner = Owner()
        client = await opened(Endpoint("127.0.0.1", broker.port), owner, {}, will)
        await owner.until("connack")
        if cut:
            client.cut()
            await owner.until("problem")
        client.leave()
        return owner.problem

    assert asyncio.run(work(cut=False)) is None
    eventually(lambda: "test disconnected" in without_addresses(broker.log()), 10, broker.log)
    assert asyncio.run(work(cut=True)) == "cut off"
    lost = re.compile("test (closed its connection|disconnected: )")
    eventually(lambda: lost.search(without_addresses(broker.log())), 10, broker.log)


def without_addresses(log: str) -> str:
    return re.sub(r" \[\S+\]", "", log)


def test_a_program_that_ends_does_not_wait_for_a_connection() -> None:
    """A stopped service is killed after some seconds, and a silent port may take a minute."""
    program = """if True:
        import asyncio, ssl, sys
        from gateway_agent.mqtt import Client, Endpoint, Login
        client = Client(Login("test", "", "", 30), None, {})
        endpoint = Endpoint("127.0.0.1", int(sys.argv[1]), ssl.create_default_context())
        asyncio.run(asyncio.wait_for(client.open(endpoint, 60), 0.5))
    """
    with socket.create_server(("127.0.0.1", 0)) as server:  # which says nothing
        port = str(server.getsockname()[1])
        done = subprocess.run([sys.executable, "-c", program, port], capture_output=True, text=True, timeout=30)
    assert done.stderr.splitlines()[-1] == "TimeoutError"
