"""The simulated receivers, and what the broker acknowledged to them."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.running import RunningStack

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
def simulating(stack: RunningStack, arguments: list[str], seconds: float, folder: Path) -> Iterator[Load]:
    """Simulated receivers for `seconds`; `arguments`: the simulator's command and its options."""
    journal = folder / "acknowledged.csv"
    command = (sys.executable, "-m", "simulator", *arguments, "--building", str(stack.building), "--json",
               "--duration", str(seconds), "--replay", str(REPLAY_S), "--held", "1000000", "--drain", str(DRAIN_S),
               "--progress", "0", "--journal", str(journal))  # fmt: skip
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
