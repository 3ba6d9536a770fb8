"""Runs many receivers in one event loop: connects them, sends due batches, waits for acknowledgements."""

import asyncio
import contextlib
import functools
import gc
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version

from gateway_agent.mqtt import Endpoint

from simulator.gateways import PlayedGateway
from simulator.link import Link, Receiver, Subscription
from simulator.message import (
    ScheduledBatch,
    batch,
    config_topic,
    health,
    health_topic,
    malformed,
    readings_topic,
    status,
    status_topic,
)
from simulator.outbox import Batch, Limits
from simulator.play import Play
from simulator.report import SendStats
from simulator.run_options import RefusedError, RunOptions, Stop, UnreachableError
from simulator.settings import Broker
from simulator.truth import Journal, TruthFile

# Batches that are due soon after each other are sent together, TOGETHER of them if the rate allows: a wake-up for each
# would cost more than the message.
TOGETHER, TICK_S = 10, (0.005, 0.02)
YIELD_EVERY = 50  # messages after which the loop reads acknowledgements even if sending is behind
SWEEP_S, SWEEP_PARTS = 7.5, 50  # each connection's keep-alive is checked that often, in this many parts
OPENING = 64  # connections that are opened at a time, each by a thread; those that wait do not time out
BACKOFF_S = (0.5, 15.0)  # first and longest wait before a retry, mostly random
CLOCK_STEP_S = 2.0  # the wall clock was set, or the machine slept: time stamps follow it
STOPPED_DRAIN_S = 8.0  # after a signal: less than the 10 s after which process managers kill
SHUT_DOWN_S = 2.0
MIN_HELD_BATCHES = 10  # batches of a receiver: fewer are no replay window worth its memory
CPU_C = 45.0  # of a Raspberry Pi that does little
VERSION = f"simulator/{version('sda-simulator')}"


class Fleet:
    """All receivers of a run, each with its own connection. `run` once, in the running loop."""

    def __init__(
        self,
        broker: Broker,
        play: Play,
        options: RunOptions,
        log: Callable[[str], None],
        truth: TruthFile | None = None,
        journal: Journal | None = None,
    ) -> None:
        receivers = play.receivers
        self.tally = SendStats(receivers=len(receivers))
        self._broker, self._play, self._options, self._log, self._truth = broker, play, options, log, truth
        self._journal = journal
        self._seqs = [0] * len(receivers)
        self._made = [0] * len(receivers)  # readings of each receiver
        self._dropped = [Counter[str]() for _ in play.gateways]  # readings of each gateway, by reason
        self._endpoint = Endpoint(broker.host, broker.port, broker.tls_context())
        self._limits = _limits(options, len(receivers))
        self._opening = asyncio.Semaphore(OPENING)
        self._statuses: dict[Link, str] = {}
        self._run_id = secrets.token_hex(3)  # two simulators must not take over each other's sessions
        self._links = [self._link(sender) for sender in range(len(receivers))]
        self._senders = {link: sender for sender, link in enumerate(self._links)}
        self._cut: set[Link] = set()  # in an outage, also by switching off
        self._switched_off: set[Link] = set()
        self._changed = asyncio.Event()
        self._ending = False
        self._started_s = time.monotonic()
        self._at_connected = (0.0, 0)  # CPU seconds and acknowledged messages when all were connected
        self._jitter = random.Random()  # noqa: S311 - spreads reconnects
        self._tasks: asyncio.TaskGroup

    def _link(self, sender: int) -> Link:
        kind, its_id = self._play.receivers[sender]
        broker, client_id = self._broker, f"sim-{self._run_id}-{kind}-{its_id}"
        if broker.accounts is not None:
            broker, client_id = broker.as_account(its_id), its_id
        receiver = Receiver(client_id, broker.username, broker.password, readings_topic(self._play.receivers[sender]))
        if kind == "phone":
            return Link(self._endpoint, receiver, self, self._limits)
        topic = status_topic(its_id)
        receiver = receiver._replace(will=(topic, status("offline", _now_ms(), VERSION)))
        if gateway := self._play.gateways.get(sender):
            config = Subscription(config_topic(its_id), functools.partial(self._configure, gateway))
            receiver = receiver._replace(subscription=config, reads_uptime=True)
        link = Link(self._endpoint, receiver, self, self._limits)
        self._statuses[link] = topic
        return link

    def _configure(self, gateway: PlayedGateway, _topic: str, payload: bytes) -> None:
        if fault := gateway.configure(payload):
            self._log(fault)

    async def run(self, stop: Stop) -> float:
        """Connect, send all batches of the play (or until `stop`), wait for the acknowledgements, disconnect.

        Returns the seconds during which batches were made. Raises UnreachableError or RefusedError before anything
        is sent; later outages of the broker are retried."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                helpers = [self._tasks.create_task(self._keep_alive())]
                try:
                    return await self._run(self._play.batches, stop, helpers)
                finally:
                    self._ending = True
                    if self._truth is not None:
                        self._truth.close(_now_ms())
                    for helper in helpers:
                        helper.cancel()
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _run(self, batches: Iterator[ScheduledBatch], stop: Stop, helpers: list[asyncio.Task[None]]) -> float:
        if not await self._connect_first(stop):
            return 0.0
        gc.collect()  # what making the play left behind
        started_s = time.monotonic()
        sending = self._tasks.create_task(self._send(batches, started_s))
        stopping = self._tasks.create_task(stop.wait())
        outages = self._tasks.create_task(self._play_outages(started_s))
        beside = (self._ramp(), self._progress(started_s), self._publish_healths())
        helpers += [*(self._tasks.create_task(one) for one in beside), outages, stopping]
        await asyncio.wait((sending, stopping), return_when=asyncio.FIRST_COMPLETED)
        made_s = time.monotonic() - started_s
        self._measure_cpu()
        sending.cancel()
        outages.cancel()
        for link in list(self._cut):  # their batches are to be acknowledged too
            self._end_outage(link)
        drain_s = min(self._options.drain_s, STOPPED_DRAIN_S) if stop.requested.is_set() else self._options.drain_s
        await self._wait_until(lambda: self._is_drained() or stop.at_once, drain_s)
        await self._shut_down()
        return made_s

    def _is_drained(self) -> bool:
        return not self.tally.waiting and all(link.is_through for link in self._links)

    def _measure_cpu(self) -> None:
        cpu_s, acknowledged = self._at_connected
        messages = self.tally.acknowledged - acknowledged
        if self.tally.connected_s is not None and messages:
            self.tally.cpu_us = (time.process_time() - cpu_s) / messages * 1e6

    async def _connect_first(self, stop: Stop) -> bool:
        """Connect the first receiver, with retries for `wait_s`, so that a wrong address or password is reported once
        and not by each of thousands. False: stopped meanwhile."""
        first, broker = self._links[0], self._broker
        self._open(first)
        await self._wait_until(
            lambda: first.is_up or bool(first.refused) or stop.requested.is_set(), self._options.wait_s
        )
        if first.refused:
            remedy = "it exists only with the demo: SIM=1 in .env, then make up"
            raise RefusedError(
                f"the broker at {broker} refused the account {broker.username!r}: {first.refused}; {remedy}"
            )
        if not first.is_up and not stop.requested.is_set():
            raise UnreachableError(f"no broker at {broker} within {self._options.wait_s:g} s: {first.problem}")
        return first.is_up

    async def _ramp(self) -> None:
        started_s = time.monotonic()
        for number, link in enumerate(self._links[1:]):
            wait_s = started_s + number / self._options.ramp_per_s - time.monotonic()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            self._open(link)
        await self._wait_until(lambda: self.tally.connected == len(self._links), self._options.wait_s)
        gc.freeze()  # what lives as long as the run needs no look at it again and again

    async def _send(self, batches: Iterator[ScheduledBatch], started_s: float) -> None:
        origin_ms = _now_ms() - round((time.monotonic() - started_s) * 1000)
        for number, item in enumerate(batches):
            wait_s = started_s + item.due_s - time.monotonic()
            if wait_s > 0:
                await asyncio.sleep(max(wait_s, self._tick_s(started_s)))
                origin_ms += self._clock_step_ms(origin_ms, started_s)
            elif number % YIELD_EVERY == 0:
                await asyncio.sleep(0)
            if self._truth is not None:
                self._truth.write_until(item.due_s, origin_ms)
            if item.readings:
                self._publish_batch(item, origin_ms + item.offset_ms)

    def _tick_s(self, started_s: float) -> float:
        """How long to sleep at least."""
        lasted_s = time.monotonic() - started_s
        return min(TICK_S[1], max(TICK_S[0], TOGETHER * lasted_s / max(1, self.tally.made)))

    def _publish_batch(self, item: ScheduledBatch, ts_ms: int) -> None:
        sender = item.sender
        self._seqs[sender] += 1
        payload = batch(ts_ms, self._seqs[sender], item.readings)
        if item.malformed:
            payload = malformed(payload)
        self.tally.duplicates += item.copies - 1
        self.tally.late += item.late
        self.tally.malformed += item.malformed * item.copies
        for _ in range(item.copies):
            self._publish_payload(sender, payload, len(item.readings), 0 if item.malformed else ts_ms)

    def _publish_payload(self, sender: int, payload: bytes, readings: int, ts_ms: int) -> None:
        tally, link = self.tally, self._links[sender]
        tally.made += 1
        tally.readings += readings
        self._made[sender] += readings
        link.publish(payload, readings, ts_ms)
        if tally.waiting > self._options.queue and (oldest := link.outbox.drop_oldest()):
            self._count_dropped(sender, oldest, "size")

    def _count_dropped(self, sender: int, batch: Batch, reason: str) -> None:
        if batch.first_acked_s is None:
            self.tally.dropped += 1
            if sender in self._play.gateways:
                self._dropped[sender][reason] += batch.readings

    def _clock_step_ms(self, origin_ms: int, started_s: float) -> int:
        step_ms = _now_ms() - origin_ms - round((time.monotonic() - started_s) * 1000)
        if abs(step_ms) <= CLOCK_STEP_S * 1000:
            return 0
        self._log(f"the clock moved by {step_ms / 1000:+.1f} s: time stamps follow")
        return step_ms

    async def _shut_down(self) -> None:
        """Publish the gateways' final status, then disconnect all."""
        self._ending = True
        for link, topic in self._statuses.items():
            if via := self._link_for(link):
                final = status(self._options.final_status, _now_ms(), VERSION)
                via.publish_other(topic, final, retain=True)
        await self._wait_until(
            lambda: not any(link.is_up and link.has_pending_status for link in self._statuses), SHUT_DOWN_S
        )
        for link in self._links:
            link.close()

    def _publish_online(self, link: Link) -> None:
        link.publish_other(self._statuses[link], status("online", _now_ms(), VERSION), retain=True)

    def _link_for(self, link: Link) -> Link | None:
        """A link that is up and may publish in place of this one; None: there is none."""
        if link.is_up or self._broker.accounts is not None:
            return link if link.is_up else None
        return next((other for other in self._statuses if other.is_up), None)

    def _publish_health(self, sender: int) -> None:
        link, gateway = self._links[sender], self._play.gateways[sender]
        reasons, acknowledged = self._dropped[sender], link.readings_acknowledged
        dropped = reasons.total()
        published = self._made[sender] - dropped
        figures = {
            "uptime_s": round(time.monotonic() - self._started_s),
            **gateway.figures(),
            "published": published,
            "acked": acknowledged,
            "queued": published - acknowledged,
            "dropped": dropped,
            "dropped_size": reasons["size"],
            "dropped_age": reasons["age"],
            "replayed": link.replayed,
            "scan_restarts": 0,
            "connects": link.connections,
            "cpu_temperature_c": CPU_C + sender % 12,
            "clock_synchronised": 1,
            "clock_offset_ms": 0,
        }
        link.publish_other(health_topic(gateway.id), health(_now_ms(), VERSION, figures))

    async def _publish_healths(self) -> None:
        """Each connected gateway's health every `health_s`, evenly spread."""
        while self._play.gateways:
            for sender in self._play.gateways:
                await asyncio.sleep(self._options.health_s / len(self._play.gateways))
                if self._ending:  # after the final status it would look like a gateway that is back
                    return
                if self._links[sender].is_up:
                    self._publish_health(sender)

    async def _play_outages(self, started_s: float) -> None:
        for outage in self._play.outages:
            await asyncio.sleep(max(0.0, started_s + outage.start_s - time.monotonic()))
            link = self._links[outage.sender]
            self._cut.add(link)
            if outage.switched_off:
                self._switched_off.add(link)
            self._disconnect(link)
            rest_s = started_s + outage.end_s - time.monotonic()
            asyncio.get_running_loop().call_later(max(0.0, rest_s), self._end_outage, link)

    def _disconnect(self, link: Link) -> None:
        if link in self._switched_off:
            link.close()
        else:
            link.cut()

    def _end_outage(self, link: Link) -> None:
        self._cut.discard(link)
        self._switched_off.discard(link)
        self._open(link)

    async def _wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait for a condition for at most `seconds`. Links wake it; a signal is seen within 0.1 s."""
        deadline = time.monotonic() + seconds
        while not condition() and (left := deadline - time.monotonic()) > 0:
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), min(left, 0.1))

    async def _keep_alive(self) -> None:
        """Check every connection once in SWEEP_S, in parts, so that nothing waits for the whole sweep."""
        while True:
            for part in range(SWEEP_PARTS):
                await asyncio.sleep(SWEEP_S / SWEEP_PARTS)
                now_s = time.monotonic()
                for sender in range(part, len(self._links), SWEEP_PARTS):
                    link = self._links[sender]
                    link.keep_alive(now_s)
                    for old in link.outbox.drop_old(now_s):
                        self._count_dropped(sender, old, "age")

    async def _progress(self, started_s: float) -> None:
        while self._options.progress_s:
            await asyncio.sleep(self._options.progress_s)
            self._log(self.tally.progress(time.monotonic() - started_s))

    def _open(self, link: Link) -> None:
        if not self._ending and link not in self._cut and not link.is_up:
            self._tasks.create_task(self._open_one(link))

    async def _open_one(self, link: Link) -> None:
        async with self._opening:
            await link.open()

    # Callbacks of links.

    def link_up(self, link: Link) -> None:
        self.tally.connected += 1
        self.tally.connections += 1
        if self.tally.connected == len(self._links) and self.tally.connected_s is None:
            self.tally.connected_s = time.monotonic() - self._started_s
            self._at_connected = (time.process_time(), self.tally.acknowledged)
        self._changed.set()
        if self._ending:
            asyncio.get_running_loop().call_soon(link.close)
            return
        if link in self._statuses:
            self._publish_online(link)
        if (sender := self._senders[link]) in self._play.gateways:
            self._publish_health(sender)
        if link in self._cut:  # it was connecting when its outage began
            asyncio.get_running_loop().call_soon(self._disconnect, link)

    def link_down(self, link: Link) -> None:
        if link.is_up:
            self.tally.connected -= 1
            self.tally.connections_lost += not self._ending and link not in self._switched_off
        self._changed.set()
        # Never faster than the ramp, even when thousands lose the broker at once.
        shortest, longest = (max(bound, len(self._links) / self._options.ramp_per_s) for bound in BACKOFF_S)
        delay = min(longest, shortest * 2 ** min(link.failures, 10)) * self._jitter.uniform(0.1, 1)
        asyncio.get_running_loop().call_later(delay, self._open, link)

    def link_acknowledged(self, link: Link, batch: Batch, latency_s: float) -> None:
        tally = self.tally
        if batch.first_acked_s is not None:
            tally.replayed += 1
            return
        link.readings_acknowledged += batch.readings
        tally.acknowledged += 1
        tally.readings_acknowledged += batch.readings
        tally.latencies.add(latency_s)
        if self._journal is not None and batch.ts_ms:
            receiver = self._play.receivers[self._senders[link]]
            self._journal.write(receiver, batch.ts_ms, batch.readings, _now_ms())
        if not tally.waiting:
            self._changed.set()


def _limits(options: RunOptions, receivers: int) -> Limits:
    """Each receiver's limits; where only a few batches of each could be held, none are."""
    held = options.held // max(1, receivers)
    return Limits(options.max_age_s, options.replay_s if held >= MIN_HELD_BATCHES else 0.0, held)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
