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
from gateway_agent.faults import Fault, LinkError, of_denial
from gateway_agent.health import Counters
from gateway_agent.outbox_view import Batch
from gateway_agent.publisher import Connection
from gateway_agent.rights import Sample
from gateway_agent.seldom import Seldom
from gateway_agent.session import Session
from gateway_agent.settings import Settings
from gateway_agent.store import StoreError
from gateway_agent.topics import Topics
from gateway_agent.validation import ConfigError

log = logging.getLogger(__name__)

STEADY_AFTER_S = 30.0  # a connection that lasted so long starts the pauses between attempts anew
FAREWELL_WITHIN_S = 2.0


class Delivery:
    """``new_session`` makes a Session for a publish function; ``samples`` gives true messages to ask the ACL with;
    ``status`` gives the payload for a state; ``configured`` gets each `config` message.
    """

    def __init__(
        self,
        settings: Settings,
        counters: Counters,
        new_session: Callable[[Callable[[bytes], int]], Session],
        samples: Callable[[], Awaitable[list[Sample]]],
        status: Callable[[str], bytes],
        configured: Callable[[bytes], None],
    ) -> None:
        self._settings = settings
        self._counters = counters
        self._topics = Topics.of(settings.id)
        self._new_session = new_session
        self._samples = samples
        self._status = status
        self._configured = configured
        self._connection: Connection | None = None
        self._session: Session | None = None
        self._time_known = asyncio.Event()
        self._seldom = Seldom()
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
            self._connection.publish(self._topics.health, payload)

    async def run(self) -> None:
        """Connect, deliver, and connect again, until cancelled."""
        backoff = Backoff(self._settings.broker.retry_max_s)
        while True:
            began = time.monotonic()
            try:
                self.fault = await self._deliver()
            except LinkError as error:
                self.fault = error.fault
                self._counters.connect_failures += 1
            except StoreError as error:
                self.fault = Fault("outbox", str(error), "see `gateway-agent doctor`")
            if self.fault is None:
                continue
            if time.monotonic() - began > STEADY_AFTER_S:
                backoff.reset()
                self._seldom.forget()
            if self._seldom.worth_saying(self.fault.kind, time.monotonic()):
                log.warning("%s", self.fault)
            await asyncio.sleep(backoff.pause_s())

    async def _deliver(self) -> Fault | None:
        """One connection; returns why it ended, None: to ask for the rights that could not be asked for before it."""
        try:
            password = config.password(self._settings)
        except ConfigError as error:
            raise LinkError(Fault("password_file", str(error), "make the file readable for the agent")) from error
        may_send = await self._ask(password)
        client = make_client(self._settings, password, MQTTProtocolVersion.MQTTv311)
        client.will_set(self._topics.status, self._status("offline"), 1, retain=True)
        connection = Connection(client, self._settings, self._on_acked, self._on_received)
        await connection.open()
        session = self._new_session(lambda payload: connection.publish(self._topics.readings, payload))
        self._connection, self._session = connection, session if may_send else None
        self._counters.connects += 1
        self.fault = None
        log.info("connected to %s as %s", where(self._settings), self._settings.id)
        work: asyncio.Task[object] = asyncio.create_task(session.run() if may_send else self._time_known.wait())
        try:
            connection.publish(self._topics.status, self._status("online"), retain=True)
            connection.subscribe(self._topics.config)
            await _first(work, connection.lost)
            if work.done():
                await work  # raises what ended it
            return connection.lost.result() if connection.lost.done() else None
        except asyncio.CancelledError:
            # The last will is not sent after an orderly goodbye, so it is said here.
            await connection.say(self._topics.status, self._status("offline"), FAREWELL_WITHIN_S)
            raise
        finally:
            self._connection = self._session = None
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await connection.close()
            with contextlib.suppress(StoreError):  # it is sent again, which does no harm
                await session.flush()

    async def _ask(self, password: str) -> bool:
        """What we may do; whether that could be asked for readings. Raises LinkError where those are refused."""
        self._time_known.clear()
        samples = await self._samples()
        answer = await rights.ask(self._settings, password, samples)
        self.denied = answer.denied
        if answer.config is not None:
            self._configured(answer.config)
        if self.denied:
            denial = of_denial(self.denied)
            if self._topics.readings in self.denied:
                raise LinkError(denial)  # they would be acknowledged, dropped, and gone: keep them
            log.error("%s", denial)
        return any(sample.topic == self._topics.readings for sample in samples)

    def _on_acked(self, mid: int) -> None:
        if self._session is not None:
            self._session.acked(mid)

    def _on_received(self, topic: str, payload: bytes) -> None:
        if topic == self._topics.config:
            self._configured(payload)


async def _first(*futures: "asyncio.Future[Any]") -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
