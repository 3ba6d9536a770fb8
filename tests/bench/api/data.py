"""Data and background load of a measurement: stored history, moving SDAs, polling HACS."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from stack.install import print_line
from support.influx_writer import Stored, store, store_locations
from support.running import RunningStack
from support.stack_client import eventually

FIVE = [f"bench-{number}" for number in range(5)]
RECORDS = 1800
"""A second each: half an hour of one of five staff members, 9,000 in all."""
OLDER_THAN_MEMORY_S = 900
STAY_S = 300
MONTH_S = 31 * 86_400
ROOMS = ("l1-lobby", "l2-office", "l3-canteen")


class Past:
    """History stored before the measurement; `end_s` is its last second."""

    def __init__(self, stack: RunningStack) -> None:
        self._stack = stack
        self.end_s = int(time.time()) - OLDER_THAN_MEMORY_S
        self.start_s = self.end_s - RECORDS + 1
        self.locations = 0

    def of_five(self) -> None:
        """Store half an hour of five staff."""
        self._locate(FIVE, self.start_s, RECORDS)

    def and_more(self, wanted: int) -> None:
        """Store further records: half of them earlier ones of the same five, half of others at the same time."""
        earlier = (wanted - self.locations) // 2 // len(FIVE)
        self._locate(FIVE, self.start_s - earlier, earlier)
        others = max(1, (wanted - self.locations) // RECORDS)
        self._locate([f"other-{number}" for number in range(others)], self.start_s, RECORDS)

    def of_hours(self, records: int) -> None:
        """Store records of each of five staff, for queries of parts."""
        self._locate(FIVE, self.end_s - records + 1, records)

    def telemetry(self, beacon: str) -> int:
        """Store a month of minutes; returns its first second."""
        end_s = int(time.time()) // 60 * 60 - 600
        lines = (
            f"telemetry,beacon={beacon} battery_mv={3000 - n / 100},temperature_c={20 + n % 60 / 10},"
            f"humidity_pct={40 + n % 90 / 9} {(end_s - MONTH_S + n * 60) * 1000}"
            for n in range(MONTH_S // 60)
        )
        store(self._stack, "telemetry", lines)
        return end_s - MONTH_S

    def _locate(self, staff: list[str], start_s: int, seconds: int) -> None:
        for staff_id in staff:
            self.locations += store_locations(
                self._stack,
                (
                    Stored(staff_id, (start_s + n) * 1000, "L1", ROOMS[(start_s + n) // STAY_S % len(ROOMS)])
                    for n in range(seconds)
                ),
            )


def settle(stack: RunningStack, path: str, what: str) -> int:
    """Call once for the size that all responses of a load must have."""
    began = time.monotonic()
    answer = httpx.get(f"{stack.http_url}{path}", timeout=30, headers={"Accept-Encoding": "identity"})
    answer.raise_for_status()
    print_line(f"  {what}: {len(answer.content)} bytes, the first in {(time.monotonic() - began) * 1000:.0f} ms")
    return len(answer.content)


@contextmanager
def moving(stack: RunningStack, phones: int, interval_s: float) -> Iterator[None]:
    """Moving SDAs, each with a message per interval; starts when nearly all are located."""
    with _simulator(stack, "phones", "-n", str(phones), "--interval", f"{interval_s:g}", "--progress", "0"):

        def located() -> int:
            return len(httpx.get(f"{stack.http_url}/retrieveformonitoring", timeout=30).json()["data"])

        eventually(lambda: located() >= 0.97 * phones, 60 + phones / 100, "the SDAs are located")
        time.sleep(10)  # the last 10 s shall be full
        yield


@contextmanager
def polling(stack: RunningStack, staff: str) -> Iterator[None]:
    """HACS, which polls each SDA every 10 s."""
    with _simulator(stack, "hacs", "--staff", staff, "--quiet"):
        yield


@contextmanager
def _simulator(stack: RunningStack, *arguments: str) -> Iterator[None]:
    environment = {
        **os.environ,
        "MQTT_PORT": str(stack.ports.mqtt),
        "HTTP_PORT": str(stack.ports.http),
        "MQTT_SIMULATOR_PASSWORD": stack.secrets["MQTT_SIMULATOR_PASSWORD"],
    }
    program = Path(sys.executable).with_name("simulator")
    process = subprocess.Popen([program, *arguments], env=environment, stdout=subprocess.DEVNULL)
    try:
        yield
        assert process.poll() is None, f"simulator {arguments[0]} ended by itself"
    finally:
        process.terminate()
        process.wait(60)
