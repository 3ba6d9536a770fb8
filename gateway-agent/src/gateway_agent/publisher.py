"""One MQTT connection of the agent: open, publish, receive acknowledgements, close.

Every connection uses a new client object. paho would otherwise keep unacknowledged messages in memory and send them
again; the outbox does that already.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import LogLevel, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway_agent import faults
from gateway_agent.client import CONNECT_WITHIN_S, broker_address, make_endpoint
from gateway_agent.faults import Fault, LinkError
from gateway_agent.loop_client import LoopClient
from gateway_agent.settings import Settings

KEEP_ALIVE_EVERY_S = 1.0  # how often silence is noticed; the pause between pings is `broker.keepalive_s`
_FOR_EVER = 0xFFFFFFFF
_RECEIVE_MAXIMUM = 65535  # the default of MQTT 5; MQTT 3.1.1 has no limit


class Connection:
    """``on_puback`` gets (message id, reason of a refusal or None), ``on_message`` (topic, payload).

    Both are called by the event loop, after paho is done with the packet. Only MQTT 5 reports refusals: a broker of
    MQTT 3.1.1 acknowledges messages that it drops.
    """

    def __init__(
        self,
        client: LoopClient,
        settings: Settings,
        on_puback: Callable[[int, str | None], None],
        on_message: Callable[[str, bytes], None],
    ) -> None:
        self._client = client
        self._settings = settings
        self._puback_callback = on_puback
        self._message_callback = on_message
        self._loop = asyncio.get_running_loop()
        self._socket_error = ""
        self._confirmations: dict[int, asyncio.Future[str | None]] = {}
        self._subscribed: dict[int, asyncio.Future[None]] = {}
        self.session_present = False  # the broker still has our session
        self.receive_maximum = _RECEIVE_MAXIMUM
        self._keeper: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[Fault | None] = self._loop.create_future()
        self.lost: asyncio.Future[Fault] = self._loop.create_future()
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_publish = self._on_publish
        client.on_message = self._on_message
        client.on_subscribe = self._on_subscribe
        client.on_log = self._on_log

    async def open(self) -> None:
        """Connect. Raises LinkError with the reason; the object cannot be used after that."""
        broker = self._settings.broker
        try:
            await self._connect()
        except (OSError, ValueError) as error:
            raise LinkError(faults.from_exception(error, broker_address(self._settings), broker.tls)) from error
        self._keeper = asyncio.create_task(self._keep_alive())
        done, _ = await asyncio.wait([self._opened], timeout=CONNECT_WITHIN_S)
        fault = self._opened.result() if done else faults.from_silence(broker_address(self._settings), broker.tls)
        if fault:
            await self.close()
            raise LinkError(fault)

    async def _connect(self) -> None:
        endpoint, keepalive_s = make_endpoint(self._settings), self._settings.broker.keepalive_s
        options: dict[str, Any] = {}
        if self._client.protocol is MQTTProtocolVersion.MQTTv5:  # MQTT 3.1.1 has no session expiry
            keep = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            keep.SessionExpiryInterval = _FOR_EVER
            options = {"clean_start": False, "properties": keep}
        await self._client.open(endpoint, keepalive_s, CONNECT_WITHIN_S, **options)

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(KEEP_ALIVE_EVERY_S)
            self._client.keep_alive()

    def publish(self, topic: str, payload: bytes, retain: bool = False) -> int:
        """Publish at QoS 1; returns the message id, which `on_puback` gets later."""
        return self._client.send(topic, payload, retain)

    def publish_confirmed(self, topic: str, payload: bytes, retain: bool = False) -> asyncio.Future[str | None]:
        """Publish like `publish`; the future gets the reason of a refusal, None if accepted."""
        answer: asyncio.Future[str | None] = self._loop.create_future()
        self._confirmations[self.publish(topic, payload, retain)] = answer
        return answer

    @property
    def reports_refusals(self) -> bool:
        """Whether acknowledgements report refusals."""
        return self._client.protocol is MQTTProtocolVersion.MQTTv5

    async def publish_and_wait(self, topic: str, payload: bytes, within_s: float) -> None:
        """Publish a retained message and wait for its acknowledgement for at most ``within_s``."""
        ends: list[asyncio.Future[Any]] = [self.publish_confirmed(topic, payload, retain=True), self.lost]
        await asyncio.wait(ends, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)

    async def subscribe(self, *topics: str) -> None:
        """Subscribe and wait for the broker's answer, up to a timeout.

        QoS 0: every subscription delivers the retained message, and the broker queues nothing while we are offline.
        """
        mid = self._client.subscribe([(topic, 0) for topic in topics])[1]
        self._client.flush()
        if mid is not None:
            answer: asyncio.Future[Any] = self._loop.create_future()
            self._subscribed[mid] = answer
            ends: list[asyncio.Future[Any]] = [answer, self.lost]
            await asyncio.wait(ends, timeout=CONNECT_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)

    def unsubscribe(self, topic: str) -> None:
        """Unsubscribe from a topic."""
        self._client.unsubscribe(topic)
        self._client.flush()

    async def close(self) -> None:
        """Disconnect cleanly; harmless when the connection is gone."""
        if self._keeper is not None:
            self._keeper.cancel()
        self._client.leave()

    # Called by paho while it handles a packet.

    def _on_connect(
        self, _client: Client, _data: object, flags: ConnectFlags, reason: ReasonCode, properties: Properties | None
    ) -> None:
        self.session_present = flags.session_present
        self.receive_maximum = getattr(properties, "ReceiveMaximum", _RECEIVE_MAXIMUM)
        refused = faults.from_connack(str(reason), self._settings.id) if reason.is_failure else None
        self._call_later(_resolve, self._opened, refused)

    def _on_disconnect(
        self,
        _client: Client,
        _data: object,
        _flags: DisconnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        silent = faults.from_silence(broker_address(self._settings), self._settings.broker.tls, self._socket_error)
        self._call_later(_resolve, self._opened, silent)
        lost = Fault(
            "lost",
            f"the connection to {broker_address(self._settings)} is lost ({self._socket_error or reason})",
            "trying again",
        )
        self._call_later(_resolve, self.lost, lost)

    def _on_publish(
        self, _client: Client, _data: object, mid: int, reason: ReasonCode, _properties: Properties | None
    ) -> None:
        self._call_later(self._on_puback, mid, str(reason) if reason.is_failure else None)

    def _on_puback(self, mid: int, refusal: str | None) -> None:
        confirmation = self._confirmations.pop(mid, None)
        if confirmation is None:
            self._puback_callback(mid, refusal)
        else:
            _resolve(confirmation, refusal)

    def _on_subscribe(
        self, _client: Client, _data: object, mid: int, _reasons: list[ReasonCode], _properties: Properties | None
    ) -> None:
        self._call_later(self._on_subscribed, mid)

    def _on_subscribed(self, mid: int) -> None:
        if answer := self._subscribed.pop(mid, None):
            _resolve(answer, None)

    def _on_message(self, _client: Client, _data: object, message: MQTTMessage) -> None:
        self._call_later(self._message_callback, message.topic, bytes(message.payload))

    def _on_log(self, _client: Client, _data: object, level: int, text: str) -> None:
        if level == LogLevel.MQTT_LOG_ERR:
            self._socket_error = text

    def _call_later(self, callback: Callable[..., None], *arguments: object) -> None:
        self._loop.call_soon(callback, *arguments)


def _resolve(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)
