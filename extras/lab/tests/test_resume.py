"""A run that is resumed makes only what no valid run has measured."""

import json
from itertools import pairwise
from pathlib import Path

from lab import resume, scenario_file
from lab.plan import PAUSE_S, Plan

TEXT = """
about = "a"
[short]
seconds = 2
repeats = 2
[long]
seconds = 60
[[step]]
name = "one"
load = [{ kind = "calls", call = "insert", rate = 3.5 }]
[[step]]
name = "two"
load = [{ kind = "calls", call = "insert", rate = 7 }]
"""
PLAN = scenario_file.parse("x", TEXT, "short")


def steps(plan: Plan | None) -> list[tuple[str, int]]:
    assert plan
    return [(one.name, one.repeat) for one in plan.steps]


def leave(folder: Path, name: str, measured: list[tuple[str, int]], **own: str) -> None:
    summary = {"verdict": "ok", "stopped": "", "own": "", **own}
    (folder / name).mkdir()
    found = [{"name": step, "repeat": repeat} for step, repeat in measured]
    (folder / name / "summary.json").write_text(json.dumps({**summary, "steps": found}))


def test_what_valid_runs_measured_is_left_out(tmp_path: Path) -> None:
    leave(tmp_path, "x-short-1", [("one", 0)])
    leave(tmp_path, "x-short-2", [("two", 0), ("one", 1)], stopped="stopped by the operator")
    left = resume.remaining(PLAN, resume.done(PLAN, tmp_path))
    assert steps(left) == [("one", 1), ("two", 1)]  # the step in which the operator stopped is made again
    assert left
    assert all(b.start_s == a.end_s + PAUSE_S for a, b in pairwise(left.steps))


def test_void_runs_other_forms_and_changed_ones_do_not_count(tmp_path: Path) -> None:
    leave(tmp_path, "x-short-1", [("one", 0)], verdict="void")
    leave(tmp_path, "x-short-2", [("one", 0)], own="1 s a step")
    leave(tmp_path, "x-long-1", [("one", 0)])
    (tmp_path / "x-short-3").mkdir()  # killed: it has no summary
    assert steps(resume.remaining(PLAN, resume.done(PLAN, tmp_path))) == [(s.name, s.repeat) for s in PLAN.steps]


def test_nothing_may_be_left(tmp_path: Path) -> None:
    leave(tmp_path, "x-short-1", [(one.name, one.repeat) for one in PLAN.steps])
    assert resume.remaining(PLAN, resume.done(PLAN, tmp_path)) is None
