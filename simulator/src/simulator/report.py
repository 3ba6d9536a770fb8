"""Counters and latencies of a run, as JSON and as a table. Pure."""

import math
from dataclasses import dataclass, field
from typing import Any

OK, FAILED, USAGE, UNREACHABLE, REFUSED = range(5)
EXIT_CODES = {
    OK: "everything was sent and acknowledged (hacs: every poll answered; record: done)",
    FAILED: "something was not: see 'failed'; or rows of the recording were refused",
    USAGE: "wrong arguments, settings or files",
    UNREACHABLE: "the broker (hacs, record: the platform) could not be reached",
    REFUSED: "the broker (hacs, record: the platform) refused the account or key",
}

GROWTH = 1.02  # buckets of latencies grow by 2 %, so a quantile is right to about 1 %
NO_CONNECTION, UNAUTHORISED = "no connection", "HTTP 401"  # prefixes of these errors of `hacs`
_SCALE = 1 / math.log(GROWTH)
_SMALLEST_S = 1e-6


class Latencies:
    """A histogram of durations in seconds, with constant memory."""

    def __init__(self) -> None:
        self._buckets: dict[int, int] = {}
        self.count = 0
        self.largest_s = 0.0

    def add(self, seconds: float) -> None:
        bucket = int(math.log(max(seconds, _SMALLEST_S) / _SMALLEST_S) * _SCALE)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        self.count += 1
        self.largest_s = max(self.largest_s, seconds)

    def quantile(self, share: float) -> float | None:
        """The duration that `share` (0…1) of all do not exceed; None without durations."""
        rank = math.ceil(share * self.count)
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= max(1, rank):
                return min(self.largest_s, _SMALLEST_S * math.exp((bucket + 0.5) / _SCALE))
        return None

    def summary(self) -> dict[str, float | None]:
        """Milliseconds at p50, p99 and the largest."""
        shares = {"p50": self.quantile(0.5), "p99": self.quantile(0.99), "max": self.largest_s if self.count else None}
        return {name: None if seconds is None else round(seconds * 1000, 3) for name, seconds in shares.items()}


@dataclass(slots=True)
class SendStats:
    """Counters of `phones` and `replay`: `made` = `acknowledged` + `dropped` + `waiting`."""

    receivers: int = 0
    made: int = 0
    acknowledged: int = 0
    dropped: int = 0
    replayed: int = 0
    """Acknowledged again after the broker may have lost them."""
    readings: int = 0
    readings_acknowledged: int = 0
    connected: int = 0
    connections: int = 0
    connections_lost: int = 0
    connected_s: float | None = None
    """How long it took until all receivers were connected at the same time; None: they never were."""
    cpu_us: float | None = None
    """CPU of this process for each acknowledged message, from then on until the last one was made."""
    refused_rows: int = 0
    duplicates: int = 0
    late: int = 0
    malformed: int = 0
    latencies: Latencies = field(default_factory=Latencies)

    @property
    def waiting(self) -> int:
        return self.made - self.acknowledged - self.dropped

    @property
    def failed(self) -> int:
        return self.made - self.acknowledged

    @property
    def exit_code(self) -> int:
        return FAILED if self.failed or self.refused_rows else OK

    def summary(self, seconds: float) -> dict[str, Any]:
        """The figures of a whole run; `seconds` is how long it made batches."""
        return {
            "receivers": self.receivers,
            "sent": self.made,
            "acknowledged": self.acknowledged,
            "failed": self.failed,
            "dropped": self.dropped,
            "replayed": self.replayed,
            "readings": self.readings,
            "readings_acknowledged": self.readings_acknowledged,
            "refused_rows": self.refused_rows,
            "duplicates": self.duplicates,
            "late": self.late,
            "malformed": self.malformed,
            "connections": self.connections,
            "connections_lost": self.connections_lost,
            "connected_s": None if self.connected_s is None else round(self.connected_s, 2),
            "cpu_us_per_message": None if self.cpu_us is None else round(self.cpu_us, 1),
            "seconds": round(seconds, 3),
            "messages_per_s": round(self.made / seconds, 1) if seconds > 0 else 0.0,
            "puback_ms": self.latencies.summary(),
        }

    def progress(self, seconds: float) -> str:
        """A progress line."""
        return (
            f"{clock(seconds)}  connected {self.connected:,}/{self.receivers:,}  sent {self.made:,}  "
            f"acknowledged {self.acknowledged:,}  waiting {self.waiting:,}  dropped {self.dropped:,}  "
            f"{self.made / max(seconds, 1e-9):,.1f} msg/s  {_latency(self.latencies.summary())}"
        )


@dataclass(slots=True)
class PollStats:
    """Counters of `hacs`."""

    polls: int = 0
    answered: int = 0
    records: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    latencies: Latencies = field(default_factory=Latencies)

    @property
    def failed(self) -> int:
        return self.polls - self.answered

    def fail(self, reason: str) -> None:
        self.errors[reason] = self.errors.get(reason, 0) + 1

    @property
    def exit_code(self) -> int:
        if not self.failed:
            return OK
        for code, beginning in ((UNREACHABLE, NO_CONNECTION), (REFUSED, UNAUTHORISED)):
            if not self.answered and all(reason.startswith(beginning) for reason in self.errors):
                return code
        return FAILED

    def summary(self, seconds: float) -> dict[str, Any]:
        return {
            "polls": self.polls,
            "answered": self.answered,
            "failed": self.failed,
            "errors": dict(self.errors),
            "records": self.records,
            "seconds": round(seconds, 3),
            "polls_per_s": round(self.polls / seconds, 1) if seconds > 0 else 0.0,
            "answer_ms": self.latencies.summary(),
        }


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest:02d}"


def _latency(summary: dict[str, float | None]) -> str:
    return "  ".join(f"{name} {'-' if value is None else f'{value:.2f} ms'}" for name, value in summary.items())


def table(summary: dict[str, Any]) -> str:
    """A summary as lines of name and value."""
    lines = []
    for name, value in summary.items():
        if name.endswith("_ms"):
            shown = _latency(value)
        elif isinstance(value, dict):
            shown = ", ".join(f"{count:,} x {what}" for what, count in value.items()) or "none"
        else:
            shown = f"{value:,}" if isinstance(value, int | float) else "-" if value is None else str(value)
        lines.append(f"  {name.replace('_', ' '):<22}{shown}")
    return "\n".join(lines)
