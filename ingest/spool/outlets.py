"""A queue on disk for each bucket of InfluxDB: where one bucket takes nothing, all others go on."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disk_queue import SEGMENT_BYTES, DiskQueue, Space

COUNTERS = ("received", "stored", "dropped", "refused")


class Outlets:
    """The queues of `buckets` in folders of their names below `folder`; they share `space`.

    Versions before had one queue for all buckets, in `folder` itself. What waits in it is taken over at the start.
    """

    def __init__(self, folder: Path, buckets: Sequence[str], space: Space) -> None:
        self.queues = {bucket: DiskQueue(folder / bucket, space=space) for bucket in buckets}
        if any(folder.glob("*.log")) or (folder / "state.json").exists():
            self._take_over(folder)

    def append(self, bucket: str, body: bytes) -> None:
        """Append a request to the bucket's queue. Returns when the disk has it. Raises QueueFullError."""
        self.queues[bucket].append(bucket, body)

    @property
    def counters(self) -> dict[str, Counter[str]]:
        """Those of all queues together."""
        return {name: sum((queue.counters[name] for queue in self.queues.values()), Counter()) for name in COUNTERS}

    def status(self) -> dict[str, Any]:
        """The status of all queues together, as one queue has it, and under `outlets` what waits in each, by bucket."""
        each = {bucket: queue.status() for bucket, queue in self.queues.items()}
        oldest = [one["oldest_ms"] for one in each.values() if one["oldest_ms"] is not None]
        return {
            **{name: dict(sum((Counter(one[name]) for one in each.values()), Counter())) for name in COUNTERS},
            **{name: sum(one[name] for one in each.values()) for name in ("waiting_bytes", "waiting_lines")},
            "oldest_ms": min(oldest, default=None),
            "free_bytes": min(one["free_bytes"] for one in each.values()),
            "outlets": {
                bucket: {name: one[name] for name in ("waiting_lines", "oldest_ms")} for bucket, one in each.items()
            },
        }

    def close(self) -> None:
        """Save all positions."""
        for queue in self.queues.values():
            queue.close()

    def _take_over(self, folder: Path) -> None:
        before = DiskQueue(folder)
        for bucket, queue in self.queues.items():
            queue.continue_counting({name: {bucket: before.counters[name][bucket]} for name in COUNTERS})
        while (found := before.peek(SEGMENT_BYTES))[0]:
            records, position = found
            for record in records:
                self.queues[record.bucket].append_record(record, is_new=False)
            before.advance(records, position)
        before.close()
        for file in (*folder.glob("*.log"), folder / "state.json"):
            file.unlink(missing_ok=True)
