"""Keeps a connection to the broker for as long as the agent lives, and a `Session` on it."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from paho.mqtt.enums import MQTTProtocolVersion

from gateway_agent import config, rights
from gateway_agent.backoff import Backoff
from gateway_agent.client import make_client, where
from gateway_agent.clock import Clock
from gateway_agent.faults import Fault, LinkError, is_denial, of_denial, of_refused_publish
from gateway_agent.health import Counters
from gateway_agent.outbox_view import Batch
from gateway_agent.publisher import Connection
from gateway_agent.rights import Sample
from gateway_agent.seldom import Seldom
from gateway_agent.session import Session
from gateway_agent.settings import Settings
from gateway_agent.store import StoreError
from gateway_agent.topics import BROKER_UPTIME, Topics
from gateway_agent.validation import ConfigError

log = logging.getLogger(__name__)

STEADY_AFTER_S = 30.0  # a connection that lasted so long starts the pauses between attempts anew
FAREWELL_WITHIN_S = 2.0
SEND_AGAIN_AFTER_S = 2.0
UPTIME_MARGIN_S = 2


class Delivery:
    """``new_session`` makes a Session for a publish function and the broker's receive maximum; ``samples`` gives true
    messages to ask the ACL with; ``status`` the payload for a state and a reason; ``configured`` gets `config`.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        counters: Counters,
        new_session: Callable[[Callable[[bytes], int], int], Session],
        samples: Callable[[], Awaitable[list[Sample]]],
        status: Callable[[str, str], bytes],
        configured: Callable[[bytes], None],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._counters = counters
        self._topics = Topics.of(settings.id)
        self._new_session = new_session
        self._samples = samples
        self._status = status
        self._configured = configured
        self._connection: Connection | None = None
        self._session: Session | None = None
        self._steady_since: float | None = None  # monotonic seconds of the present connection's beginning
        self._broker_started: int | None = None  # boot_ms at the latest; None: it did not say
        self._seen_at: int | None = None  # boot_ms of the end of the connection before; None: this is the first
        self._config_came = False
        self._topics_sent: dict[int, str] = {}
        self._refused: asyncio.Future[Fault] | None = None
        self._time_known = asyncio.Event()
        self._seldom, self._outbox_seldom = Seldom(), Seldom()
        self.fault: Fault | None = None
        self.denied: list[str] | None = None

    @property
    def online(self) -> bool:
        """Whether there is a connection now."""
        return self._connection is not None

    def live(self, batches: list[Batch]) -> None:
        """Send stored batches at once when there is a connection; else they wait in the outbox."""
        if self._session is not None:
            self._session.live(batches)

    def look_again(self) -> None:
        """The time is known from now on, or the outbox has more."""
        self._time_known.set()
        if self._session is not None:
            self._session.look_again()

    def publish_health(self, payload: bytes) -> None:
        """Send a health message, or let it be while there is no connection."""
        if self._connection is not None:
            self._publish(self._connection, self._topics.health, payload)

    async def run(self) -> None:
        """Connect, deliver, and connect again, until cancelled."""
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
                self._seldom.forget()
            if self._seldom.worth_saying(self.fault.kind, time.monotonic()):
                log.warning("%s", self.fault)
            await asyncio.sleep(backoff.spread_s() if steady else backoff.pause_s())

    async def _deliver(self) -> Fault | None:
        """One connection; returns why it ended, None: to ask for the rights that could not be asked for before it."""
        try:
            password = config.password(self._settings)
        except ConfigError as error:
            raise LinkError(Fault("password_file", str(error), "make the file readable for the agent")) from error
        connection = await self._open(password)
        work: asyncio.Task[object] | None = None
        try:
            # The answers to `_ask` come behind what the subscriptions bring at once.
            await connection.subscribe(self._topics.config, BROKER_UPTIME)
            may_send = await self._ask(connection)
            connection.unsubscribe(BROKER_UPTIME)
            replay_until = self._broker_started if connection.session_present else None
            self._config_taken_back(connection)
            self._connection = connection
            refused: asyncio.Future[Fault] = asyncio.get_running_loop().create_future()
            self._refused = refused
            self._steady_since = time.monotonic()
            self._counters.connects += 1
            self.fault = None
            log.info("connected to %s as %s", where(self._settings), self._settings.id)
            work = asyncio.create_task(self._send(connection, replay_until) if may_send else self._time_known.wait())
            self._publish(connection, self._topics.status, self._status("online", ""), retain=True)
            await _first(work, connection.lost, refused)
            if refused.done():
                await self._say_offline(connection, refused.result().what)
                return refused.result()
            if work.done():
                await work  # raises what ended it
            return connection.lost.result() if connection.lost.done() else None
        except asyncio.CancelledError:
            # The last will is not sent after an orderly goodbye, so it is said here.
            await self._say_offline(connection)
            raise
        finally:
            if self._connection is not None:
                self._seen_at = self._clock.boot_ms()
            self._connection = self._session = self._refused = None
            if work is not None:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
            await connection.close()

    async def _open(self, password: str) -> Connection:
        """A connection of MQTT 5, which says what it refuses, else of MQTT 3.1.1. Raises LinkError."""
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
        self._broker_started, self._config_came = None, False
        connection = Connection(client, self._settings, self._on_answered, self._on_received)
        await connection.open()
        return connection

    async def _ask(self, connection: Connection) -> bool:
        """What we may do; whether that could be asked for readings. Raises LinkError where those are refused."""
        self._time_known.clear()
        samples = await self._samples()
        self.denied = await rights.probe(connection, samples)
        if self.denied:
            denial = of_denial(self.denied)
            if self._topics.readings in self.denied:
                await self._say_offline(connection, denial.what)
                raise LinkError(denial)  # nothing is sent that would be lost
            log.error("%s", denial)
        return any(sample.topic == self._topics.readings for sample in samples)

    async def _send(self, connection: Connection, replay_until: int | None) -> None:
        """Send over one connection, which stays while the outbox fails: health and `config` need none."""

        def publish(payload: bytes) -> int:
            return self._publish(connection, self._topics.readings, payload)

        while True:
            self._session = session = self._new_session(publish, connection.receive_maximum)
            try:
                await session.run(replay_until)
            except StoreError as error:
                if self._outbox_seldom.worth_saying(str(error), time.monotonic()):
                    log.warning("%s: nothing is sent", error)
            finally:
                with contextlib.suppress(StoreError):  # it is sent again, which does no harm
                    await session.flush()
            if session.replayed:
                replay_until = 0
            await asyncio.sleep(SEND_AGAIN_AFTER_S)

    def _config_taken_back(self, connection: Connection) -> None:
        """A `config` that is retained would have come by now: it was taken back, unless the broker forgot it.

        A broker that was killed may lack what was published just before; the flows publish it again.
        """
        seen, started = self._seen_at, self._broker_started
        restarted = seen is not None and (started is None or started > seen)
        if connection.session_present and not restarted and not self._config_came:
            self._configured(b"")

    async def _say_offline(self, connection: Connection, reason: str = "") -> None:
        await connection.say(self._topics.status, self._status("offline", reason), FAREWELL_WITHIN_S)

    def _publish(self, connection: Connection, topic: str, payload: bytes, retain: bool = False) -> int:
        mid = connection.publish(topic, payload, retain)
        self._topics_sent[mid] = topic
        return mid

    def _on_answered(self, mid: int, refusal: str | None) -> None:
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
        """The outbox still has what was refused: it goes out once the next connection finds it taken."""
        fault = of_refused_publish(topic, refusal)
        if topic == self._topics.readings:
            if self._refused is not None and not self._refused.done():
                self._refused.set_result(fault)
            return
        if is_denial(refusal) and topic not in (self.denied or ()):
            self.denied = [*(self.denied or ()), topic]
            log.error("%s", fault)

    def _on_received(self, topic: str, payload: bytes) -> None:
        if topic == self._topics.config:
            self._config_came = True
            self._configured(payload)
        elif topic == BROKER_UPTIME and (seconds := payload.split()[:1]) and seconds[0].isdigit():
            # At the latest: what is retained was true when it was published, and whole seconds may say one too many.
            self._broker_started = self._clock.boot_ms() - (int(seconds[0]) - UPTIME_MARGIN_S) * 1000


async def _first(*futures: "asyncio.Future[Any]") -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
