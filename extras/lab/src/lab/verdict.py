"""What a run is worth: void or not, everything counted or not, targets reached, where it saturates. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lab.plan import Wanted
from lab.statistics import Figures, percentile

LATE_MS = 50.0
"""Later than this (p99) the generator does not offer what it says."""
LONGER = 0.01
"""A run may last this share longer than planned."""
LONGER_S = 0.1
"""Of short runs: the timer's own inaccuracy."""


def void_reasons(late_ms: Sequence[float], lag_ms: Sequence[float], took_s: float, planned_s: float) -> list[str]:
    """Why the run says nothing about the platform; empty: it does.

    Args:
        late_ms: how late each request was sent.
        lag_ms: how late the generator's own timer came, 20 ms apart.
        took_s: from the first due time to the last request sent.
        planned_s: the same as planned; 0 where no time is planned.
    """
    reasons = []
    for what, values in (("requests were sent", late_ms), ("the generator's timer came", lag_ms)):
        if (p99 := percentile(sorted(values), 0.99)) > LATE_MS:
            reasons.append(f"{what} {p99:.0f} ms late (p99; {LATE_MS:.0f} ms are allowed)")
    if planned_s and took_s > planned_s * (1 + LONGER) + LONGER_S:
        reasons.append(f"the run lasted {took_s:.1f} s instead of {planned_s:.1f} s (1 % is allowed)")
    return reasons


@dataclass(frozen=True, slots=True)
class Difference:
    """A receiver of which more or fewer readings are stored than were acknowledged."""

    receiver: str
    sent: int
    unknown: int
    """Sent, and never acknowledged: they may be stored or not."""
    stored: int


def differences(sent: Mapping[str, int], unknown: Mapping[str, int], stored: Mapping[str, int]) -> list[Difference]:
    """Receivers whose counts differ. Every acknowledged reading must be stored, once; one that was never acknowledged
    may be."""
    found = []
    for receiver in sorted(sent.keys() | unknown.keys() | stored.keys()):
        count, open_, there = sent.get(receiver, 0), unknown.get(receiver, 0), stored.get(receiver, 0)
        if not count <= there <= count + open_:
            found.append(Difference(receiver, count, open_, there))
    return found


def reached(wanted: Sequence[Wanted], latencies: Mapping[str, Sequence[float]]) -> list[tuple[Wanted, float]]:
    """Each target with the share (0…1) of answers that were in time. Calls without answers are left out."""
    return [
        (one, sum(1 for ms in latencies[one.call] if ms <= one.at_most_ms) / len(latencies[one.call]))
        for one in wanted
        if latencies.get(one.call)
    ]


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of a ladder: what was offered (users or requests a second), what came back, what was busy (cores)."""

    name: str
    offered: float
    figures: Figures
    busy: Mapping[str, float]
    cores: int


@dataclass(frozen=True, slots=True)
class Saturation:
    """The last rung that the platform carried, and what limits it on the next."""

    carried: str
    per_s: float
    beyond: str
    cause: str


GAIN = 0.1
FULL = 0.90
"""Of a core, or of the machine."""


def saturation(rungs: Sequence[Rung], closed: bool) -> Saturation | None:
    """Where more load brings no more throughput. None: the ladder did not reach that.

    Closed loop: throughput rises by less than a tenth of what more users would bring, or stays while answers slow down.
    Open loop: less than 98 % of the offered rate is answered, or answers have faults.
    """
    for before, rung in pairwise(rungs):
        if closed:
            gain = rung.figures.per_s / before.figures.per_s if before.figures.per_s else 2.0
            more = rung.offered / before.offered if before.offered else 2.0
            full = gain - 1 < GAIN * (more - 1) or (gain < 1.05 and rung.figures.p50 > 1.5 * before.figures.p50)
        else:
            full = rung.figures.per_s < 0.98 * rung.offered or rung.figures.faults > 0
        if full:
            return Saturation(before.name, before.figures.per_s, rung.name, cause(rung))
    return None


def cause(rung: Rung) -> str:
    """What was busy on a rung, in words."""
    if rung.busy.get("generator", 0) >= FULL:
        return f"the generator itself uses {rung.busy['generator']:.2f} cores of the one that it can use"
    full = [
        f"{name} uses {cores:.2f} of one core"
        for name, cores in rung.busy.items()
        if name == "node-red" and cores >= FULL
    ]
    if full:
        return full[0]
    machine = rung.busy.get("machine", 0)
    if machine >= FULL * rung.cores:
        most = sorted(((cores, name) for name, cores in rung.busy.items() if name != "machine"), reverse=True)[:3]
        shares = ", ".join(f"{name} {cores:.2f}" for cores, name in most)
        others = 2 * machine - sum(rung.busy.values())
        if others > machine / 2:
            return f"other programs fill the machine ({others:.2f} of {rung.cores} cores; {shares})"
        return f"the machine is full ({machine:.2f} of {rung.cores} cores: {shares})"
    if rung.figures.faults:
        return "faults, with cores to spare: a limit of the platform (see the faults)"
    return "nothing is full: waiting (queues, disk, locks)"
