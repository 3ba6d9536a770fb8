"""Leads a run through its steps, collects the samples of all workers, prints how it goes."""

import json
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import gevent

from lab import samples
from lab.plan import LEAD_S, PAUSE_S, Load, Plan, Step
from lab.samples import Sample
from lab.statistics import percentile

PROGRESS_S = 5.0
DRAIN_S = 15.0
STOPPED_DRAIN_S = 3.0
PHASE_POLL_S = 0.2
WRITTEN_AT_ONCE = 50
"""Samples between two of which the generator does nothing else: half a millisecond."""
WRITE_PAUSE_S = 0.001
WRITE_POLL_S = 0.1
SHOWN_OF = 2000
"""A line of progress is of so many samples, evenly taken: to order all of them would keep the generator for 30 ms."""


class Collector:
    """Writes samples to a file for each call, and keeps what the steps need to know of them.

    Samples are written in pieces, since the process that times requests is often this one.
    """

    def __init__(self, folder: Path) -> None:
        self.answered: dict[int, int] = defaultdict(int)
        """Right answers to batches, by step."""
        self.lag_ms: list[float] = []
        self._folder = folder / "raw"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._files: dict[str, TextIO] = {}
        self._waiting: deque[Sample] = deque()
        self._since: list[Sample] = []
        self.total = self.faults = 0

    def add(self, some: Sequence[Sample]) -> None:
        """Count samples. They are written by `write_some`."""
        for one in some:
            if one.iteration >= 0:
                self.answered[one.step] += 1
            self.faults += bool(one.fault)
        self.total += len(some)
        self._since += some
        self._waiting += some

    def write_some(self) -> bool:
        """Write some of the samples that wait. Returns whether there were any."""
        some = [self._waiting.popleft() for _ in range(min(WRITTEN_AT_ONCE, len(self._waiting)))]
        for call in {one.call for one in some}:
            samples.write(self._files.get(call) or self._open(call), (one for one in some if one.call == call))
        return bool(some)

    def _open(self, call: str) -> TextIO:
        file = self._files[call] = (self._folder / f"{call}.csv").open("w", encoding="utf-8", newline="")
        file.write(",".join(samples.COLUMNS) + "\n")
        return file

    def progress(self, seconds: float) -> str:
        """What came since the last line."""
        some, self._since = self._since, []
        behind_ms = max((one.behind_ms for one in some), default=-1.0)
        shown_of = some[:: max(len(some) // SHOWN_OF, 1)]
        times = sorted(one.latency_ms for one in shown_of if not one.fault)
        late = sorted(one.late_ms for one in shown_of)
        good = sum(not one.fault for one in some)
        shown = [f"{good / seconds:8,.1f} answers/s"]
        if times:
            shown.append(f"p50 {percentile(times, 0.5):.1f} ms  p99 {percentile(times, 0.99):.1f} ms")
        if behind_ms >= 0:
            shown.append(f"shown {behind_ms / 1000:.1f} s late")
        if late:
            shown.append(f"sent {percentile(late, 0.99):.1f} ms late (p99)")
        return "  ".join((*shown, f"faults {self.faults:,}"))

    def close(self) -> None:
        """Write what waits, and close the files."""
        while self.write_some():
            pass
        for file in self._files.values():
            file.close()


class Orders(NamedTuple):
    """What reaches all workers, here or on other machines; see `Work`."""

    begin: Callable[[int, float], None]
    widen: Callable[[float], None]
    end: Callable[[], None]


class Coordinator:
    """Takes all workers of a run through its steps."""

    def __init__(
        self,
        plan: Plan,
        collector: Collector,
        orders: "Orders",
        log: Callable[[str], None],
        begun: Callable[[int], None],
    ) -> None:
        self.users = 0
        """How many of Locust's users there shall be; its shape asks for it each second."""
        self.stopped = ""
        """Why the run was ended early; empty: it was not."""
        self.steps: list[dict[str, Any]] = []
        self._plan, self._collector, self._orders, self._log = plan, collector, orders, log
        self._begun = begun

    def run(self) -> None:
        """All steps, one after the other; returns early when stopped."""
        beside = [gevent.spawn(self._progress), gevent.spawn(self._write)]
        try:
            for index, step in enumerate(self._plan.steps):
                if self.stopped:
                    return
                self._run_step(index, step)
        finally:
            gevent.killall(beside)
            self.users = 0

    def _run_step(self, index: int, step: Step) -> None:
        closed = next((load for load in step.loads if load.kind in ("users", "batches")), None)
        phases = closed.phases if closed and closed.kind == "batches" else (1.0,)
        self.users = round(closed.count * phases[0]) if closed else 0
        repeat = f", repeat {step.repeat + 1}" if step.repeat else ""
        self._log(f"step {index + 1} of {len(self._plan.steps)}: {step.name}{repeat}, {step.seconds:g} s")
        self._wait(PAUSE_S - LEAD_S if index else 0)
        self._orders.widen(phases[0])
        self._orders.begin(index, LEAD_S)
        gevent.sleep(LEAD_S)
        self._begun(index)
        begun_ms, begun_s = time.time() * 1000, time.monotonic()
        if closed and closed.kind == "batches":
            self._wait_for_batches(index, step, closed)
        else:
            self._wait(step.seconds)
        self._orders.end()
        self.steps.append(
            {
                "step": index,
                "begun_ms": round(begun_ms),
                "seconds": round(time.monotonic() - begun_s, 3),
                "users": self.users,
            }
        )

    def _wait_for_batches(self, index: int, step: Step, load: Load) -> None:
        """Start phase after phase, until all requests are answered."""
        deadline_s = time.monotonic() + step.seconds
        started = load.phases[0]
        later = list(load.phases[1:])
        while time.monotonic() < deadline_s and not self.stopped:
            answered = self._collector.answered[index]
            if later and answered >= load.next_phase_share * started * load.count * load.requests:
                started += later.pop(0)
                self.users = round(load.count * started)
                self._orders.widen(started)
                self._log(f"  {answered:,} answered: {self.users} workers")
            if answered >= load.count * load.requests:
                return
            gevent.sleep(PHASE_POLL_S)

    def _wait(self, seconds: float) -> None:
        deadline_s = time.monotonic() + seconds
        while not self.stopped and (left_s := deadline_s - time.monotonic()) > 0:
            gevent.sleep(min(left_s, 0.2))

    def _progress(self) -> None:
        while True:
            gevent.sleep(PROGRESS_S)
            self._log(f"  {self._collector.progress(PROGRESS_S)}")

    def _write(self) -> None:
        while True:
            gevent.sleep(WRITE_PAUSE_S if self._collector.write_some() else WRITE_POLL_S)

    def write(self, path: Path, workers: int, lost: int, machines: Sequence[Mapping[str, Any]]) -> None:
        """What only the generator knows, for the report.

        Args:
            path: of the file.
            workers: how many did the run.
            lost: how many of them did not come to its end.
            machines: `{"worker", "host", "cores"}` of each of the others; empty: there was one process.
        """
        path.write_text(
            json.dumps(
                {"steps": self.steps, "stopped": self.stopped, "workers": workers, "workers_lost": lost,
                 "machines": list(machines), "lag_ms": [round(one, 1) for one in self._collector.lag_ms]}
            )
        )  # fmt: skip
