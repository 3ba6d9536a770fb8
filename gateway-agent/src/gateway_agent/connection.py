"""One connection of the agent to the broker: open, publish, subscribe, probe the account's rights, close.

Whoever publishes gets the broker's answer to await. `Connection` is the one owner of the MQTT client and of its map of
message ids. Every connection is a new object: what was not acknowledged is in the outbox.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from paho.mqtt.enums import MQTTProtocolVersion

from gateway_agent import faults
from gateway_agent.faults import Fault, LinkError
from gateway_agent.mqtt import MQTT_5, MQTT_311, RECEIVE_MAXIMUM, Client, Connack, Endpoint, Login
from gateway_agent.settings import Settings

CONNECT_WITHIN_S = 10.0  # each for TCP, TLS and the broker's answer
KEEP_ALIVE_EVERY_S = 1.0  # how often silence is noticed; the pause between pings is `broker.keepalive_s`


@dataclass(frozen=True, slots=True)
class Sample:
    """A valid message for the present moment, so that publishing it is harmless."""

    topic: str
    payload: bytes
    retain: bool = False


class _Sent(NamedTuple):
    """A message or subscription (which has no topic) that waits for the broker's answer."""

    topic: str
    answer: "asyncio.Future[Fault | None]"


@asynccontextmanager
async def connect(
    settings: Settings,
    password: str,
    will: tuple[str, bytes] | None = None,
    versions: tuple[MQTTProtocolVersion, ...] = (MQTT_5, MQTT_311),
) -> AsyncIterator["Connection"]:
    """A connection under the first of these versions that the broker speaks; it ends with the block.

    MQTT 5 comes first, since it alone reports refused messages. Raises LinkError with the reason.
    """
    connection = await _open(settings, password, will, versions)
    keeper = asyncio.create_task(connection.keep_alive())
    try:
        yield connection
    finally:
        keeper.cancel()
        connection.leave()


async def _open(
    settings: Settings, password: str, will: tuple[str, bytes] | None, versions: tuple[MQTTProtocolVersion, ...]
) -> "Connection":
    broker, where = settings.broker, broker_address(settings)
    endpoint = Endpoint(broker.host, broker.port, tls_context(settings) if broker.tls else None)
    for version in versions:
        login = Login(settings.id, settings.id, password, broker.keepalive_s, will, version, resumes=True)
        connection = Connection(login, where, broker.tls)
        try:
            fault = await connection.open(endpoint)
        except (OSError, ValueError) as error:
            raise LinkError(faults.from_exception(error, where, broker.tls)) from error
        if fault is None:
            break
        connection.leave()
        if fault.kind != "protocol" or version == versions[-1]:
            raise LinkError(fault)
    return connection


class Connection:
    """``messages`` has topic and payload of what comes in. ``lost`` gets the reason when the connection ends."""

    def __init__(self, login: Login, where: str, tls: bool) -> None:
        loop = asyncio.get_running_loop()
        self.messages: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self.lost: asyncio.Future[Fault] = loop.create_future()
        self.session_present = False  # the broker still has our session
        self.receive_maximum = RECEIVE_MAXIMUM
        self._account, self._where, self._tls = login.client_id, where, tls
        self._opened: asyncio.Future[Fault | None] = loop.create_future()
        self._in_flight: dict[int, _Sent] = {}
        self._client = Client(login, self, self._in_flight)

    async def open(self, endpoint: Endpoint) -> Fault | None:
        """Connect and wait for the broker's answer; returns its refusal. Raises OSError, ValueError."""
        await self._client.open(endpoint, CONNECT_WITHIN_S)
        await asyncio.wait([self._opened], timeout=CONNECT_WITHIN_S)
        return self._opened.result() if self._opened.done() else faults.from_silence(self._where, self._tls)

    def publish(self, topic: str, payload: bytes, retain: bool = False) -> "asyncio.Future[Fault | None]":
        """Publish at QoS 1. The future gets None when the broker has the message, else why it has not.

        Only MQTT 5 reports refusals: a broker of MQTT 3.1.1 acknowledges messages that it drops.
        """
        answer: asyncio.Future[Fault | None] = asyncio.get_running_loop().create_future()
        if self.lost.done():
            answer.set_result(self.lost.result())
        else:
            self._client.publish(topic, payload, _Sent(topic, answer), retain)
        return answer

    async def subscribe(self, *topics: str) -> None:
        """Subscribe and wait for the broker's answer, up to a timeout. Each delivers retained messages."""
        answer: asyncio.Future[Fault | None] = asyncio.get_running_loop().create_future()
        self._client.subscribe(topics, _Sent("", answer))
        await asyncio.wait([answer], timeout=CONNECT_WITHIN_S)

    def unsubscribe(self, topic: str) -> None:
        """End a subscription."""
        self._client.unsubscribe(topic)

    async def denied(self, samples: list[Sample]) -> list[str] | None:
        """Publish valid messages; returns the topics that the broker denies, None if it does not report denials.

        The right to *read* cannot be probed: Mosquitto grants every subscription and filters on delivery.
        Raises LinkError when the connection ends before all answers.
        """
        answers = {sample.topic: self.publish(sample.topic, sample.payload, sample.retain) for sample in samples}
        _, silent = await asyncio.wait(answers.values(), timeout=CONNECT_WITHIN_S) if answers else ((), ())
        if self.lost.done():
            raise LinkError(self.lost.result())
        if silent or not self._client.reports_refusals:
            return None
        return [topic for topic, answer in answers.items() if answer.result()]

    async def keep_alive(self) -> None:
        """Notice a connection on which no answer comes, until cancelled."""
        while True:
            await asyncio.sleep(KEEP_ALIVE_EVERY_S)
            self._client.keep_alive()

    def leave(self) -> None:
        """Disconnect cleanly. Does not wait; does nothing if the connection is gone."""
        self._client.leave()

    # The client calls these.

    def connected(self, connack: Connack) -> None:
        self.session_present, self.receive_maximum = connack.session_present, connack.receive_maximum
        _resolve(self._opened, faults.from_connack(connack.refusal, self._account) if connack.refusal else None)

    def acknowledged(self, sent: _Sent, refusal: str | None) -> None:
        _resolve(sent.answer, faults.from_refused_publish(sent.topic, refusal) if refusal else None)

    def received(self, topic: str, payload: bytes) -> None:
        self.messages.put_nowait((topic, payload))

    def ended(self, problem: str) -> None:
        _resolve(self._opened, faults.from_silence(self._where, self._tls, problem))
        lost = Fault("lost", f"the connection to {self._where} is lost ({problem})", "trying again")
        self.lost.set_result(lost)
        for sent in self._in_flight.values():
            _resolve(sent.answer, lost)
        self._in_flight.clear()


def _resolve(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


def tls_context(settings: Settings) -> ssl.SSLContext:
    """Trusted CAs and client certificate. Raises LinkError when a certificate file cannot be used."""
    broker = settings.broker
    try:
        context = ssl.create_default_context(cafile=broker.ca_file or None)
        if broker.client_cert:
            context.load_cert_chain(broker.client_cert, broker.client_key)
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(name for name in (broker.ca_file, broker.client_cert, broker.client_key) if name)
        what = f"the certificate files cannot be used ({error})"
        raise LinkError(Fault("certificate_files", what, f"check {files}")) from error
    return context


def broker_address(settings: Settings) -> str:
    """host:port of the broker, for messages."""
    return f"{settings.broker.host}:{settings.broker.port}"
