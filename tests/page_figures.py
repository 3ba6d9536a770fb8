"""The dashboard's page in a browser under load: delay of markers, what keeps the page busy, growth of its heap.

Run: `make page-figures`. The generator and the browser run on the same machine; its load stands in the table. What open
pages cost the platform is measured by an extra."""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import threading
import time
from datetime import UTC, datetime
from typing import Any

from playwright.sync_api import Browser, Page
from stack.install import print_line
from support.browser import chromium, session_of
from support.building import Building, Placed
from support.running import DEMO_BUILDING, RunningStack, running_stack
from support.stack_client import batch, connect, end, get

LEVEL = "L1"
PROBE = "probe"
OBSERVE = """() => {
  window.moves = [];
  let last = '';
  const look = () => {
    const now = document.querySelector('.marker[data-staff="probe"]')?.style.transform;
    if (now === undefined || now === last) return;
    last = now;
    window.moves.push(Date.now());
  };
  new MutationObserver(look).observe(document.querySelector('.people'),
    { subtree: true, childList: true, attributes: true, attributeFilter: ['style'] });
  window.long = [];
  new PerformanceObserver((list) => window.long.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' });
}"""


class Crowd:
    """Phones that publish once per interval, some on the shown level, and one that the benchmark moves."""

    def __init__(self, stack: RunningStack, count: int, shown: int, interval_s: float) -> None:
        building = Building(DEMO_BUILDING)
        on_level = [one for one in building.beacons if one.level == LEVEL]
        elsewhere = [one for one in building.beacons if one.level != LEVEL]
        places = [on_level[i % len(on_level)] for i in range(shown)]
        places += [elsewhere[i % len(elsewhere)] for i in range(count - shown)]
        self._people = [(f"p{number}", place) for number, place in enumerate(places)]
        self._interval_s = interval_s
        self._client = connect(stack)
        self._over = threading.Event()
        self._sent = 0
        self._begin = time.monotonic()
        self._thread = threading.Thread(target=self._report, daemon=True)

    def print_line(self, staff_id: str, place: Placed, rssi: int) -> None:
        self._client.publish(f"sda/v1/phone/{staff_id}/readings", json.dumps(batch((place.id, rssi))), qos=1)

    def rate(self) -> float:
        """Messages per second since the start."""
        return self._sent / (time.monotonic() - self._begin)

    def _report(self) -> None:
        chance = random.Random(1)  # noqa: S311 - noise, no secret
        step_s, begin = self._interval_s / len(self._people), time.monotonic()
        number = 0
        while not self._over.is_set():
            staff_id, place = self._people[number % len(self._people)]
            self.print_line(staff_id, place, -55 + chance.randrange(-6, 7))
            self._sent += 1
            number += 1
            if (ahead_s := begin + number * step_s - time.monotonic()) > 0:
                time.sleep(ahead_s)

    def __enter__(self) -> "Crowd":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        end(self._client)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="make page-figures", description=__doc__)
    parser.add_argument("--staff", type=int, default=1000, help="SDAs, each a message a second (%(default)s)")
    parser.add_argument("--shown", type=int, default=200, help="of them on the shown level (%(default)s)")
    parser.add_argument("--moves", type=int, default=200, help="moves to time (%(default)s)")
    parser.add_argument("--heap-minutes", type=float, default=0, help="watch the heap so long with 200 SDAs (off)")
    arguments = parser.parse_args()
    with running_stack() as stack, chromium() as browser:
        lines = [] if arguments.heap_minutes else _under_load(stack, browser, arguments)
        if arguments.heap_minutes:
            lines += _heap(stack, browser, arguments.heap_minutes)
    print_line("\n".join(lines))
    return 0


def _open(browser: Browser, stack: RunningStack) -> Page:
    context = browser.new_context(storage_state=session_of(browser, stack), viewport={"width": 1600, "height": 1000})
    page = context.new_page()
    page.goto(f"{stack.http_url}/dashboard/floor?level={LEVEL}")
    page.locator(".marker").first.wait_for(timeout=30_000)
    return page


def _under_load(stack: RunningStack, browser: Browser, arguments: argparse.Namespace) -> list[str]:
    building = Building(DEMO_BUILDING)
    rooms = [next(one for one in building.beacons if one.room == room) for room in ("l1-mart", "l1-lobby")]
    with Crowd(stack, arguments.staff, arguments.shown, 1.0) as crowd:
        time.sleep(10)
        lag = get(stack, "/health").json()["parts"]["ingest"]["store_lag_ms"]
        page = _open(browser, stack)
        crowd.print_line(PROBE, rooms[0], -30)
        page.locator(f'.marker[data-staff="{PROBE}"]').wait_for(timeout=30_000)
        page.evaluate(OBSERVE)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        busy, begin = _busy_s(session), time.monotonic()
        reported = []
        for number in range(arguments.moves):
            reported.append(time.time() * 1000)
            crowd.print_line(PROBE, rooms[(number + 1) % 2], -30)
            time.sleep(1 + random.random() / 5)  # noqa: S311 - so that the moves fall on any moment of a tick
        time.sleep(2)
        moves: list[float] = page.evaluate("window.moves")
        longest: float = page.evaluate("Math.max(0, ...window.long)")
        share = (_busy_s(session) - busy) / (time.monotonic() - begin)
        load = os.getloadavg()[0]
    waits = sorted(next((move - at for move in moves if move > at), float("inf")) for at in reported)
    p50, p99 = statistics.median(waits), waits[int(len(waits) * 0.99)]
    measured = f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}), load {load:.1f}"
    return [
        f"Measured by `make page-figures` on {measured}.",
        f"{arguments.staff} SDAs, {crowd.rate():.0f} messages/s in all, {arguments.shown} on the shown level:",
        f"published reading to marker p50 {p50:.0f} ms, p99 {p99:.0f} ms, most {waits[-1]:.0f} ms; {len(waits)} moves.",
        f"Store lag {lag} ms.",
        f"The page's thread was busy for {share:.0%} of the time, its longest task took {longest:.0f} ms.",
    ]


def _busy_s(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def _heap(stack: RunningStack, browser: Browser, minutes: float) -> list[str]:
    """The page's heap after garbage collection, minute by minute."""
    with Crowd(stack, 200, 120, 2.0):
        page = _open(browser, stack)
        session = page.context.new_cdp_session(page)
        used: list[float] = []
        for minute in range(int(minutes)):
            time.sleep(60)
            session.send("HeapProfiler.collectGarbage")
            used.append(session.send("Runtime.getHeapUsage")["usedSize"] / 2**20)
            print_line(f"{minute + 1} min: {used[-1]:.1f} MiB, {_counts(session)}")
    base = used[min(4, len(used) - 1)]
    growth_mib = max(used[4:] or used) - base
    text = f"{base:.1f} MiB after five minutes, {used[-1]:.1f} MiB at the end, {growth_mib:+.1f} MiB at most"
    return [f"Heap of the floor page with 200 SDAs over {len(used)} min: {text}."]


def _counts(session: Any) -> str:
    counters = session.send("Memory.getDOMCounters")
    return f"{counters['nodes']} nodes, {counters['jsEventListeners']} listeners"


if __name__ == "__main__":
    sys.exit(main())
