"""oha, the load generator: a load and its result."""

import csv
import json
import resource
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stack.layout import oha_program

TIMEOUT_S = 10
CONNECTIONS = 16
STARTING_S = 60.0


@dataclass(frozen=True, slots=True)
class Load:
    """A load: one URL, or URLs from a list in order.

    Args:
        rate: requests a second, made whether the earlier ones are answered or not; None: as fast as they are answered.
        body: lines of which each request sends one as a form.
    """

    urls: Sequence[str]
    seconds: float
    rate: float | None = None
    connections: int = CONNECTIONS
    body: Sequence[str] = ()


@dataclass(slots=True)
class Result:
    """Result of a load. Times in seconds; `statuses` of all responses, `faults` of failed requests."""

    seconds: float = 0.0
    generator_cpu_s: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    fastest_s: float = 0.0
    mean_s: float = 0.0
    p50_s: float = 0.0
    p99_s: float = 0.0
    slowest_s: float = 0.0

    @property
    def answers(self) -> int:
        return self.statuses.total()

    @property
    def rate(self) -> float:
        return self.answers / self.seconds if self.seconds else 0.0

    @property
    def errors(self) -> int:
        return self.answers - self.statuses[200] + self.faults.total()

    def what_failed(self) -> str:
        bad = {f"HTTP {status}": count for status, count in self.statuses.items() if status != 200} | dict(self.faults)
        return ", ".join(f"{count} x {what}" for what, count in bad.items())


def attack(load: Load) -> Result:
    """Run the load; returns after the last response."""
    return timed([load]) if load.rate else _fast(load)


def timed(loads: Iterable[Load]) -> Result:
    """Run loads of a fixed rate one after the other as one result; latencies count from the due time."""
    result, took = Result(), list[float]()
    for load in loads:
        assert load.rate
        wanted = max(1, round(load.rate * load.seconds))
        text, cpu_s = _run(load, "csv", "-n", str(wanted), "-q", f"{load.rate:g}", "--latency-correction")
        rows = list(csv.DictReader(text.splitlines()))
        result.generator_cpu_s += cpu_s
        result.statuses.update(int(row["status"]) for row in rows)
        result.bytes += sum(int(row["bytes"]) for row in rows)
        if lost := wanted - len(rows):
            result.faults["no answer"] += lost
        took += [float(row["request-duration"]) for row in rows]
        result.seconds += max((float(row["request-start"]) for row in rows), default=0.0) + 1 / load.rate
    took.sort()
    if took:
        result.fastest_s, result.slowest_s, result.mean_s = took[0], took[-1], sum(took) / len(took)
        result.p50_s, result.p99_s = took[len(took) // 2], took[int(len(took) * 0.99)]
    return result


def _fast(load: Load) -> Result:
    text, cpu_s = _run(load, "json", "-z", f"{load.seconds:g}s", "-w")
    said: dict[str, Any] = json.loads(text)
    summary, shares = said["summary"], said["latencyPercentiles"]
    return Result(
        seconds=summary["total"],
        generator_cpu_s=cpu_s,
        statuses=Counter({int(status): count for status, count in said["statusCodeDistribution"].items()}),
        faults=Counter(said["errorDistribution"]),
        bytes=summary["totalData"],
        fastest_s=summary["fastest"] or 0.0,
        mean_s=summary["average"] or 0.0,
        p50_s=shares["p50"] or 0.0,
        p99_s=shares["p99"] or 0.0,
        slowest_s=summary["slowest"] or 0.0,
    )


def _run(load: Load, output_format: str, *how: str) -> tuple[str, float]:
    """Run oha; returns its output and CPU seconds. One thread, so that it does not use both cores."""
    with tempfile.TemporaryDirectory(prefix="sda-bench-") as name:
        folder = Path(name)
        command = [
            str(oha_program()), "--no-tui", "--no-color", "--disable-compression", "--worker-threads", "1",
            "-c", str(load.connections), "-t", f"{TIMEOUT_S}s", "--output-format", output_format, *how,
        ]  # fmt: skip
        if load.body:
            (folder / "bodies").write_text("\n".join(load.body))
            command += ["-m", "POST", "-T", "application/x-www-form-urlencoded", "-Z", str(folder / "bodies")]
        if len(load.urls) == 1:
            command.append(load.urls[0])
        else:
            (folder / "urls").write_text("\n".join(load.urls))
            command += ["--urls-from-file", str(folder / "urls")]
        before = _children_cpu_s()
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, timeout=STARTING_S + 4 * load.seconds
        )
        return done.stdout, _children_cpu_s() - before


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
