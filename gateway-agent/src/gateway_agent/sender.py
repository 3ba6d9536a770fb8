"""Keeps the agent connected to the broker and sends what the outbox has: live batches at once, the backlog at a limited
rate. The outbox is the source of truth; a batch leaves it only with the broker's answer.
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable
from functools import partial

from gateway_agent import config
from gateway_agent.clock import Clock, ClockSync
from gateway_agent.collector import Collector
from gateway_agent.config import ConfigError
from gateway_agent.connection import Connection, broker_address, connect
from gateway_agent.faults import Fault, LinkError, from_denial
from gateway_agent.health import Counters, Reporter
from gateway_agent.log_throttle import LogThrottle
from gateway_agent.outbox import REPLAYED_FOR_WINDOWS, Batch, Outbox, Store, StoreError
from gateway_agent.readings import BROKER_UPTIME, Topics, message
from gateway_agent.settings import OutboxSettings, Settings

log = logging.getLogger(__name__)

FIRST_RETRY_S = 1.0
SPREAD_S = 15.0  # a broker restart disconnects a thousand gateways at the same moment
STEADY_AFTER_S = 30.0  # a connection of this length resets the backoff
OFFLINE_WITHIN_S = 2.0
SEND_AGAIN_AFTER_S = 2.0
UPTIME_MARGIN_S = 2

# In flight at once: enough for any round trip, few enough that a live batch never waits long behind them on a slow
# line (256 KiB take two seconds at 1 Mbit/s).
BACKLOG_IN_FLIGHT = 100
BACKLOG_BYTES_IN_FLIGHT = 256 << 10
OTHERS_IN_FLIGHT = 5  # status and health
LIVE_IN_FLIGHT = 300  # more means a stuck broker; new batches then stay in the outbox
FETCH = 100
POLL_EVERY_S = 5.0
ACKS_EVERY_S = 2.0  # one write for all: each write syncs the card
RELEASE_EVERY_S = 30.0


class Sender:
    """Connects, sends and reconnects. The collector gets the `config` messages, the reporter knows what to report."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        clock_sync: ClockSync,
        counters: Counters,
        collector: Collector,
        reporter: Reporter,
    ) -> None:
        self._settings = settings
        self._store = store
        self._clock_sync = clock_sync
        self._clock = clock_sync.clock
        self._counters = counters
        self._collector = collector
        self._reporter = reporter
        self._topics = Topics.for_gateway(settings.id)
        self._connection: Connection | None = None
        self._steady_since: float | None = None  # start of the current connection, monotonic seconds
        self._broker_started: int | None = None  # boot_ms, upper bound; None: unknown
        self._last_connected_at: int | None = None  # boot_ms when the previous connection ended; None: first
        self._config_received = False
        self._answers: set[asyncio.Task[None]] = set()  # to status and health
        self._log_throttle, self._outbox_log_throttle = LogThrottle(), LogThrottle()
        self.fault: Fault | None = None
        self.denied: list[str] | None = None

    @property
    def online(self) -> bool:
        """Whether there is a connection now."""
        return self._connection is not None

    def publish_health(self, payload: bytes) -> None:
        """Send a health message; do nothing while disconnected."""
        if self._connection is not None:
            self._publish(self._connection, self._topics.health, payload)

    async def run(self) -> None:
        """Connect, send and reconnect, until cancelled."""
        backoff = Backoff(self._settings.broker.retry_max_s)
        while True:
            self._steady_since = None
            try:
                self.fault = await self._run_connection()
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

    async def _run_connection(self) -> Fault | None:
        """Run one connection; returns why it ended. None: reconnect to probe rights that could not be probed before."""
        try:
            password = config.password(self._settings)
        except ConfigError as error:
            raise LinkError(Fault("password_file", str(error), "make the file readable for the agent")) from error
        will = (self._topics.status, self._reporter.status("offline"))
        async with connect(self._settings, password, will) as connection:
            try:
                return await self._use(connection)
            except asyncio.CancelledError:
                # The broker sends no last will after a clean disconnect, so publish it here.
                await self._publish_offline(connection)
                raise
            finally:
                if self._connection is not None:
                    self._last_connected_at = self._clock.boot_ms()
                self._connection = None

    async def _use(self, connection: Connection) -> Fault | None:
        self._broker_started, self._config_received = None, False
        # Retained messages of these subscriptions arrive before the answers to `_probe_rights`.
        await connection.subscribe(self._topics.config, BROKER_UPTIME)
        may_send = await self._probe_rights(connection)
        connection.unsubscribe(BROKER_UPTIME)
        while not connection.messages.empty():
            self._receive(*connection.messages.get_nowait())
        self._clear_missing_config(connection)
        self._connection, self._steady_since, self.fault = connection, time.monotonic(), None
        self._counters.connects += 1
        log.info("connected to %s as %s", broker_address(self._settings), self._settings.id)
        replay_until = self._broker_started if connection.session_present else None
        self._publish(connection, self._topics.status, self._reporter.status("online"), retain=True)
        receiving = asyncio.create_task(self._receive_all(connection))
        sending = asyncio.create_task(
            self._send(connection, replay_until) if may_send else self._clock_sync.wait_for_change()
        )
        try:
            await asyncio.wait((sending, receiving, connection.lost), return_when=asyncio.FIRST_COMPLETED)
            for task in (sending, receiving):
                if task.done():
                    await task  # raises its exception
            return connection.lost.result() if connection.lost.done() else None
        except LinkError as error:  # readings are refused: the broker would drop what is sent
            await self._publish_offline(connection, error.fault.what)
            return error.fault
        finally:
            for task in (sending, receiving):
                task.cancel()
            await asyncio.gather(sending, receiving, return_exceptions=True)

    async def _probe_rights(self, connection: Connection) -> bool:
        """Probe the account's rights; returns whether readings could be probed. Raises LinkError if they are denied."""
        self._clock_sync.changed.clear()
        samples = await self._reporter.samples()
        self.denied = await connection.denied(samples)
        if self.denied:
            denial = from_denial(self.denied)
            if self._topics.readings in self.denied:
                await self._publish_offline(connection, denial.what)
                raise LinkError(denial)
            log.error("%s", denial)
        return any(sample.topic == self._topics.readings for sample in samples)

    async def _send(self, connection: Connection, replay_until: int | None) -> None:
        """Send over one connection. It stays open while the outbox fails: health and `config` need no outbox.

        Raises LinkError when the broker refuses readings.
        """
        while True:
            session = Session(
                self._store, self._clock_sync, self._counters, connection, self._topics.readings, self._settings.outbox
            )
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

    async def _receive_all(self, connection: Connection) -> None:
        while True:
            self._receive(*await connection.messages.get())

    def _receive(self, topic: str, payload: bytes) -> None:
        if topic == self._topics.config:
            self._config_received = True
            self._collector.configure(payload)
        elif topic == BROKER_UPTIME and (seconds := payload.split()[:1]) and seconds[0].isdigit():
            # Upper bound: the retained value is old, and whole seconds may be one too many.
            self._broker_started = self._clock.boot_ms() - (int(seconds[0]) - UPTIME_MARGIN_S) * 1000

    def _clear_missing_config(self, connection: Connection) -> None:
        """Reset to the file's settings if the broker holds no `config`: a retained one would have arrived by now.

        Not after a broker restart: a killed broker may have lost it, and the flows publish it again.
        """
        seen, started = self._last_connected_at, self._broker_started
        restarted = seen is not None and (started is None or started > seen)
        if connection.session_present and not restarted and not self._config_received:
            self._collector.configure(b"")

    async def _publish_offline(self, connection: Connection, reason: str = "") -> None:
        answer = connection.publish(self._topics.status, self._reporter.status("offline", reason), retain=True)
        await asyncio.wait([answer], timeout=OFFLINE_WITHIN_S)

    def _publish(self, connection: Connection, topic: str, payload: bytes, retain: bool = False) -> None:
        """Publish status or health; note when the broker denies it, and when no longer."""
        task = asyncio.create_task(self._note_denial(topic, connection.publish(topic, payload, retain)))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _note_denial(self, topic: str, answer: "asyncio.Future[Fault | None]") -> None:
        fault, denied = await answer, self.denied or []
        if fault is None and topic in denied:
            self.denied = [other for other in denied if other != topic]
            log.info("this account may publish %s again", topic)
        elif fault is not None and fault.kind == "acl" and topic not in denied:
            self.denied = [*denied, topic]
            log.error("%s", fault)


class Session:
    """Sends batches over one connection, until it or the outbox fails."""

    def __init__(
        self,
        store: Store,
        clock_sync: ClockSync,
        counters: Counters,
        connection: Connection,
        topic: str,
        settings: OutboxSettings,
    ) -> None:
        self._store, self._clock_sync, self._counters = store, clock_sync, counters
        self._clock: Clock = clock_sync.clock
        self._connection, self._topic = connection, topic
        self._replay_ms = int(settings.replay_s * 1000)
        self._rate = TokenBucket(settings.backlog_rate, time.monotonic())
        limit = max(1, connection.receive_maximum - OTHERS_IN_FLIGHT)
        self._max_backlog = min(BACKLOG_IN_FLIGHT, limit)
        self._max_live = min(LIVE_IN_FLIGHT + BACKLOG_IN_FLIGHT, limit)
        self._in_flight = self._bytes = 0
        self._claimed: set[int] = set()  # ids that are in flight, or acknowledged but not yet so in the outbox
        self._acked: list[Batch] = []
        self._slot_free = asyncio.Event()
        self._damaged_files = store.damaged
        self._tasks: asyncio.TaskGroup
        self.replayed = False

    async def run(self, replay_until: int | None) -> None:
        """Work until cancelled. Raises StoreError when the outbox fails, LinkError when the broker refuses a batch.

        ``replay_until``: send batches acknowledged until then (boot_ms) again; None: all held batches.
        """
        within_ms = REPLAYED_FOR_WINDOWS * self._replay_ms
        self._counters.replayed += await self._store.run(lambda outbox: outbox.replay(within_ms, replay_until))
        self.replayed = True
        self._store.live.clear()  # they wait in the outbox with the others
        try:
            async with asyncio.TaskGroup() as self._tasks:
                for work in (self._send_live(), self._send_backlog(), self._flush_periodically(), self._release_held()):
                    self._tasks.create_task(work)
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None

    async def flush(self) -> None:
        """Store received acknowledgements. Raises StoreError."""
        acked = self._acked.copy()
        if acked:
            now = self._clock.boot_ms()
            await self._store.run(lambda outbox: self._acknowledge(outbox, [batch.id for batch in acked], now))
            del self._acked[: len(acked)]
            self._claimed.difference_update(batch.id for batch in acked)
            self._counters.acked += sum(batch.readings for batch in acked)

    def _acknowledge(self, outbox: Outbox, ids: list[int], now: int) -> None:
        """Ids are valid only within one file: skip if the outbox was replaced meanwhile."""
        if self._store.damaged == self._damaged_files:
            outbox.acknowledge(ids, now)

    async def _send_live(self) -> None:
        """Send batches that were just stored, ahead of the backlog."""
        while True:
            batch = await self._store.next_live()
            if self._in_flight < self._max_live:
                self._send(batch)

    async def _send_backlog(self) -> None:
        after = 0
        while True:
            self._clock_sync.changed.clear()
            waiting = await self._fetch(after)
            if not waiting:
                after = 0
                await self._clock_sync.wait_for_change(POLL_EVERY_S)
            for batch in waiting:
                after = batch.id
                if batch.id in self._claimed:
                    continue
                await asyncio.sleep(self._rate.take(batch.readings, time.monotonic()))
                while self._in_flight >= self._max_backlog or self._bytes >= BACKLOG_BYTES_IN_FLIGHT:
                    self._slot_free.clear()
                    await self._slot_free.wait()
                self._send(batch)

    def _send(self, batch: Batch) -> None:
        if batch.id in self._claimed:  # live and backlog may both have it
            return
        payload = message(batch.ts, batch.id, batch.body)
        self._claimed.add(batch.id)
        self._in_flight += 1
        self._bytes += len(payload)
        self._counters.published += batch.readings
        self._tasks.create_task(self._take_answer(batch, len(payload), self._connection.publish(self._topic, payload)))

    async def _take_answer(self, batch: Batch, size: int, answer: "asyncio.Future[Fault | None]") -> None:
        fault = await answer
        if fault is None:
            self._in_flight -= 1
            self._bytes -= size
            self._acked.append(batch)
            self._slot_free.set()
        elif not self._connection.lost.done():  # a refused batch stays until a connection has the right again
            raise LinkError(fault)

    async def _fetch(self, after: int) -> list[Batch]:
        return await self._store.run(partial(Outbox.waiting, after=after, limit=FETCH))

    async def _flush_periodically(self) -> None:
        while True:
            await asyncio.sleep(ACKS_EVERY_S)
            await self.flush()

    async def _release_held(self) -> None:
        while True:
            before = self._clock.boot_ms() - self._replay_ms
            await self._store.run(partial(Outbox.release, before_boot_ms=before))
            await asyncio.sleep(RELEASE_EVERY_S)


class Backoff:
    """Exponential with jitter, so that a thousand gateways do not retry in step: between half and the whole of 1, 2,
    4 … seconds, up to ``longest_s``."""

    def __init__(self, longest_s: float, jitter: Callable[[], float] = random.random) -> None:
        self._longest_s = longest_s
        self._jitter = jitter
        self._next_s = FIRST_RETRY_S

    def pause_s(self) -> float:
        """Seconds to wait before the next attempt."""
        pause = min(self._next_s, self._longest_s)
        self._next_s = min(self._next_s * 2, self._longest_s)
        return pause * (0.5 + 0.5 * self._jitter())

    def spread_s(self) -> float:
        """Seconds to wait before the first attempt after a stable connection: random, up to 15 s."""
        return min(SPREAD_S, self._longest_s) * self._jitter()

    def reset(self) -> None:
        """Start over after a successful attempt."""
        self._next_s = FIRST_RETRY_S


class TokenBucket:
    """Limits a rate: ``per_second`` units on average, with bursts of a tenth of a second. One request always passes."""

    def __init__(self, per_second: float, now: float) -> None:
        self._per_second = per_second
        self._burst = per_second / 10
        self._tokens = self._burst
        self._at = now

    def take(self, units: int, now: float) -> float:
        """Take units; returns the seconds to wait before using them. A large request delays the next one."""
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_second)
        self._at = now
        wait = max(0.0, -self._tokens / self._per_second)
        self._tokens -= units
        return wait
