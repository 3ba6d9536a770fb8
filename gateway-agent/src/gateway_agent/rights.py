"""What the broker lets our account do, asked with true messages: under MQTT 5 the acknowledgement says so.

Limits: a broker that speaks only 3.1.1 acknowledges what it denies. Whether we may *read* our `config` topic cannot be
asked: Mosquitto grants every subscription and filters what it delivers, so only a message that arrives proves it.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from paho.mqtt.enums import MQTTProtocolVersion

from gateway_agent.client import CONNECT_WITHIN_S, make_client
from gateway_agent.faults import LinkError
from gateway_agent.publisher import Connection
from gateway_agent.settings import Settings
from gateway_agent.topics import Topics


@dataclass(frozen=True, slots=True)
class Sample:
    """A message that may be published at this moment: a true one, so that asking does no harm."""

    topic: str
    payload: bytes
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """``denied`` topics, None where the broker cannot say; ``config``: the last message that came, None: none did."""

    denied: list[str] | None
    config: bytes | None = None


async def probe(connection: Connection, samples: list[Sample]) -> list[str] | None:
    """Publish the samples on an open connection; the topics that the broker denies, None where it cannot say.

    Raises LinkError when the connection ends before everything was answered.
    """
    answers = {sample.topic: connection.ask(sample.topic, sample.payload, sample.retain) for sample in samples}
    everything: asyncio.Future[Any] = asyncio.gather(*answers.values())
    ends: list[asyncio.Future[Any]] = [everything, connection.lost]
    await asyncio.wait(ends, timeout=CONNECT_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
    if not everything.done():
        everything.cancel()
        if connection.lost.done():
            raise LinkError(connection.lost.result())
        return None
    return [topic for topic, answer in answers.items() if answer.result()] if connection.tells_refusals else None


async def ask(settings: Settings, password: str, samples: list[Sample], config: bool = False) -> Answer:
    """Connect, publish the samples, hear what becomes of them, and fetch the retained `config` message if asked for.

    Raises LinkError when there is no connection, or when it ends before everything was answered.
    """
    arrived: list[bytes] = []
    client = make_client(settings, password, MQTTProtocolVersion.MQTTv5)
    connection = Connection(
        client, settings, lambda _mid, _refusal: None, lambda _topic, payload: arrived.append(payload)
    )
    try:
        await connection.open()
    except LinkError as error:
        if error.fault.kind == "protocol":
            return Answer(None)
        raise
    try:
        denied = await probe(connection, samples)
        # What waited in our session at the broker comes first; what the first subscription brings is here when the
        # second is confirmed. So the last to arrive is what is retained, and where none came there is none.
        for _ in range(2 if config else 0):
            await connection.subscribe(Topics.of(settings.id).config)
    finally:
        await connection.close()
    return Answer(denied, arrived[-1] if arrived else None)
