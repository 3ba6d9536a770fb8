"""What one worker of the generator does: its share of a step's requests, each at its due time, each recorded."""

import random
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import gevent
import gevent.event
import gevent.pool
from simulator.link import Subscription
from simulator.message import Reading, Receiver

from lab import logins, schedule
from lab.calls import CallContext, HttpCall, Place, Site
from lab.catalogue import CALLS
from lab.dashboards import OpenPage, log_in
from lab.gevent_loop import GeventLoop
from lab.http_client import Caller
from lab.plan import Load, Plan, Step, asks_by_http, receivers_of
from lab.receivers import CONNECTS_PER_S, Device, Sent, endpoint_of, receiver_of
from lab.samples import Sample
from lab.schedule import share
from lab.switches import CONFIGS, Switches
from lab.target import Target
from simulator import link

MAX_IN_FLIGHT = 5000
"""Open requests of one worker; a further one that is due is recorded as a fault, not sent."""
METRONOME_S = 0.02
YIELD_EVERY = 32
"""Due requests, while they are late."""
STRONG_DBM, WEAK_DBM = -45, -92
NOT_SENT = f"not sent: {MAX_IN_FLIGHT} requests are open"
NOT_ACKNOWLEDGED = "not acknowledged"
CONNECT_WITHIN_S = 120.0
PAGES_PER_S = 50.0
"""A worker opens so many dashboard pages a second."""
Record = Callable[[Sample], None]


class Work:
    """The loads of one worker. The coordinator says when each step begins and that the run is over."""

    def __init__(self, plan: Plan, target: Target, site: Site, worker: int, workers: int, record: Record) -> None:
        self.lag_ms: list[float] = []
        """How late the timer came since this was last taken."""
        self.in_flight = 0
        self._plan, self._site, self._worker, self._workers = plan, site, worker, workers
        self._record, self._target = record, target
        self._http = Caller(target, plan.retries, max(256, *(load.count for step in plan.steps for load in step.loads)))
        self._heard: dict[tuple[int, int], tuple[Reading, ...]] = {}
        self._endpoint, self._loop = endpoint_of(target), GeventLoop()
        self._devices = self._make_devices(target)
        self._listeners: list[Device] = []
        self._switches = Switches(site, self._http)
        if worker == 0 and any(load.kind == "switches" for step in plan.steps for load in step.loads):
            listener = Receiver("gateway", f"{site.senders}switches")
            subscription = Subscription(CONFIGS, self._switches.received)
            self._listeners = [self._make_device(receiver_of(listener, target, {}, subscription))]
        self._step: Step | None = None
        self._index = -1
        self._begin_s = 0.0
        self._halted = gevent.event.Event()
        self._numbers: dict[int, int] = defaultdict(int)
        self._share = 1.0
        """Of the workers of `batches`, in this phase."""
        self._opened: dict[int, int] = defaultdict(int)
        self._left: dict[int, deque[Slot]] = defaultdict(deque)
        self._chance = random.Random(worker)  # noqa: S311 - which call is next, no secret
        self._acting: dict[int, int] = defaultdict(int)
        """Users by step."""
        self._greenlets = gevent.pool.Group()

    def _make_devices(self, target: Target) -> list[Device]:
        """This worker's share: every `workers`-th receiver. Raises SettingsError, ValueError: they cannot log in."""
        accounts = logins.accounts_of(target)
        numbers = share(receivers_of(self._plan), self._worker, self._workers)
        mine = [f"{self._site.senders}{number}" for number in numbers]
        if fault := logins.fault(mine, target, accounts):
            raise ValueError(fault)
        return [self._make_device(receiver_of(Receiver("phone", one), target, accounts)) for one in mine]

    def _make_device(self, receiver: link.Receiver) -> Device:
        return Device(self._endpoint, self._loop, receiver, self._acknowledged, self._reconnected)

    @property
    def _everyone(self) -> list[Device]:
        return [*self._devices, *self._listeners]

    def prepare(self) -> str:
        """Connect all receivers; returns a fault, or nothing."""
        if asks_by_http(self._plan) and (fault := self._http.check()):
            return fault
        self._greenlets.spawn(self._metronome)
        for number, device in enumerate(self._everyone):
            self._greenlets.spawn(device.run)
            if number % 50 == 49:
                gevent.sleep(50 * self._workers / CONNECTS_PER_S)
        deadline_s = time.monotonic() + CONNECT_WITHIN_S
        while missing := [one for one in self._everyone if not one.is_up]:
            hopeless = next((one for one in self._everyone if one.is_hopeless), None)
            if hopeless or time.monotonic() > deadline_s:
                one = hopeless or missing[0]
                return (
                    f"{len(missing)} of {len(self._everyone)} receivers are not connected; {one.id}: "
                    f"{one.problem or 'no answer'}"
                )
            gevent.sleep(0.05)
        if self._everyone:
            self._greenlets.spawn(self._keep_alive)
        return ""

    def begin(self, index: int, in_s: float) -> None:
        """Start a step after a moment, which is the same for all workers."""
        self._begin_s = time.monotonic() + in_s
        self._index, self._step = index, self._plan.steps[index]
        self._greenlets.spawn(self._open_loop, index, self._step, self._begin_s)
        for load in self._step.loads:
            if load.kind == "sockets":
                self._greenlets.spawn(self._open_pages, index, load, self._step, self._begin_s)

    def widen(self, share: float) -> None:
        """Begin a phase: this share of the workers of `batches` has work."""
        self._share = share

    def end(self) -> None:
        """End the present step: users send nothing more."""
        self._step = None

    def halt(self) -> None:
        """Send nothing more at all."""
        self._halted.set()
        self._step = None

    def finish(self, within_s: float) -> None:
        """Send nothing more, wait for open answers, record what has none, disconnect."""
        self.halt()
        deadline_s = time.monotonic() + within_s
        while time.monotonic() < deadline_s and (self.in_flight or not all(one.is_through for one in self._devices)):
            gevent.sleep(0.05)
        for device in self._everyone:
            for sent in device.pending:
                self._sample(sent, device.id, time.monotonic(), NOT_ACKNOWLEDGED)
            device.close()
        gevent.sleep(0.1)
        self._greenlets.kill(timeout=2)
        self._http.close()

    # Open loop.

    def _open_loop(self, index: int, step: Step, begin_s: float) -> None:
        begin_ms = time.time() * 1000 + (begin_s - time.monotonic()) * 1000
        for number, due in enumerate(self._dues(index, step)):
            wait_s = begin_s + due.due_s - time.monotonic()
            if wait_s > 0:
                gevent.sleep(wait_s)
            elif number % YIELD_EVERY == 0:  # who is late must not keep others from their answers
                gevent.sleep(0)
            if self._halted.is_set():
                return
            load = step.loads[due.load]
            due_ms = begin_ms + due.due_s * 1000
            if load.kind == "switches":
                self.in_flight += 1
                self._greenlets.spawn(self._switch, index, begin_s + due.due_s, due_ms)
            elif load.kind == "calls":
                self._due_call(index, load, due, begin_s, due_ms)
            else:
                self._due_message(index, load, due, begin_s, due_ms)

    def _dues(self, index: int, step: Step) -> Iterator[schedule.Due]:
        return schedule.merged(*(self._dues_of(index, step, number) for number in range(len(step.loads))))

    def _dues_of(self, index: int, step: Step, number: int) -> Iterator[schedule.Due]:
        load = step.loads[number]
        if load.kind == "switches" and self._worker == 0:  # one editor
            yield from schedule.share_of(schedule.constant(load.rate, step.seconds), number, 0, 1)
        elif load.kind == "calls":
            seed = f"{self._plan.scenario}/{index}/{number}"
            poisson = load.arrival == "poisson"
            times = (
                schedule.poisson(load.rate, step.seconds, seed)
                if poisson
                else schedule.constant(load.rate, step.seconds)
            )
            yield from schedule.share_of(times, number, self._worker, self._workers)
        elif load.kind == "devices":
            if load.at_s:
                self._greenlets.spawn(self._cut_at, load.at_s, self._begin_s)
            for due_s, device, iteration in schedule.device_times(load.count, load.interval_s, step.seconds):
                if (load.first + device) % self._workers == self._worker:
                    yield schedule.Due(due_s, iteration * load.count + device, number)

    def _due_call(self, index: int, load: Load, due: schedule.Due, begin_s: float, due_ms: float) -> None:
        if self.in_flight >= MAX_IN_FLIGHT:
            late_ms = (time.monotonic() - begin_s - due.due_s) * 1000
            self._record(Sample(due_ms, index, load.call, "", -1, late_ms, 0, 0, NOT_SENT, 0, 0, 0, -1, self._worker))
            return
        self.in_flight += 1
        self._greenlets.spawn(self._call, index, load, due.number, begin_s + due.due_s, due_ms, begin_s)

    def _call(self, index: int, load: Load, number: int, due_s: float, due_ms: float, begin_s: float) -> None:
        try:
            http_call = self._http_call(load, load.call, number, begin_s)
            self._send(index, load.call, http_call, due_s, due_ms, -1)
        finally:
            self.in_flight -= 1

    def _switch(self, index: int, due_s: float, due_ms: float) -> None:
        late_ms = (time.monotonic() - due_s) * 1000
        try:
            gateway, got = self._switches.switch()
        finally:
            self.in_flight -= 1
        took_ms = (got.answered_s - due_s) * 1000
        self._record(
            Sample(
                due_ms,
                index,
                "switch",
                gateway,
                -1,
                late_ms,
                took_ms,
                got.status,
                got.fault,
                got.retries,
                got.bytes,
                0,
                -1,
                self._worker,
            )
        )

    def _http_call(self, load: Load, call: str, number: int, begin_s: float) -> HttpCall:
        now = time.time()
        begun = now - (time.monotonic() - begin_s)
        sending = next((one for one in self._plan.steps[self._index].loads if one.kind == "devices"), None)
        return CALLS[call](
            CallContext(self._site, number, load.staff, load.first, load.window_rows, now, begun, *_senders(sending))
        )

    def _send(self, index: int, call: str, http_call: HttpCall, due_s: float, due_ms: float, iteration: int) -> bool:
        late_ms = (time.monotonic() - due_s) * 1000
        got = self._http.call(http_call)
        self._record(
            Sample(
                due_ms,
                index,
                call,
                http_call.subject,
                iteration,
                late_ms,
                (got.answered_s - due_s) * 1000,
                got.status,
                got.fault,
                got.retries,
                got.bytes,
                http_call.readings if got.status == 200 else 0,
                got.behind_ms,
                self._worker,
            )
        )
        return not got.fault

    def _due_message(self, index: int, load: Load, due: schedule.Due, begin_s: float, due_ms: float) -> None:
        iteration, number = divmod(due.number, load.count)
        device = self._devices[(load.first + number) // self._workers]
        readings = self._readings(load.first + number, load.readings)
        sent = Sent(begin_s + due.due_s, 0.0, due_ms, index, iteration, len(readings), "message")
        device.publish(sent, round(due_ms), readings)

    def _readings(self, number: int, count: int) -> tuple[Reading, ...]:
        """What a receiver at its place hears: its own beacon strongly, others weakly. Always the same: made once."""
        known = self._heard.get((number, count))
        if known is None:
            known = self._heard[number, count] = self._hears(number, count)
        return known

    def _hears(self, number: int, count: int) -> tuple[Reading, ...]:
        own = self._site.place_of(number)
        others: list[Place] = [one for one in self._site.places if one.room == own.room and one.beacon != own.beacon]
        others += [one for one in self._site.places if one.level == own.level and one.room != own.room]
        return (Reading(own.beacon, STRONG_DBM), *(Reading(one.beacon, WEAK_DBM) for one in others[: count - 1]))

    def _acknowledged(self, device: Device, sent: Sent, at_s: float) -> None:
        self._sample(sent, device.id, at_s, "")

    def _sample(self, sent: Sent, receiver: str, at_s: float, fault: str) -> None:
        self._record(
            Sample(
                sent.due_ms,
                sent.step,
                sent.call,
                receiver,
                sent.iteration,
                (sent.sent_s - sent.due_s) * 1000,
                (at_s - sent.due_s) * 1000,
                0,
                fault,
                0,
                0,
                sent.readings,
                -1,
                self._worker,
            )
        )

    def _reconnected(self, device: Device, lost_s: float) -> None:
        took_ms = (time.monotonic() - lost_s) * 1000
        if not self._halted.is_set():
            due_ms = time.time() * 1000 - took_ms
            self._record(
                Sample(
                    due_ms,
                    self._index,
                    "reconnect",
                    device.id,
                    -1,
                    0,
                    took_ms,
                    0,
                    "",
                    0,
                    0,
                    0,
                    -1,
                    self._worker,
                )
            )

    # Dashboard pages.

    def _open_pages(self, index: int, load: Load, step: Step, begin_s: float) -> None:
        """Open this worker's share of the pages, one after the other; each is closed when the step ends."""
        gevent.sleep(max(0.0, begin_s - time.monotonic()))
        try:
            cookie = log_in(self._target)
        except (OSError, RuntimeError, ValueError) as error:
            self._page_sample(index, load, "page", begin_s, time.monotonic(), str(error)[:120])
            return
        for number, _ in enumerate(share(load.count, self._worker, self._workers)):
            gevent.sleep(max(0.0, begin_s + number / PAGES_PER_S - time.monotonic()))
            self._greenlets.spawn(self._keep_page, index, load, step, cookie)

    def _keep_page(self, index: int, load: Load, step: Step, cookie: str) -> None:
        due_s = time.monotonic()

        def frame(delay_ms: float, size: int) -> None:
            if self._step is step:
                now_s = time.monotonic()
                call, took_s = ("change", delay_ms / 1000) if delay_ms >= 0 else ("unchanged", 0.0)
                self._page_sample(index, load, call, now_s - took_s, now_s, "", size)

        def lost(fault: str) -> None:
            now_s = time.monotonic()
            self._page_sample(index, load, "page", now_s, now_s, fault)

        page = OpenPage(self._target, cookie, load.topic, self._site.senders, frame, lost)
        try:
            fault = page.open()
            self._page_sample(index, load, "page", due_s, time.monotonic(), fault)
            while self._step is step and not self._halted.is_set():
                gevent.sleep(0.1)
        finally:
            page.close()

    def _page_sample(
        self, index: int, load: Load, call: str, due_s: float, at_s: float, fault: str, size: int = 0
    ) -> None:
        took_ms = (at_s - due_s) * 1000
        self._record(
            Sample(_epoch_ms(due_s), index, call, load.topic, -1, 0.0, took_ms, 0, fault, 0, size, 0, -1, self._worker)
        )

    def _cut_at(self, cut_s: float, begin_s: float) -> None:
        gevent.sleep(max(0.0, begin_s + cut_s - time.monotonic()))
        for device in self._devices:
            device.cut()

    # Closed loop: called by Locust's users, one after the other each.

    def act(self, user: "UserState") -> None:
        """One action of a user: think, ask, wait for the answer. Returns soon while there is nothing to do."""
        step, index, begin_s = self._step, self._index, self._begin_s
        load = next((one for one in step.loads if one.kind in ("users", "batches")), None) if step else None
        if step is None or load is None or time.monotonic() > begin_s + step.seconds:
            gevent.sleep(0.05)
            return
        if user.step != index:
            if self._acting[index] >= len(share(load.count, self._worker, self._workers)):
                gevent.sleep(0.05)  # left over from a step with more users: Locust takes its time to end them
                return
            self._acting[index] += 1
            user.begin(index, max(begin_s, time.monotonic()))
            gevent.sleep(max(0.0, begin_s - time.monotonic()))
        if load.kind == "batches":
            self._send_batch(user, load, index)
            return
        due_s = user.free_s + self._chance.uniform(*load.think_s)
        if (wait_s := due_s - time.monotonic()) > 0:  # who does not think asks at once, before others' answers are read
            gevent.sleep(wait_s)
        if self._step is not step or time.monotonic() > begin_s + step.seconds:
            return
        call = self._chance.choices(list(load.mix), list(load.mix.values()))[0]
        self._numbers[index] += 1
        http_call = self._http_call(load, call, self._numbers[index] * self._workers + self._worker, begin_s)
        self.in_flight += 1
        try:
            if not self._send(index, call, http_call, due_s, _epoch_ms(due_s), -1):
                gevent.sleep(0)  # a connection that is refused at once gave nobody else a turn
        finally:
            self.in_flight -= 1
            user.free_s = time.monotonic()

    def _send_batch(self, user: "UserState", load: Load, index: int) -> None:
        """Worker of `batches`: the next request after the answer to the last one."""
        if user.slot is None:
            user.slot = self._free_slot(index, load)
        if user.slot is None:
            gevent.sleep(0.2)
            return
        slot = user.slot
        due_s = time.monotonic()
        self.in_flight += 1
        try:
            if load.via == "http":
                first = slot.number * self._workers + self._worker
                http_call = CALLS["insert"](CallContext(self._site, slot.done, 1, first, 0, time.time(), 0))
                if not self._send(index, "insert", http_call, due_s, _epoch_ms(due_s), slot.done):
                    gevent.sleep(0)
            else:
                self._publish_and_wait(slot, load, index, due_s)
        finally:
            self.in_flight -= 1
            slot.done += 1
            if slot.done >= load.requests:
                user.slot = None

    def _free_slot(self, index: int, load: Load) -> "Slot | None":
        """The work of one of the step's workers that nobody does; None: there is none left in this phase."""
        if self._left[index]:
            return self._left[index].popleft()
        opened = self._opened[index]
        if opened >= round(len(share(load.count, self._worker, self._workers)) * self._share):
            return None
        self._opened[index] += 1
        return Slot(opened)

    def leave(self, user: "UserState") -> None:
        """A user ends: another one goes on with what it has not done."""
        self._acting[user.step] -= 1
        if user.slot is not None:
            self._left[user.step].append(user.slot)
            user.slot = None

    def _publish_and_wait(self, slot: "Slot", load: Load, index: int, due_s: float) -> None:
        device = self._devices[slot.number]
        readings = self._readings(slot.number * self._workers + self._worker, load.readings)
        due_ms = max(_epoch_ms(due_s), device.last_ms + 1)  # one point for each beacon and millisecond
        device.last_ms = round(due_ms)
        device.publish(Sent(due_s, 0.0, due_ms, index, slot.done, len(readings), "batch"), device.last_ms, readings)
        while not device.answered.wait(1.0) and not self._halted.is_set():
            pass

    def _metronome(self) -> None:
        """How late a timer of this process comes: what else it measures is not better than that."""
        next_s = time.monotonic() + METRONOME_S
        while not self._halted.is_set():
            gevent.sleep(max(0.0, next_s - time.monotonic()))
            now_s = time.monotonic()
            self.lag_ms.append((now_s - next_s) * 1000)
            next_s = max(next_s, now_s - METRONOME_S) + METRONOME_S

    def _keep_alive(self) -> None:
        while not self._halted.is_set():
            for number, device in enumerate(self._everyone):
                device.keep_alive()
                if number % 100 == 99:
                    gevent.sleep(0.05)
            gevent.sleep(10)


@dataclass(slots=True)
class Slot:
    """The requests of one worker of `batches`: its number on this process, and how many are done."""

    number: int
    done: int = 0


@dataclass(slots=True)
class UserState:
    """Where one user of Locust's is in a step."""

    step: int = -1
    free_s: float = 0.0
    """When it may think of its next request."""
    slot: Slot | None = None

    def begin(self, step: int, now_s: float) -> None:
        self.step, self.free_s, self.slot = step, now_s, None


def _senders(load: Load | None) -> tuple[int, float]:
    return (load.first + load.count, load.interval_s) if load else (0, 1.0)


def _epoch_ms(monotonic_s: float) -> float:
    return (time.time() + monotonic_s - time.monotonic()) * 1000
