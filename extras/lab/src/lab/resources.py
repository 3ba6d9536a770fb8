"""What the generator, each part and the machine use, sampled each second in a thread of the leading process."""

import csv
import os
import platform
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Self

import psutil

COLUMNS = ("ms", "part", "cores", "rss_mib", "read_mib", "written_mib", "sent_mib", "received_mib")
MACHINE = "machine"
GENERATOR = "generator"
MIB = 2**20
PROGRAMS = {"node-red": "node", "spool": "python"}
"""Where a part's process has another name."""


class Use(NamedTuple):
    """Of one part in one second. `cores`: CPU seconds a second; the MiB of disk and network are of this second; -1:
    unknown (the network is known of the whole machine only)."""

    ms: int
    part: str
    cores: float
    rss_mib: float
    read_mib: float
    written_mib: float
    sent_mib: float
    received_mib: float


class Sampler:
    """Samples from `start` to `stop`, into `resources.csv` of a run folder."""

    def __init__(self, path: Path, parts: Mapping[str, int], generators: Callable[[], list[int]]) -> None:
        self._path, self._generators = path, generators
        self._parts = dict(parts)
        self._supervisors = {parent for pid in parts.values() if (parent := _parent(pid))}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="resources", daemon=True)
        self._last: dict[tuple[str, int], tuple[float, float, float]] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        with self._path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            before, at_s = _machine(), time.monotonic()
            self._uses(1.0)
            while not self._over.wait(1.0):
                now, now_s = _machine(), time.monotonic()
                seconds = now_s - at_s
                ms = time.time_ns() // 1_000_000
                moved = [(b - a) / MIB for a, b in zip(before[1:], now[1:], strict=True)]
                rows = {MACHINE: [(now[0] - before[0]) / seconds, psutil.virtual_memory().used / MIB, *moved]}
                rows |= {name: [*values, -1.0, -1.0] for name, values in self._uses(seconds).items()}
                writer.writerows((ms, name, *(round(one, 4) for one in values)) for name, values in rows.items())
                file.flush()
                before, at_s = now, now_s

    def _uses(self, seconds: float) -> dict[str, tuple[float, float, float, float]]:
        """(cores, MiB of memory, read, written) by part; the generator's processes are one part."""
        found: dict[str, tuple[float, float, float, float]] = {}
        for part, its_pid in list(self._parts.items()):
            if not psutil.pid_exists(its_pid):  # it was started again
                candidates = (_child(parent, PROGRAMS.get(part, part)) for parent in self._supervisors)
                self._parts[part] = next((one for one in candidates if one), its_pid)
        processes = [*self._parts.items(), *((GENERATOR, pid) for pid in self._generators())]
        for name, pid in processes:
            used = self._use(name, pid)
            if used is None:
                continue
            (cpu, read, written), rss = used
            last = self._last.get((name, pid), (cpu, read, written))
            self._last[name, pid] = (cpu, read, written)
            has = found.get(name, (0.0, 0.0, 0.0, 0.0))
            found[name] = (has[0] + (cpu - last[0]) / seconds, has[1] + rss / MIB, has[2] + (read - last[1]) / MIB,
                           has[3] + (written - last[2]) / MIB)  # fmt: skip
        return found

    @staticmethod
    def _use(name: str, pid: int) -> tuple[tuple[float, float, float], float] | None:
        del name
        try:
            process = psutil.Process(pid)
            times = process.cpu_times()
            moved = process.io_counters()
            return (times.user + times.system, float(moved.read_bytes), float(moved.write_bytes)), float(
                process.memory_info().rss
            )
        except psutil.Error:
            return None


def _machine() -> tuple[float, float, float, float, float]:
    """CPU seconds and bytes (disk read, written, network sent, received) of the whole machine."""
    cpu = psutil.cpu_times()
    busy = sum(cpu) - cpu.idle - cpu.iowait - getattr(cpu, "guest", 0) - getattr(cpu, "guest_nice", 0)
    disk, net = psutil.disk_io_counters(), psutil.net_io_counters()
    return (busy, *((disk.read_bytes, disk.write_bytes) if disk else (0, 0)), net.bytes_sent, net.bytes_recv)


def _parent(pid: int) -> int | None:
    """Who started a process."""
    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return None


def _child(parent: int, program: str) -> int | None:
    try:
        return next((one.pid for one in psutil.Process(parent).children() if one.name() == program), None)
    except psutil.Error:
        return None


def machine() -> dict[str, object]:
    """The machine, for a report."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _cpu_info() if line.startswith("model name")), platform.processor()
    )
    return {
        "cores": os.cpu_count(), "architecture": platform.machine(), "cpu": model, "system": platform.platform(),
        "memory_mib": round(psutil.virtual_memory().total / MIB), "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }  # fmt: skip


def _cpu_info() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def read(path: Path) -> list[Use]:
    """The rows of `resources.csv`."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return [
            Use(int(one["ms"]), one["part"], *(float(one[name]) for name in COLUMNS[2:]))
            for one in csv.DictReader(lines)
        ]
