"""Keeps the agent connected to the broker and runs a `Session` on each connection."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from paho.mqtt.enums import MQTTProtocolVersion

from gateway_agent import config, rights
from gateway_agent.backoff import Backoff
from gateway_agent.client import broker_address, make_client
from gateway_agent.clock import Clock
from gateway_agent.faults import Fault, LinkError, from_denial, from_refused_publish, is_denial
from gateway_agent.health import Counters
from gateway_agent.log_throttle import LogThrottle
from gateway_agent.outbox_view import Batch
from gateway_agent.publisher import Connection
from gateway_agent.rights import Sample
from gateway_agent.session import Session
from gateway_agent.settings import Settings
from gateway_agent.store import StoreError
from gateway_agent.topics import BROKER_UPTIME, Topics
from gateway_agent.validation import ConfigError

log = logging.getLogger(__name__)

STEADY_AFTER_S = 30.0  # a connection of this length resets the backoff
OFFLINE_WITHIN_S = 2.0
SEND_AGAIN_AFTER_S = 2.0
UPTIME_MARGIN_S = 2


class Delivery:
    """``new_session`` makes a Session from a publish function and the broker's receive maximum. ``samples`` returns
    valid messages to probe the ACL with, ``status`` the payload for a state and a reason. ``on_config`` gets `config`
    messages.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        counters: Counters,
        new_session: Callable[[Callable[[bytes], int], int], Session],
        samples: Callable[[], Awaitable[list[Sample]]],
        status: Callable[[str, str], bytes],
        on_config: Callable[[bytes], None],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._counters = counters
        self._topics = Topics.for_gateway(settings.id)
        self._new_session = new_session
        self._samples = samples
        self._status = status
        self._on_config = on_config
        self._connection: Connection | None = None
        self._session: Session | None = None
        self._steady_since: float | None = None  # start of the current connection, monotonic seconds
        self._broker_started: int | None = None  # boot_ms, upper bound; None: unknown
        self._last_connected_at: int | None = None  # boot_ms when the previous connection ended; None: first
        self._config_received = False
        self._topics_sent: dict[int, str] = {}
        self._refused: asyncio.Future[Fault] | None = None
        self._time_known = asyncio.Event()
        self._log_throttle, self._outbox_log_throttle = LogThrottle(), LogThrottle()
        self.fault: Fault | None = None
        self.denied: list[str] | None = None

    @property
    def online(self) -> bool:
        """Whether there is a connection now."""
        return self._connection is not None

    def send_live(self, batches: list[Batch]) -> None:
        """Send stored batches at once if connected; else they wait in the outbox."""
        if self._session is not None:
            self._session.send_live(batches)

    def wake(self) -> None:
        """Wake up: the time is known now, or the outbox has new batches."""
        self._time_known.set()
        if self._session is not None:
            self._session.wake()

    def publish_health(self, payload: bytes) -> None:
        """Send a health message; do nothing while disconnected."""
        if self._connection is not None:
            self._publish(self._connection, self._topics.health, payload)

    async def run(self) -> None:
        """Connect, deliver and reconnect, until cancelled."""
        backoff = Backoff(self._settings.broker.retry_max_s)
        while True:
            self._steady_since = None
            try:
                self.fault = await self._deliver()
            except LinkError as error:
                self.fault = error.fault
                self._counters.connect_failures += 1
            if self.fault is None:
                continue
            steady = self._steady_since is not None and time.monotonic() - self._steady_since > STEADY_AFTER_S
            if steady:
                backoff.reset()
                self._log_throttle.forget()
            if self._log_throttle.should_log(self.fault.kind, time.monotonic()):
                log.warning("%s", self.fault)
            await asyncio.sleep(backoff.spread_s() if steady else backoff.pause_s())

    async def _deliver(self) -> Fault | None:
        """Run one connection; returns why it ended. None: reconnect to probe rights that could not be probed before."""
        try:
            password = config.password(self._settings)
        except ConfigError as error:
            raise LinkError(Fault("password_file", str(error), "make the file readable for the agent")) from error
        connection = await self._open(password)
        work: asyncio.Task[object] | None = None
        try:
            # Retained messages of these subscriptions arrive before the answers to `_probe_rights`.
            await connection.subscribe(self._topics.config, BROKER_UPTIME)
            may_send = await self._probe_rights(connection)
            connection.unsubscribe(BROKER_UPTIME)
            replay_until = self._broker_started if connection.session_present else None
            self._clear_missing_config(connection)
            self._connection = connection
            refused: asyncio.Future[Fault] = asyncio.get_running_loop().create_future()
            self._refused = refused
            self._steady_since = time.monotonic()
            self._counters.connects += 1
            self.fault = None
            log.info("connected to %s as %s", broker_address(self._settings), self._settings.id)
            work = asyncio.create_task(self._send(connection, replay_until) if may_send else self._time_known.wait())
            self._publish(connection, self._topics.status, self._status("online", ""), retain=True)
            await _wait_for_first(work, connection.lost, refused)
            if refused.done():
                await self._publish_offline(connection, refused.result().what)
                return refused.result()
            if work.done():
                await work  # raises its exception
            return connection.lost.result() if connection.lost.done() else None
        except asyncio.CancelledError:
            # The broker sends no last will after a clean disconnect, so publish it here.
            await self._publish_offline(connection)
            raise
        finally:
            if self._connection is not None:
                self._last_connected_at = self._clock.boot_ms()
            self._connection = self._session = self._refused = None
            if work is not None:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
            await connection.close()

    async def _open(self, password: str) -> Connection:
        """Connect with MQTT 5, which reports refusals, else with MQTT 3.1.1. Raises LinkError."""
        try:
            return await self._open_with(MQTTProtocolVersion.MQTTv5, password)
        except LinkError as error:
            if error.fault.kind != "protocol":
                raise
        return await self._open_with(MQTTProtocolVersion.MQTTv311, password)

    async def _open_with(self, protocol: MQTTProtocolVersion, password: str) -> Connection:
        client = make_client(self._settings, password, protocol)
        client.will_set(self._topics.status, self._status("offline", ""), 1, retain=True)
        self._topics_sent.clear()
        self._broker_started, self._config_received = None, False
        connection = Connection(client, self._settings, self._on_puback, self._on_message)
        await connection.open()
        return connection

    async def _probe_rights(self, connection: Connection) -> bool:
        """Probe the account's rights; returns whether readings could be probed. Raises LinkError if they are denied."""
        self._time_known.clear()
        samples = await self._samples()
        self.denied = await rights.probe(connection, samples)
        if self.denied:
            denial = from_denial(self.denied)
            if self._topics.readings in self.denied:
                await self._publish_offline(connection, denial.what)
                raise LinkError(denial)  # the broker would drop what is sent
            log.error("%s", denial)
        return any(sample.topic == self._topics.readings for sample in samples)

    async def _send(self, connection: Connection, replay_until: int | None) -> None:
        """Send over one connection. It stays open while the outbox fails: health and `config` need no outbox."""

        def publish(payload: bytes) -> int:
            return self._publish(connection, self._topics.readings, payload)

        while True:
            self._session = session = self._new_session(publish, connection.receive_maximum)
            try:
                await session.run(replay_until)
            except StoreError as error:
                if self._outbox_log_throttle.should_log(str(error), time.monotonic()):
                    log.warning("%s: nothing is sent", error)
            finally:
                with contextlib.suppress(StoreError):  # unacknowledged batches are sent again, which is harmless
                    await session.flush()
            if session.replayed:
                replay_until = 0
            await asyncio.sleep(SEND_AGAIN_AFTER_S)

    def _clear_missing_config(self, connection: Connection) -> None:
        """Reset to the file's settings if the broker holds no `config`: a retained one would have arrived by now.

        Not after a broker restart: a killed broker may have lost it, and the flows publish it again.
        """
        seen, started = self._last_connected_at, self._broker_started
        restarted = seen is not None and (started is None or started > seen)
        if connection.session_present and not restarted and not self._config_received:
            self._on_config(b"")

    async def _publish_offline(self, connection: Connection, reason: str = "") -> None:
        await connection.publish_and_wait(self._topics.status, self._status("offline", reason), OFFLINE_WITHIN_S)

    def _publish(self, connection: Connection, topic: str, payload: bytes, retain: bool = False) -> int:
        mid = connection.publish(topic, payload, retain)
        self._topics_sent[mid] = topic
        return mid

    def _on_puback(self, mid: int, refusal: str | None) -> None:
        topic = self._topics_sent.pop(mid, "")
        if refusal is not None:
            self._on_refused(topic, refusal)
            return
        if self.denied and topic in self.denied:
            self.denied = [other for other in self.denied if other != topic]
            log.info("this account may publish %s again", topic)
        if self._session is not None:
            self._session.acked(mid)

    def _on_refused(self, topic: str, refusal: str) -> None:
        """Handle a refused publish. Refused batches stay in the outbox until a connection has the right again."""
        fault = from_refused_publish(topic, refusal)
        if topic == self._topics.readings:
            if self._refused is not None and not self._refused.done():
                self._refused.set_result(fault)
            return
        if is_denial(refusal) and topic not in (self.denied or ()):
            self.denied = [*(self.denied or ()), topic]
            log.error("%s", fault)

    def _on_message(self, topic: str, payload: bytes) -> None:
        if topic == self._topics.config:
            self._config_received = True
            self._on_config(payload)
        elif topic == BROKER_UPTIME and (seconds := payload.split()[:1]) and seconds[0].isdigit():
            # Upper bound: the retained value is old, and whole seconds may be one too many.
            self._broker_started = self._clock.boot_ms() - (int(seconds[0]) - UPTIME_MARGIN_S) * 1000


async def _wait_for_first(*futures: "asyncio.Future[Any]") -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
