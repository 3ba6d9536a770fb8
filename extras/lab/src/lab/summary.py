"""Makes `summary.json` of a run: figures of each step, what was busy, counts, verdict. Pure."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from statistics import mean, median
from typing import Any

from lab import statistics, verdict
from lab.plan import Load, Plan, Step
from lab.resources import MACHINE, Use
from lab.samples import Sample
from lab.statistics import Figures

LIVE_EVERY_MS = 5000
"""The flows say so often how far the live view is behind: the first time in a step is about before, too."""
PROMISES = ("insert", "message", "batch")
"""Calls whose right answers promise stored readings."""


def expected(samples: Sequence[Sample]) -> tuple[dict[str, int], dict[str, int]]:
    """Readings by receiver that must be stored, and those that may be, since nobody knows."""
    sent: dict[str, int] = defaultdict(int)
    unknown: dict[str, int] = defaultdict(int)
    for one in samples:
        if one.call not in PROMISES:
            continue
        if one.fault and one.subject:
            unknown[one.subject] += max(1, one.readings)
        elif not one.fault:
            sent[one.subject] += one.readings
    return dict(sent), dict(unknown)


def summarise(
    plan: Plan,
    samples: Sequence[Sample],
    generator: Mapping[str, Any],
    uses: Sequence[Use],
    counts: Mapping[str, Any],
    environment: Mapping[str, Any],
    live_lag: Sequence[Mapping[str, float]] = (),
) -> dict[str, Any]:
    """Everything that the report shows, but for courses over time.

    Args:
        plan: the run as planned.
        samples: of all workers.
        generator: of `generator.json`.
        uses: of `resources.csv`.
        counts: `{"counted", "expected", "stored", "differences", "after_s"}`.
        environment: machine, versions, target.
        live_lag: of the whole run, `{"ms", "p50_ms", "p99_ms"}` each.
    """
    grouped = statistics.by_step_and_call(samples)
    steps = [_step(plan.steps[one["step"]], one, grouped[one["step"]], uses) for one in generator["steps"]]
    took_s, planned_s = _lasted(plan, samples)
    late_ms = [one.late_ms for one in samples]
    void = verdict.void_reasons(late_ms, generator["lag_ms"], took_s, planned_s)
    if generator["workers_lost"]:
        void.append(f"{generator['workers_lost']} of {generator['workers']} workers were lost")
    if not samples:
        void.append("nothing was sent")
    wrong = sum(1 for one in samples if one.fault and 200 <= one.status < 300)
    latencies: dict[str, list[float]] = defaultdict(list)
    for one in samples:
        latencies[one.call].append(math.inf if one.fault else one.latency_ms)
    wanted = [
        {**asdict(target), "reached_share": round(share, 5), "ok": share >= target.share}
        for target, share in verdict.reached(plan.wanted, latencies)
    ]
    missed = [one for one in wanted if not one["ok"]]
    failed = [
        *(
            [f"{len(counts['differences'])} receivers have other counts stored than sent"]
            if counts["differences"]
            else []
        ),
        *([f"{wrong} answers were wrong"] if wrong else []),
        *(f"{one['call']}: only {one['reached_share']:.2%} within {one['at_most_ms']:g} ms" for one in missed),
    ]
    return {
        "scenario": plan.scenario, "title": plan.title, "about": plan.about, "form": plan.form,
        "theirs_name": plan.theirs_name, "own": plan.own, **environment,
        "verdict": "void" if void else "failed" if failed else "ok",
        "void": void, "failed": failed, "stopped": generator["stopped"], "workers": generator["workers"],
        "requests": len(samples), "wrong": wrong, "faults": statistics.faults(samples),
        "late_ms": _spread(late_ms), "lag_ms": _spread(generator["lag_ms"]),
        "others_cores": _others(steps), "took_s": round(took_s, 2), "planned_s": round(planned_s, 2),
        "shares": shares(samples, generator) if generator["workers"] > 1 else [],
        "steps": steps, "wanted": wanted, "counts": dict(counts), "behind": _behind(plan, samples, generator),
        "live": [found for run in generator["steps"] if (found := live(plan, run, live_lag))],
        "saturation": _saturation(plan, steps, environment),
    }  # fmt: skip


def shares(samples: Sequence[Sample], generator: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each worker did of a run: requests, readings that were acknowledged, lateness in ms, cores."""
    own: dict[int, list[Sample]] = defaultdict(list)
    for one in samples:
        own[one.worker].append(one)
    machines = {one["worker"]: one for one in generator.get("machines", [])}
    return [
        {
            "worker": number, "host": machines.get(number, {}).get("host", ""), "requests": len(own[number]),
            "receivers": len({one.subject for one in own[number] if one.call in ("message", "batch")}),
            "readings": sum(expected(own[number])[0].values()), "faults": sum(1 for one in own[number] if one.fault),
            "late_p99": _spread([one.late_ms for one in own[number]])["p99"],
            "cores": machines.get(number, {}).get("cores"),
        }
        for number in range(generator["workers"])
    ]  # fmt: skip


def _step(
    step: Step, run: Mapping[str, Any], calls: Mapping[str, Sequence[Sample]], uses: Sequence[Use]
) -> dict[str, Any]:
    seconds = run["seconds"]
    inside = [one for one in uses if run["begun_ms"] <= one.ms <= run["begun_ms"] + seconds * 1000]
    parts = sorted({one.part for one in inside})
    primary = step.loads[0]
    return {
        "index": run["step"], "name": step.name, "repeat": step.repeat, "begun_ms": run["begun_ms"], "seconds": seconds,
        "theirs": step.theirs, "offered": offered(primary), "closed": primary.kind in ("users", "batches"),
        "primary": primary_call(primary, calls),
        "calls": {call: _rounded(statistics.figures(call, some, seconds)) for call, some in sorted(calls.items())},
        "busy": {part: _round(mean(one.cores for one in inside if one.part == part)) for part in parts},
        "memory_mib": {part: _round(max(one.rss_mib for one in inside if one.part == part)) for part in parts},
    }  # fmt: skip


def _others(steps: Sequence[Mapping[str, Any]]) -> float:
    """Cores that programs other than parts and generator used, in the mean of the steps."""
    shares = [2 * one["busy"][MACHINE] - sum(one["busy"].values()) for one in steps if MACHINE in one["busy"]]
    return round(max(0.0, mean(shares)), 2) if shares else 0.0


def offered(load: Load) -> float:
    """What a ladder's rungs differ in: requests a second, or users."""
    return {
        "calls": load.rate,
        "devices": load.count / load.interval_s,
        "people": load.count,
        "switches": load.rate,
    }.get(load.kind, load.count)


def primary_call(load: Load, calls: Mapping[str, Sequence[Sample]]) -> str:
    """The call that a step is about; of users with several calls the most frequent one."""
    name = {
        "devices": "message",
        "switches": "switch",
        "sockets": "change",
        "batches": "batch" if load.via == "mqtt" else "insert",
    }.get(load.kind, load.call)
    mine = [call for call in calls if call in load.mix] if load.mix else [name]
    return max(mine, key=lambda call: len(calls.get(call, ())), default=name)


def _lasted(plan: Plan, samples: Sequence[Sample]) -> tuple[float, float]:
    """How long the open loops took from the first due time to the last request sent, and how long they should."""
    planned = took = 0.0
    for index, some in statistics.by_step_and_call(samples).items():
        loads = [one for one in plan.steps[index].loads if one.kind in ("calls", "devices")]
        open_calls = [one for load in loads for one in some.get(_name(load), ())]
        if open_calls:
            first = min(one.due_ms for one in open_calls)
            planned += (max(one.due_ms for one in open_calls) - first) / 1000
            took += (max(one.due_ms + one.late_ms for one in open_calls) - first) / 1000
    return took, planned


def _name(load: Load) -> str:
    return "message" if load.kind == "devices" else load.call


def _behind(plan: Plan, samples: Sequence[Sample], generator: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of each step: how old the newest was of what viewers saw, and whether that grew."""
    found = []
    for run in generator["steps"]:
        points = [
            ((one.due_ms - run["begun_ms"]) / 1000, one.behind_ms)
            for one in samples
            if one.step == run["step"] and one.behind_ms >= 0
        ]
        if points:
            ordered = sorted(ms for _, ms in points)
            found.append(
                {"step": run["step"], "name": plan.steps[run["step"]].name, "looks": len(points),
                 "p50_ms": statistics.percentile(ordered, 0.5), "most_ms": ordered[-1],
                 "grows": statistics.grows(points)}
            )  # fmt: skip
    return found


def live(plan: Plan, run: Mapping[str, Any], lag: Sequence[Mapping[str, float]]) -> dict[str, Any] | None:
    """How far the live view was behind in a step; None: it did not say so within it."""
    end_ms = run["begun_ms"] + run["seconds"] * 1000
    inside = [one for one in lag if run["begun_ms"] + LIVE_EVERY_MS <= one["ms"] <= end_ms]
    if not inside:
        return None
    return {
        "step": run["step"], "name": plan.steps[run["step"]].name, "p50_ms": median(one["p50_ms"] for one in inside),
        "p99_ms": median(one["p99_ms"] for one in inside), "worst_p99_ms": max(one["p99_ms"] for one in inside),
    }  # fmt: skip


def _saturation(
    plan: Plan, steps: Sequence[Mapping[str, Any]], environment: Mapping[str, Any]
) -> dict[str, Any] | None:
    first = [one for one in steps if one["repeat"] == 0 and one["primary"] in one["calls"]]
    kinds = {plan.steps[one["index"]].loads[0].kind for one in first}
    if len(first) < 2 or len(kinds) != 1:
        return None
    cores = int(environment.get("machine", {}).get("cores", 1))
    rungs = []
    for one in sorted(first, key=lambda one: one["offered"]):
        figures = Figures(**_unrounded(one["calls"][one["primary"]]))
        if one["closed"]:  # users do all calls of their mix
            figures = replace(figures, per_s=sum(call["per_s"] for call in one["calls"].values()))
        rungs.append(verdict.Rung(one["name"], one["offered"], figures, one["busy"], cores))
    if len({rung.offered for rung in rungs}) < 2:
        return None
    found = verdict.saturation(rungs, closed=first[0]["closed"])
    return asdict(found) if found else None


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    ordered = sorted(values)
    shares = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {name: _round(statistics.percentile(ordered, share)) for name, share in shares.items()}


def _rounded(one: Figures) -> dict[str, Any]:
    return {name: _round(value) for name, value in one.to_json().items()}


def _unrounded(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in document.items()}


def _round(value: Any) -> Any:
    """Three digits; None for what is not known, as JSON has no NaN."""
    if not isinstance(value, float):
        return value
    return round(value, 3) if math.isfinite(value) else None
