"""How long nothing was acknowledged, and nothing answered, while a campus had a fault; the tables."""

import itertools
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import httpx
from chaos.load import Acked
from support import web

PATH = "/extractbeacon"
POLLERS, EVERY_S, TIMEOUT_S = 4, 1.0, 5.0
WINDOW_S = 10


@dataclass(frozen=True, slots=True)
class Poll:
    """A question to the entry; status 0: there was no answer. Epoch seconds."""

    asked_s: float
    answered_s: float
    status: int
    reason: str = ""


@dataclass(slots=True)
class Pollers:
    """Ask the entry for one person's last ten seconds, several beside each other, until the block ends."""

    url: str
    polls: list[Poll] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> "Pollers":
        for number in range(POLLERS):
            thread = threading.Thread(target=self._ask_on, args=(number,), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _ask_on(self, number: int) -> None:
        self._ended.wait(number * EVERY_S / POLLERS)
        due_s = time.monotonic()
        while not self._ended.wait(max(0.0, due_s - time.monotonic())):
            due_s = max(due_s + EVERY_S, time.monotonic())
            asked_s = time.time()
            status, reason = self._ask(asked_s)
            self.polls.append(Poll(asked_s, time.time(), status, reason))

    def _ask(self, asked_s: float) -> tuple[int, str]:
        """Status and, where it is not 200, why."""
        asked = {"staff_id": "0", "start_time": int(asked_s) - WINDOW_S, "end_time": int(asked_s)}
        try:
            answer = web.get(self.url + PATH, params=asked, timeout=TIMEOUT_S, retry_503=False)
        except httpx.TransportError as error:
            return 0, repr(error)
        return answer.status_code, "" if answer.status_code == httpx.codes.OK else answer.text


@dataclass(slots=True)
class Hit:
    """A fault as it happened, epoch seconds."""

    fault: str
    parts: list[str]
    at_s: float
    ended_s: float = 0.0
    whole_s: float = 0.0
    """When all parts worked again."""
    until_s: float = 0.0
    """Up to when what happens is put down to it."""


def longest_gap_s(times_s: Iterable[float], from_s: float, until_s: float) -> float:
    """The longest time without one of these moments, between the two. Pure."""
    inside = [one for one in sorted(times_s) if from_s < one < until_s]
    return max(after - before for before, after in itertools.pairwise([from_s, *inside, until_s]))


def longest_wait_s(acked: Iterable[Acked], from_s: float, until_s: float) -> float:
    """The longest time that a batch waited for its PUBACK which came between the two. Pure."""
    return max((one.acked_ms - one.ts_ms for one in acked if from_s < one.acked_ms / 1000 <= until_s), default=0) / 1000


def fault_table(hits: Sequence[Hit], acked: dict[str, list[Acked]], polls: Sequence[Poll]) -> str:
    """A row for each fault. Pure."""
    heads = ["fault", "hit", *(f"PUBACK, {site}: nobody, slowest batch" for site in acked),
             "entry: without a 200", "entry: 200, 503, none", "whole again"]  # fmt: skip
    rows = [[one.fault, ", ".join(one.parts), *(_acks(one, batches) for batches in acked.values()),
             *_answers(one, polls), _whole(one)] for one in hits]  # fmt: skip
    return table(heads, rows)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _whole(hit: Hit) -> str:
    return f"{hit.whole_s - hit.at_s:.0f} s" if hit.whole_s else "never"


def _acks(hit: Hit, batches: list[Acked]) -> str:
    gap_s = longest_gap_s((one.acked_ms / 1000 for one in batches), hit.at_s, hit.until_s)
    return f"{gap_s:.1f} s, {longest_wait_s(batches, hit.at_s, hit.until_s):.1f} s"


def _answers(hit: Hit, polls: Sequence[Poll]) -> tuple[str, str]:
    within = [one for one in polls if hit.at_s <= one.asked_s < hit.until_s]
    good = [one.answered_s for one in within if one.status == httpx.codes.OK]
    refused = sum(one.status not in {0, httpx.codes.OK} for one in within)
    none = sum(one.status == 0 for one in within)
    return f"{longest_gap_s(good, hit.at_s, hit.until_s):.1f} s", f"{len(good)}, {refused}, {none}"
