"""The simulated receivers, and what the broker acknowledged to them."""

import csv
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.running import DEMO_BUILDING, RunningStack

REPLAY_S = 60
"""Receivers send again what was acknowledged so shortly before a reconnect; the broker loses at most 30 s."""
DRAIN_S = 120


@dataclass(frozen=True, slots=True)
class Acked:
    """One batch, as the broker acknowledged it first."""

    acked_ms: int
    kind: str
    receiver: str
    ts_ms: int
    readings: int


@dataclass(slots=True)
class Load:
    """A running or finished simulator."""

    process: subprocess.Popen[str]
    journal: Path
    summary: dict[str, Any] = field(default_factory=dict)

    def stop(self) -> dict[str, Any]:
        """End it; returns its summary."""
        self.process.send_signal(signal.SIGTERM)
        return self.finish()

    def finish(self) -> dict[str, Any]:
        """Wait for its end; returns its summary."""
        output, _ = self.process.communicate()
        self.summary = json.loads(output)
        return self.summary

    def acked(self) -> list[Acked]:
        """All batches that were acknowledged, in that order."""
        with self.journal.open(newline="") as lines:
            rows = csv.DictReader(lines)
            return [
                Acked(int(row["acked_ms"]), row["kind"], row["receiver"], int(row["ts_ms"]), int(row["readings"]))
                for row in rows
            ]


@contextmanager
def simulating(
    stack: RunningStack, arguments: list[str], seconds: float | None, folder: Path, replay_s: int = REPLAY_S
) -> Iterator[Load]:
    """Simulated receivers.

    Args:
        stack: whose building and broker they use.
        arguments: the simulator's command and its options.
        seconds: how long; None: until it is stopped.
        folder: for its journal and its log.
        replay_s: they send again what was acknowledged so shortly before a reconnect.
    """
    journal = folder / "acknowledged.csv"
    options = ["--replay", str(replay_s), "--held", "1000000", "--drain", str(DRAIN_S), "--progress", "0"]
    options += ["--duration", str(seconds)] if seconds else []
    command = (sys.executable, "-m", "simulator", *arguments, "--building", str(stack.building), "--json",
               "--journal", str(journal), *options)  # fmt: skip
    environment = {
        **os.environ,
        "MQTT_HOST": "127.0.0.1",
        "MQTT_PORT": str(stack.ports.mqtt),
        "MQTT_SIMULATOR_PASSWORD": stack.secrets["MQTT_SIMULATOR_PASSWORD"],
    }
    with (folder / "simulator.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield Load(process, journal)
        finally:
            process.kill()
            process.wait()


def with_gateways(file: Path, gateways: int) -> list[dict[str, Any]]:
    """Write the demo building with so many gateways; returns its staff."""
    building = json.loads(DEMO_BUILDING.read_text())
    building["gateways"] = building["gateways"][:gateways]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(building))
    staff: list[dict[str, Any]] = building["staff"]
    return staff


def people_of(staff: list[dict[str, Any]], phones: int) -> list[str]:
    """The ids of those the simulator plays: all with tags, and so many with phones."""
    listed = [one["id"] for one in staff]
    others = (str(number) for number in itertools.count() if str(number) not in listed)
    tagged = sum(1 for one in staff if one.get("tags"))
    return list(itertools.islice(itertools.chain(listed, others), tagged + phones))
