"""One MQTT connection with paho, and nothing else: open it, publish, hear acknowledgements, lose it.

Every connection is a fresh client object: paho would otherwise keep unacknowledged messages in memory and send them
again beside the outbox, which does that already.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import LogLevel, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway_agent import faults
from gateway_agent.client import CONNECT_WITHIN_S, where
from gateway_agent.faults import Fault, LinkError
from gateway_agent.settings import Settings

QOS = 1
_FOR_EVER = 0xFFFFFFFF
_RECEIVE_MAXIMUM = 65535  # of MQTT 5, where the broker names none; MQTT 3.1.1 knows no bound


class Connection:
    """``answered`` gets (message id, why the broker refused it; None: it has it), ``received`` (topic, payload).

    Both are called in the event loop's thread. Only MQTT 5 knows refusals: a broker of MQTT 3.1.1 acknowledges whatever
    it drops.
    """

    def __init__(
        self,
        client: Client,
        settings: Settings,
        answered: Callable[[int, str | None], None],
        received: Callable[[str, bytes], None],
    ) -> None:
        self._client = client
        self._settings = settings
        self._answered = answered
        self._received = received
        self._loop = asyncio.get_running_loop()
        self._trouble = ""
        self._asked: dict[int, asyncio.Future[str | None]] = {}
        self._subscribed: dict[int, asyncio.Future[None]] = {}
        self.session_present = False  # the broker knew us: it has forgotten nothing but what a restart costs it
        self.receive_maximum = _RECEIVE_MAXIMUM
        self._opened: asyncio.Future[Fault | None] = self._loop.create_future()
        self.lost: asyncio.Future[Fault] = self._loop.create_future()
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_publish = self._on_publish
        client.on_message = self._on_message
        client.on_subscribe = self._on_subscribe
        client.on_log = self._on_log

    async def open(self) -> None:
        """Connect and be accepted. Raises LinkError saying why not; the object is then of no further use."""
        broker = self._settings.broker
        try:
            await asyncio.to_thread(self._connect)
        except (OSError, ValueError) as error:
            self._let_go()
            raise LinkError(faults.of_exception(error, where(self._settings), broker.tls)) from error
        self._client.loop_start()
        done, _ = await asyncio.wait([self._opened], timeout=CONNECT_WITHIN_S)
        fault = self._opened.result() if done else faults.of_silence(where(self._settings), broker.tls)
        if fault:
            await self.close()
            raise LinkError(fault)

    def _connect(self) -> None:
        broker = self._settings.broker
        if self._client.protocol is MQTTProtocolVersion.MQTTv5:  # leave a session of MQTT 3.1.1 as it is
            keep = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            keep.SessionExpiryInterval = _FOR_EVER
            self._client.connect(broker.host, broker.port, broker.keepalive_s, clean_start=False, properties=keep)
        else:
            self._client.connect(broker.host, broker.port, broker.keepalive_s)

    def publish(self, topic: str, payload: bytes, retain: bool = False) -> int:
        """Hand a message to the broker at QoS 1; returns its id, which `answered` gets later."""
        return self._client.publish(topic, payload, QOS, retain).mid

    def ask(self, topic: str, payload: bytes, retain: bool = False) -> asyncio.Future[str | None]:
        """Publish like `publish`; the future gets why the broker refused the message (None: it has it)."""
        answer: asyncio.Future[str | None] = self._loop.create_future()
        self._asked[self.publish(topic, payload, retain)] = answer
        return answer

    @property
    def tells_refusals(self) -> bool:
        """Whether an acknowledgement says that the message was refused."""
        return self._client.protocol is MQTTProtocolVersion.MQTTv5

    async def say(self, topic: str, payload: bytes, within_s: float) -> None:
        """Publish a retained message and wait for its acknowledgement, but no longer than that."""
        sent = self._client.publish(topic, payload, QOS, retain=True)
        with contextlib.suppress(RuntimeError, ValueError):  # it could not even be queued: the connection is gone
            await asyncio.to_thread(sent.wait_for_publish, within_s)

    async def subscribe(self, *topics: str) -> None:
        """Ask for topics and wait until the broker has answered, but not for ever.

        QoS 0: a retained message comes with every subscription, and nothing waits at the broker for who is away.
        """
        mid = self._client.subscribe([(topic, 0) for topic in topics])[1]
        if mid is not None:
            answer: asyncio.Future[Any] = self._loop.create_future()
            self._subscribed[mid] = answer
            ends: list[asyncio.Future[Any]] = [answer, self.lost]
            await asyncio.wait(ends, timeout=CONNECT_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)

    def unsubscribe(self, topic: str) -> None:
        """Want no more of a topic."""
        self._client.unsubscribe(topic)

    async def close(self) -> None:
        """End the connection in order; harmless when it is gone already."""
        self._client.disconnect()
        await asyncio.to_thread(self._client.loop_stop)
        self._let_go()

    def _let_go(self) -> None:
        """The client refers to us by its callbacks; without them it is freed at once, and its sockets with it."""
        client = self._client
        client.on_connect = client.on_disconnect = client.on_publish = client.on_message = client.on_log = None
        client.on_subscribe = None

    # Called in paho's thread.

    def _on_connect(
        self, _client: Client, _data: object, flags: ConnectFlags, reason: ReasonCode, properties: Properties | None
    ) -> None:
        self.session_present = flags.session_present
        self.receive_maximum = getattr(properties, "ReceiveMaximum", _RECEIVE_MAXIMUM)
        refused = faults.of_refusal(str(reason), self._settings.id) if reason.is_failure else None
        self._call(_settle, self._opened, refused)

    def _on_disconnect(
        self,
        _client: Client,
        _data: object,
        _flags: DisconnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        silent = faults.of_silence(where(self._settings), self._settings.broker.tls, self._trouble)
        self._call(_settle, self._opened, silent)
        lost = Fault(
            "lost", f"the connection to {where(self._settings)} is lost ({self._trouble or reason})", "trying again"
        )
        self._call(_settle, self.lost, lost)

    def _on_publish(
        self, _client: Client, _data: object, mid: int, reason: ReasonCode, _properties: Properties | None
    ) -> None:
        self._call(self._answer, mid, str(reason) if reason.is_failure else None)

    def _answer(self, mid: int, refusal: str | None) -> None:
        asked = self._asked.pop(mid, None)
        if asked is None:
            self._answered(mid, refusal)
        else:
            _settle(asked, refusal)

    def _on_subscribe(
        self, _client: Client, _data: object, mid: int, _reasons: list[ReasonCode], _properties: Properties | None
    ) -> None:
        self._call(self._on_subscribed, mid)

    def _on_subscribed(self, mid: int) -> None:
        if answer := self._subscribed.pop(mid, None):
            _settle(answer, None)

    def _on_message(self, _client: Client, _data: object, message: MQTTMessage) -> None:
        self._call(self._received, message.topic, bytes(message.payload))

    def _on_log(self, _client: Client, _data: object, level: int, text: str) -> None:
        if level == LogLevel.MQTT_LOG_ERR:
            self._trouble = text

    def _call(self, callback: Callable[..., None], *arguments: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, *arguments)


def _settle(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)
