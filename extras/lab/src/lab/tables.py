"""The tables of a report, from a run's summary. Pure."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from lab.document import Table

TIMES = ("mean", "p50", "p90", "p95", "p99", "most")


def medians(steps: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Steps by name, in order; each figure is the median of the repeats."""
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for step in steps:
        grouped.setdefault(step["name"], []).append(step)
    return {name: _median_of(some) for name, some in grouped.items()}


def throughput(step: Mapping[str, Any]) -> float:
    """Right answers a second: of the step's own call, or of all calls of users."""
    return _of_its_calls(step, "per_s")


def faults(step: Mapping[str, Any]) -> float:
    """Of the same calls."""
    return _of_its_calls(step, "faults")


def requests(step: Mapping[str, Any]) -> float:
    """Of the same calls."""
    return _of_its_calls(step, "requests")


def _of_its_calls(step: Mapping[str, Any], figure: str) -> float:
    own = [step["calls"][step["primary"]]] if step["primary"] in step["calls"] else []
    return float(sum(one[figure] for one in (step["calls"].values() if step["closed"] else own)))


def is_ladder(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the steps differ in what is offered, of one kind."""
    kinds = {(one["closed"], one["primary"] if not one["closed"] else "") for one in steps}
    return len({one["offered"] for one in steps}) > 1 and len(kinds) == 1


def _median_of(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = steps[0]
    calls = sorted({call for one in steps for call in one["calls"]})
    parts = sorted({part for one in steps for part in one["busy"]})
    return {
        **first,
        "repeats": len(steps),
        "calls": {call: _middle([one["calls"][call] for one in steps if call in one["calls"]]) for call in calls},
        "busy": _middle([{part: one["busy"].get(part) for part in parts} for one in steps]),
        "memory_mib": _middle([{part: one["memory_mib"].get(part) for part in parts} for one in steps]),
        "seconds": median(one["seconds"] for one in steps),
    }


def _middle(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = list(rows[0])
    found = {}
    for name in names:
        values = [row[name] for row in rows if row[name] is not None]
        numbers = bool(values) and all(isinstance(value, int | float) for value in values)
        found[name] = median(values) if numbers else (values[0] if values else None)
    return found


def theirs_and_ours(summary: Mapping[str, Any]) -> Table:
    """One row a step: what they measured, what we measured."""
    rows = []
    with_theirs = has_theirs(summary)
    for name, step in medians(summary["steps"]).items():
        one = step["calls"].get(step["primary"])
        if one is None:
            ours = ["nothing was answered"] + [""] * 7
        else:
            ours = [rate(throughput(step)), ms(one["mean"]), f"{ms(one['least'])}–{ms(one['most'])}", ms(one["p95"]),
                    ms(one["p99"]), f"{faults(step):,.0f}", str(step["repeats"]), ms(one["late_p99"])]  # fmt: skip
        rows.append([name, *([step["theirs"] or "–"] if with_theirs else []), *ours])
    own = ["theirs", "ours: answers/s"] if with_theirs else ["answers/s"]
    return Table(
        ["step", *own, "mean ms", "least–most", "p95", "p99", "faults", "repeats", "sent late p99"], rows, note(summary)
    )


def has_theirs(summary: Mapping[str, Any]) -> bool:
    """Whether the predecessors published results of this."""
    return bool(summary["theirs_name"]) or any(one["theirs"] for one in summary["steps"])


def dashboard_pages(summary: Mapping[str, Any]) -> Table | None:
    """What open pages got; None: none was open."""
    rows = []
    for name, step in medians(summary["steps"]).items():
        calls = step["calls"]
        if not (page := calls.get("page")):
            continue
        frames = [calls[call] for call in ("change", "unchanged") if call in calls]
        count, size = sum(one["requests"] for one in frames), sum(one["bytes"] for one in frames)
        opened = page["requests"] - page["faults"]
        times = (
            [ms(calls["change"][time]) for time in ("p50", "p95", "p99", "most")] if "change" in calls else ["–"] * 4
        )
        rows.append([name, f"{opened:,.0f}", rate(count / step["seconds"] / max(1, opened)),
                     f"{size / 1024 / max(1, count):.1f}", *times, f"{page['faults']:,.0f}"])  # fmt: skip
    head = [
        "step",
        "pages",
        "frames/s a page",
        "KiB a frame",
        "change shown after p50 ms",
        "p95",
        "p99",
        "max",
        "faults",
    ]
    return Table(head, rows, note(summary)) if rows else None


def by_call(summary: Mapping[str, Any]) -> Table:
    """All calls of all steps."""
    rows = [
        [name, call, f"{one['requests']:,.0f}", rate(one["per_s"]), *(ms(one[time]) for time in TIMES),
         f"{one['faults']:,.0f}", f"{one['retried']:,.0f}", ms(one["late_p99"])]
        for name, step in medians(summary["steps"]).items()
        for call, one in step["calls"].items()
    ]  # fmt: skip
    head = ["step", "call", "requests", "answers/s", *("mean ms", "p50", "p90", "p95", "p99", "max"), "faults",
            "retried",
            "sent late p99"]  # fmt: skip
    return Table(head, rows, note(summary))


def by_part(summary: Mapping[str, Any]) -> Table:
    """Cores and memory of each part in each step."""
    steps = medians(summary["steps"])
    parts = sorted({part for step in steps.values() for part in step["busy"]})
    rows = [
        [name, *(f"{step['busy'].get(part) or 0:.2f} / {step['memory_mib'].get(part) or 0:,.0f}" for part in parts)]
        for name, step in steps.items()
    ]
    return Table(["step: cores / MiB", *parts], rows, note(summary))


BY_MESSAGE = (
    "CPU a message, in µs: what each part used in a step, divided by the messages and detections that it acknowledged. "
    "All that went on in the step is in it, polls and pages too."
)
MESSAGES = ("message", "batch", "insert")
MIN_MESSAGES_PER_S = 20
"""With fewer, what parts use at rest would stand for messages."""


def by_message(summary: Mapping[str, Any]) -> Table | None:
    """µs of CPU of each part a message; None: the run published little, or simulated people published too."""
    if summary["accuracy"]:
        return None
    steps = medians(summary["steps"])
    parts = sorted({part for step in steps.values() for part in step["busy"]} - {"machine"})
    rows = []
    for name, step in steps.items():
        sent = sum(one["requests"] - one["faults"] for call, one in step["calls"].items() if call in MESSAGES)
        if parts and sent >= MIN_MESSAGES_PER_S * step["seconds"]:
            used = (step["seconds"] * (step["busy"].get(part) or 0) / sent * 1e6 for part in parts)
            rows.append([name, f"{sent:,.0f}", *(f"{us:,.0f}" for us in used)])
    return Table(["step", "messages", *parts], rows, note(summary)) if rows else None


def by_worker(summary: Mapping[str, Any]) -> Table | None:
    """What each process of the generator did; None: there was one."""
    rows = [
        [str(one["worker"]), one["host"] or "lost", f"{one['requests']:,}", f"{one['receivers']:,}",
         f"{one['readings']:,}", f"{one['faults']:,}", ms(one["late_p99"]),
         "–" if one["cores"] is None else f"{one['cores']:.2f}"]
        for one in summary.get("shares", [])
    ]  # fmt: skip
    head = [
        "worker",
        "machine",
        "requests",
        "receivers",
        "readings acknowledged",
        "faults",
        "sent late p99 ms",
        "cores",
    ]
    return Table(head, rows, note(summary)) if rows else None


def form_of(summary: Mapping[str, Any]) -> str:
    """Scenario, form and what was changed of it."""
    own = f": {summary['own']}" if summary.get("own") else ""
    return f"{summary['scenario']}, {summary['form']} form{own}"


def targets(summary: Mapping[str, Any]) -> Table:
    rows = [
        [
            one["call"],
            f"{one['share']:.0%} within {one['at_most_ms']:,.0f} ms",
            f"{one['reached_share']:.2%}",
            "yes" if one["ok"] else "NO",
        ]
        for one in summary["wanted"]
    ]
    return Table(["call", "wanted", "in time", "reached"], rows, note(summary))


def delays(summary: Mapping[str, Any]) -> Table:
    rows = [
        [one["name"], str(one["looks"]), ms(one["p50_ms"]), ms(one["most_ms"]), "yes" if one["grows"] else "no"]
        for one in summary["behind"]
    ]
    return Table(["step", "looks", "monitoring delay p50 ms", "most ms", "grows"], rows, note(summary))


LIVE = (
    "How far the live view is behind: from the reading by which somebody was located to the publication. Of intervals "
    "of 5 s, as the flows say it of themselves."
)


def live(summary: Mapping[str, Any]) -> Table | None:
    """How far the live view was behind; None: nobody was located."""
    rows = [
        [one["name"], *(ms(one[key]) for key in ("p50_ms", "p99_ms", "worst_p99_ms"))]
        for one in summary.get("live", [])
    ]
    return (
        Table(["step", "live view behind p50 ms", "p99", "p99 of the worst 5 s"], rows, note(summary)) if rows else None
    )


def accuracies(summary: Mapping[str, Any]) -> Table:
    """How often the platform said the right room of simulated people."""
    rows = []
    for one in summary["accuracy"]:
        located = max(1, one["located"])
        shares = (one["located"] / max(1, one["seconds"]), one["right"] / located, one["level_right"] / located)
        rows.append([one["step"], one["who"], str(one["people"]), f"{one['seconds']:,}", *(f"{x:.1%}" for x in shares)])
    head = ["step", "who", "people", "seconds judged", "located", "right room", "right level"]
    return Table(head, rows, note(summary))


def note(summary: Mapping[str, Any]) -> str:
    """What stands on each table of a run that is worth nothing, or was ended early."""
    if summary["verdict"] == "void":
        return "VOID: " + "; ".join(summary["void"])
    return f"Ended early: {summary['stopped']}" if summary["stopped"] else ""


def ms(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
