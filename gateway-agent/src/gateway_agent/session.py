"""What goes over one connection: live batches at once, the backlog behind them at a bounded rate, answers back.

The outbox holds the truth; a session only remembers what it handed over and has no acknowledgement for yet.
"""

import asyncio
import time
from collections.abc import Callable

from gateway_agent.clock import Clock
from gateway_agent.health import Counters
from gateway_agent.outbox import Outbox
from gateway_agent.outbox_view import Batch
from gateway_agent.rate import Rate
from gateway_agent.record import message
from gateway_agent.store import Store
from gateway_agent.tasks import together, wait_for_event

# Under way at once: enough for any round trip, and little enough that a live batch never waits long behind it on a
# slow line (256 KiB are two seconds at 1 Mbit/s).
BACKLOG_UNDER_WAY = 100
BACKLOG_BYTES_UNDER_WAY = 256 << 10
OTHERS_UNDER_WAY = 5  # status and health
LIVE_UNDER_WAY = 300  # more means a stuck broker; what is new then stays in the outbox
FETCH = 100
LOOK_AGAIN_S = 5.0
ACKS_EVERY_S = 2.0  # written together: each write is a sync of the card
RELEASE_EVERY_S = 30.0
# An acknowledgement begins a new replay window, but a broker that is restarted every minute must not be sent all it
# ever got: two windows after its first acknowledgement a batch is no longer sent again.
REPLAYED_FOR_WINDOWS = 2


class Session:
    """``publish`` hands a payload to the client and returns its message id. ``replay_s`` is the replay window.

    ``receive_maximum``: how many messages the broker takes before it has acknowledged one.
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
        self._rate = Rate(rate, time.monotonic())
        most = max(1, receive_maximum - OTHERS_UNDER_WAY)
        self._backlog_most = min(BACKLOG_UNDER_WAY, most)
        self._live_most = min(LIVE_UNDER_WAY + BACKLOG_UNDER_WAY, most)
        self._under_way: dict[int, tuple[Batch, int]] = {}
        self._bytes = 0
        self._claimed: set[int] = set()
        self._acked: list[Batch] = []
        self._files = store.damaged
        self.replayed = False
        self._room = asyncio.Event()
        self._more = asyncio.Event()

    def live(self, batches: list[Batch]) -> None:
        """Send what was just stored, ahead of everything that waits."""
        for batch in batches:
            if len(self._under_way) < self._live_most:
                self._send(batch)

    def acked(self, mid: int) -> None:
        """The broker acknowledged a message; ids of other messages than batches are ignored."""
        batch, size = self._under_way.pop(mid, (None, 0))
        if batch is None:
            return
        self._bytes -= size
        self._acked.append(batch)
        self._room.set()

    def look_again(self) -> None:
        """Batches may have come to the outbox that `live` was not told of."""
        self._more.set()

    async def run(self, replay_until: int | None) -> None:
        """Works until cancelled or the outbox fails (StoreError).

        ``replay_until``: what the broker acknowledged until then (boot_ms) it may have forgotten; None: everything.
        """
        within_ms = int(REPLAYED_FOR_WINDOWS * self._replay_s * 1000)
        self._counters.replayed += await self._store.do(lambda outbox: outbox.replay(within_ms, replay_until))
        self.replayed = True
        work = (self._send_backlog(), self._keep_acknowledgements(), self._release_held())
        await together(*work)

    async def flush(self) -> None:
        """Write down the acknowledgements that came. Raises StoreError."""
        acked = self._acked.copy()
        if acked:
            now = self._clock.boot_ms()
            await self._store.do(lambda outbox: self._acknowledge(outbox, [batch.id for batch in acked], now))
            del self._acked[: len(acked)]
            self._claimed.difference_update(batch.id for batch in acked)
            self._counters.acked += sum(batch.readings for batch in acked)

    def _acknowledge(self, outbox: Outbox, ids: list[int], now: int) -> None:
        """In a file that was begun afresh meanwhile the same ids are other batches."""
        if self._store.damaged == self._files:
            outbox.acknowledge(ids, now)

    def _send(self, batch: Batch) -> None:
        payload = message(batch.ts, batch.id, batch.body)
        self._claimed.add(batch.id)
        self._under_way[self._publish(payload)] = (batch, len(payload))
        self._bytes += len(payload)
        self._counters.published += batch.readings

    async def _send_backlog(self) -> None:
        after = 0
        while True:
            self._more.clear()
            waiting = await self._fetch(after)
            if not waiting:
                after = 0
                await wait_for_event(self._more, LOOK_AGAIN_S)
            for batch in waiting:
                after = batch.id
                if batch.id in self._claimed:
                    continue
                await asyncio.sleep(self._rate.take(batch.readings, time.monotonic()))
                while len(self._under_way) >= self._backlog_most or self._bytes >= BACKLOG_BYTES_UNDER_WAY:
                    self._room.clear()
                    await self._room.wait()
                self._send(batch)

    async def _fetch(self, after: int) -> list[Batch]:
        return await self._store.do(lambda outbox: outbox.waiting(after, FETCH))

    async def _keep_acknowledgements(self) -> None:
        while True:
            await asyncio.sleep(ACKS_EVERY_S)
            await self.flush()

    async def _release_held(self) -> None:
        while True:
            before = self._clock.boot_ms() - int(self._replay_s * 1000)
            await self._store.do(lambda outbox, before=before: outbox.release(before))  # type: ignore[misc]
            await asyncio.sleep(RELEASE_EVERY_S)
