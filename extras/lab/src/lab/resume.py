"""What is left of a run: steps that no valid run of the same form in a folder has measured. Pure but for reading."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lab.plan import LEAD_S, PAUSE_S, Plan


def done(plan: Plan, folder: Path) -> set[tuple[str, int]]:
    """(step, repeat) of the valid runs of this plan's scenario and form in a folder of run folders."""
    found: set[tuple[str, int]] = set()
    for path in sorted(folder.glob(f"{plan.scenario}-{plan.form}-*/summary.json")):
        summary = json.loads(path.read_text())
        if summary["verdict"] == "void" or summary.get("own", "") != plan.own:
            continue
        steps = summary["steps"][:-1] if summary["stopped"] else summary["steps"]  # the last one was cut short
        found |= {(one["name"], one["repeat"]) for one in steps}
    return found


def remaining(plan: Plan, measured: Iterable[tuple[str, int]]) -> Plan | None:
    """The plan without steps that are measured; None: nothing is left."""
    known = set(measured)
    left, at_s = [], LEAD_S
    for step in plan.steps:
        if (step.name, step.repeat) in known:
            continue
        left.append(replace(step, start_s=at_s))
        at_s += step.seconds + PAUSE_S
    return replace(plan, steps=tuple(left)) if left else None
