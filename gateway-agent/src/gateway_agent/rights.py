"""What the broker lets our account do, found out with paho over MQTT 5 before the real connection.

Under MQTT 3.1.1 a publish that the ACL denies is acknowledged like any other; under MQTT 5 the acknowledgement says so.
Limits: a broker that speaks only 3.1.1 cannot tell. Whether we may *read* our `config` topic cannot be asked: Mosquitto
grants every subscription and filters what it delivers, so only a message that arrives proves it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import MQTTProtocolVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway_agent.client import CONNECT_WITHIN_S, make_client
from gateway_agent.faults import LinkError
from gateway_agent.publisher import Connection
from gateway_agent.settings import Settings
from gateway_agent.topics import Topics

_OLD_BROKER = "Unsupported protocol version"


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


async def ask(settings: Settings, password: str, samples: list[Sample], config: bool = False) -> Answer:
    """Publish the samples and hear what becomes of them; fetch the retained `config` message too where asked for.

    A `config` message that waited in our session at the broker comes here in any case, and never again.
    Raises LinkError when there is no connection, or when it ends before everything was answered.
    """
    answers: dict[int, bool] = {}
    subscribed: set[int] = set()
    arrived: list[bytes] = []
    news = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_message(_client: Client, _data: object, message: MQTTMessage) -> None:
        arrived.append(bytes(message.payload))

    def on_subscribe(_client: Client, _data: object, mid: int, _reasons: object, _props: Properties | None) -> None:
        subscribed.add(mid)
        loop.call_soon_threadsafe(news.set)

    def on_publish(_client: Client, _data: object, mid: int, reason: ReasonCode, _props: Properties | None) -> None:
        answers[mid] = reason.is_failure
        loop.call_soon_threadsafe(news.set)

    client = make_client(settings, password, MQTTProtocolVersion.MQTTv5)
    connection = Connection(client, settings, lambda _mid: None, lambda _topic, _payload: None)
    client.on_publish, client.on_message, client.on_subscribe = on_publish, on_message, on_subscribe
    try:
        await connection.open()
    except LinkError as error:
        if _OLD_BROKER in error.fault.what:
            return Answer(None)
        raise
    try:
        mids = {connection.publish(sample.topic, sample.payload, sample.retain): sample.topic for sample in samples}
        complete = await _until(lambda: len(answers) == len(mids) or connection.lost.done(), news)
        if len(answers) < len(mids) and connection.lost.done():
            raise LinkError(connection.lost.result())
        # What waited in our session at the broker comes first; what the first subscription brings is here when the
        # second is confirmed. So the last to arrive is what is retained, and where none came there is none.
        for _ in range(2 if config else 0):
            mid = connection.subscribe(Topics.of(settings.id).config)
            await _until(lambda mid=mid: mid in subscribed or connection.lost.done(), news)  # type: ignore[misc]
    finally:
        await connection.close()
    denied = [topic for mid, topic in mids.items() if answers.get(mid)] if complete else None
    return Answer(denied, arrived[-1] if arrived else None)


async def _until(condition: Callable[[], bool], news: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(CONNECT_WITHIN_S):
            while not condition():
                news.clear()
                await news.wait()
    except TimeoutError:
        return False
    return True
