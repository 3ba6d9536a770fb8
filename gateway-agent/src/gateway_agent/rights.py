"""Probes the account's rights by publishing valid messages: under MQTT 5 the acknowledgement reports a denial.

Limits: a broker of MQTT 3.1.1 acknowledges denied messages. The right to *read* the `config` topic cannot be probed:
Mosquitto grants every subscription and filters on delivery, so only a received message proves it.
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
    """A valid message for the present moment, so that publishing it is harmless."""

    topic: str
    payload: bytes
    retain: bool = False


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """``denied`` topics, None if the broker does not report them; ``config``: the retained message, None if none."""

    denied: list[str] | None
    config: bytes | None = None


async def probe(connection: Connection, samples: list[Sample]) -> list[str] | None:
    """Publish the samples; returns the topics that the broker denies, None if it does not report denials.

    Raises LinkError when the connection ends before all answers.
    """
    answers = {
        sample.topic: connection.publish_confirmed(sample.topic, sample.payload, sample.retain) for sample in samples
    }
    everything: asyncio.Future[Any] = asyncio.gather(*answers.values())
    ends: list[asyncio.Future[Any]] = [everything, connection.lost]
    await asyncio.wait(ends, timeout=CONNECT_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
    if not everything.done():
        everything.cancel()
        if connection.lost.done():
            raise LinkError(connection.lost.result())
        return None
    return [topic for topic, answer in answers.items() if answer.result()] if connection.reports_refusals else None


async def probe_account(settings: Settings, password: str, samples: list[Sample], config: bool = False) -> ProbeResult:
    """Connect, probe the samples, and fetch the retained `config` message if wanted.

    Raises LinkError when the connection fails or ends before all answers.
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
            return ProbeResult(None)
        raise
    try:
        denied = await probe(connection, samples)
        # Messages queued in our session come first. The first subscription's retained message has arrived when the
        # second is confirmed. So the last message is the retained one, and no message means none is retained.
        for _ in range(2 if config else 0):
            await connection.subscribe(Topics.for_gateway(settings.id).config)
    finally:
        await connection.close()
    return ProbeResult(denied, arrived[-1] if arrived else None)
