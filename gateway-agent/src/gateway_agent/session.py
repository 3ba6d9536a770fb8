"""Sends batches over one connection: live batches at once, the backlog at a limited rate.

The outbox is the source of truth; a session only tracks the batches in flight.
"""

import asyncio
import time
from collections.abc import Callable

from gateway_agent.clock import Clock
from gateway_agent.health import Counters
from gateway_agent.outbox import Outbox
from gateway_agent.outbox_view import Batch
from gateway_agent.readings import message
from gateway_agent.store import Store
from gateway_agent.tasks import run_all, wait_for_event
from gateway_agent.token_bucket import TokenBucket

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
# Each acknowledgement starts a new replay window. Two windows after its first acknowledgement a batch is not sent
# again, so that a broker that restarts every minute does not get everything again and again.
REPLAYED_FOR_WINDOWS = 2


class Session:
    """``publish`` hands a payload to the client and returns its message id. ``replay_s`` is the replay window.

    ``receive_maximum``: how many unacknowledged messages the broker accepts.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        counters: Counters,
        publish: Callable[[bytes], int],
        replay_s: float,
        rate: float,
        receive_maximum: int,
    ) -> None:
        self._store = store
        self._clock = clock
        self._counters = counters
        self._publish = publish
        self._replay_s = replay_s
        self._rate = TokenBucket(rate, time.monotonic())
        limit = max(1, receive_maximum - OTHERS_IN_FLIGHT)
        self._max_backlog = min(BACKLOG_IN_FLIGHT, limit)
        self._max_live = min(LIVE_IN_FLIGHT + BACKLOG_IN_FLIGHT, limit)
        self._in_flight: dict[int, tuple[Batch, int]] = {}
        self._bytes = 0
        self._claimed: set[int] = set()
        self._acked: list[Batch] = []
        self._damaged_files = store.damaged
        self.replayed = False
        self._slot_free = asyncio.Event()
        self._wake = asyncio.Event()

    def send_live(self, batches: list[Batch]) -> None:
        """Send batches that were just stored, ahead of the backlog."""
        for batch in batches:
            if len(self._in_flight) < self._max_live:
                self._send(batch)

    def acked(self, mid: int) -> None:
        """Handle an acknowledgement; ids of messages that are no batches are ignored."""
        batch, size = self._in_flight.pop(mid, (None, 0))
        if batch is None:
            return
        self._bytes -= size
        self._acked.append(batch)
        self._slot_free.set()

    def wake(self) -> None:
        """Check the outbox for batches that `send_live` did not get."""
        self._wake.set()

    async def run(self, replay_until: int | None) -> None:
        """Work until cancelled or the outbox fails (StoreError).

        ``replay_until``: send batches acknowledged until then (boot_ms) again; None: all held batches.
        """
        within_ms = int(REPLAYED_FOR_WINDOWS * self._replay_s * 1000)
        self._counters.replayed += await self._store.run(lambda outbox: outbox.replay(within_ms, replay_until))
        self.replayed = True
        work = (self._send_backlog(), self._flush_periodically(), self._release_held())
        await run_all(*work)

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

    def _send(self, batch: Batch) -> None:
        payload = message(batch.ts, batch.id, batch.body)
        self._claimed.add(batch.id)
        self._in_flight[self._publish(payload)] = (batch, len(payload))
        self._bytes += len(payload)
        self._counters.published += batch.readings

    async def _send_backlog(self) -> None:
        after = 0
        while True:
            self._wake.clear()
            waiting = await self._fetch(after)
            if not waiting:
                after = 0
                await wait_for_event(self._wake, POLL_EVERY_S)
            for batch in waiting:
                after = batch.id
                if batch.id in self._claimed:
                    continue
                await asyncio.sleep(self._rate.take(batch.readings, time.monotonic()))
                while len(self._in_flight) >= self._max_backlog or self._bytes >= BACKLOG_BYTES_IN_FLIGHT:
                    self._slot_free.clear()
                    await self._slot_free.wait()
                self._send(batch)

    async def _fetch(self, after: int) -> list[Batch]:
        return await self._store.run(lambda outbox: outbox.waiting(after, FETCH))

    async def _flush_periodically(self) -> None:
        while True:
            await asyncio.sleep(ACKS_EVERY_S)
            await self.flush()

    async def _release_held(self) -> None:
        while True:
            before = self._clock.boot_ms() - int(self._replay_s * 1000)
            await self._store.run(lambda outbox, before=before: outbox.release(before))  # type: ignore[misc]
            await asyncio.sleep(RELEASE_EVERY_S)
