"""`simulator lab`: its arguments, and what they lead to."""

import argparse
import itertools
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from lab import scenario_file
from lab.scenario_file import ScenarioError

if TYPE_CHECKING:
    from lab.plan import Plan
    from lab.scratch import Order
    from lab.target import Target

ALL = "all"
OK, FAILED, USAGE, UNREACHABLE, REFUSED, VOID = range(6)
CODES = """exit codes: 0 all counted and right; 1 counts differ, answers are wrong or a target is missed
(compare: a regression, or nothing to compare); 2 wrong arguments or files;
3 the platform or the generator did not run; 5 void: the generator was too late"""
INTRODUCTION = """Load tests of the whole platform, with reports.

A scenario (`list` names them) says who asks and publishes what, how often, and what the predecessors measured with it.
`run` starts a stack of its own on free ports, makes the load, counts afterwards that every acknowledged reading is
stored, and leaves a run folder: report.html (open it in a browser), report.md, raw CSV. The short form takes about a
minute; the long form is what the predecessors did, or longer: its expected duration is printed first.

A run is void when the generator was late: its figures say nothing of the platform. On a machine that others use too,
--tries 3 makes a void run again."""
EXAMPLES = """examples:
  simulator lab list
  simulator lab run a-tp-1                     a stack of its own, the short form, into runs/
  simulator lab run all --resume --tries 3     each scenario; those that are measured already are left out
  simulator lab run a-rt-1 --form long --workers 2 --page 8089
  simulator lab run a-rt-1 --form long --step-seconds 15 --step-repeats 1
  simulator lab run campus --size phones=20000 --size people=500
  simulator lab run c-devices --target .env    the installation whose .env this is (make up)
  simulator lab run b-panels --target far.toml   another host: url, mqtt_host, mqtt_port, mqtt_tls, ca, accounts,
                                                 influx_url, viewer; secrets from LAB_API_KEY, LAB_VIEWER_PASSWORD,
                                                 MQTT_SIMULATOR_PASSWORD, INFLUX_READ_TOKEN, INFLUX_ADMIN_TOKEN
  simulator lab run b-panels --target near.toml --expect 2 --bind 10.0.0.1:5557
  simulator lab worker 10.0.0.1:5557 --target far.toml   on each of two machines; extras/lab/load-tests.md has all steps
  simulator lab run a-tp-1 --repeat 3 --to runs/before   and later, after a change, --to runs/after
  simulator lab compare runs/before/* --after runs/after/*
  simulator lab report runs/a-tp-1-short-20260101-120000
"""
EXTRA_S = 10.0
"""Of each run: seeding, connecting, counting, report."""
START_S = 30.0
"""Of a stack."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `lab` to the command line."""
    lab = commands.add_parser(
        "lab", help="load tests with reports", description=INTRODUCTION, epilog=f"{EXAMPLES}\n{CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    lab.set_defaults(main=main)
    actions = lab.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="the scenarios, and how long their forms take", allow_abbrev=False)
    run = actions.add_parser("run", help="run a scenario and write its report", allow_abbrev=False)
    run.add_argument(
        "scenario", metavar="SCENARIO", nargs="+",
        help="name, TOML file, or all; several run one after the other",
    )  # fmt: skip
    run.add_argument("--form", choices=scenario_file.FORMS, default="short", help="short (default) or long")
    run.add_argument(
        "--target",
        metavar="FILE",
        type=Path,
        help=".env of an installation, or a TOML file (default: a stack of its own)",
    )
    run.add_argument("--into", metavar="NAME", default="", help="simulate into this building, which is not the demo's")
    run.add_argument("--to", metavar="FOLDER", type=Path, default=Path("runs"), help="where run folders go (runs)")
    run.add_argument("--repeat", metavar="N", type=int, default=1, help="run N times, for compare (1)")
    run.add_argument("--tries", metavar="N", type=int, default=1, help="make a void run again, N times in all (1)")
    run.add_argument("--resume", action="store_true", help="leave out what a valid run in the folder has measured")
    run.add_argument("--step", metavar="NAME", action="append", default=[], help="only this step; may be repeated")
    run.add_argument(
        "--step-seconds",
        metavar="S",
        type=float,
        default=0.0,
        help="of each step that does not end itself, instead of the form's",
    )
    run.add_argument(
        "--step-repeats", metavar="N", type=int, default=0, help="how often all steps are made in a run (the form's)"
    )
    run.add_argument(
        "--size",
        metavar="NAME=N",
        action="append",
        default=[],
        help="a number that the scenario names; may be repeated",
    )
    run.add_argument("--workers", metavar="N", type=int, default=0, help="generator processes here (0: one for all)")
    run.add_argument("--expect", metavar="N", type=int, default=0, help="workers that join from elsewhere (0)")
    run.add_argument(
        "--bind",
        metavar="ADDRESS:PORT",
        type=_address,
        default="127.0.0.1:5557",
        help="where workers join: an address of this machine that they reach (%(default)s)",
    )
    run.add_argument("--page", metavar="PORT", type=int, default=0, help="Locust's live page on this port (off)")
    run.add_argument("--nice", metavar="N", type=int, default=0, help="the generator's priority, 19 is the lowest (0)")
    worker = actions.add_parser("worker", help="generate load for a coordinator elsewhere", allow_abbrev=False)
    worker.add_argument("coordinator", metavar="ADDRESS:PORT", type=_address, help="what --bind says there")
    worker.add_argument("--target", metavar="FILE", type=Path, required=True, help="the platform as reached from here")
    worker.add_argument("--again", action="store_true", help="for one run after the other, until Ctrl-C")
    recount = actions.add_parser("recount", help="count again what a run stored", allow_abbrev=False)
    recount.add_argument("run", metavar="RUN", type=Path)
    recount.add_argument("--target", metavar="FILE", type=Path, required=True)
    recount.add_argument(
        "--wait", metavar="S", type=float, default=15.0, help="wait S seconds for missing readings (15)"
    )
    compare = actions.add_parser("compare", help="runs side by side; fails on a regression", allow_abbrev=False)
    compare.add_argument(
        "before", metavar="RUN", type=Path, nargs="+", help="runs of before, then --after and those of after"
    )
    compare.add_argument(
        "--after", metavar="RUN", type=Path, nargs="+", default=[], help="runs of after (the last one)"
    )
    report = actions.add_parser("report", help="write report.md and report.html of runs again", allow_abbrev=False)
    report.add_argument("run", metavar="RUN", type=Path, nargs="+")
    page = actions.add_parser("page", help="one page of Markdown with pictures, of many runs", allow_abbrev=False)
    page.add_argument("run", metavar="RUN", type=Path, nargs="+")
    page.add_argument("--to", metavar="FILE", type=Path, required=True)


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no ADDRESS:PORT, as 10.0.0.1:5557 is")
    return text


def main(options: argparse.Namespace) -> int:
    """Do what `simulator lab` was asked for; returns the exit code."""
    try:
        from lab import run as runs
        from lab import target as targets
    except ImportError as error:
        _log(f"simulator lab: {error.name} is missing: install sda-lab, or run make lab")
        return USAGE
    actions = {
        "list": _list,
        "run": _run,
        "worker": _worker,
        "recount": _recount,
        "report": _report,
        "compare": _compare,
        "page": _page,
    }
    try:
        return actions[options.action](options)
    except (ScenarioError, targets.TargetError) as error:
        _log(f"simulator lab: {error}")
        return USAGE
    except runs.RunError as error:
        _log(f"simulator lab: {error}")
        return UNREACHABLE


def _list(_: argparse.Namespace) -> int:
    _print(f"{'scenario':<14}  short      long  what")
    for name, short, long, title in listing():
        _print(f"{name:<14} {short:>6} {long:>9}  {title}")
    _print("simulator lab run SCENARIO makes one (make lab SCENARIO=…); --help has examples")
    return OK


def listing() -> list[tuple[str, str, str, str]]:
    """Name, duration of the short and of the long form, and title of each scenario."""
    rows = []
    for name, path in scenario_file.names().items():
        short, long = (scenario_file.load(path, form) for form in scenario_file.FORMS)
        rows.append((name, _duration(short.expected_s), _duration(long.expected_s), short.title))
    return rows


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _run(options: argparse.Namespace) -> int:
    from lab import target as targets
    from lab.scratch import scratch_target

    given = targets.read(options.target) if options.target else None
    wanted = plans(options)
    if not wanted:
        _log(f"nothing is left to do: {options.to} has valid runs of all of it")
        return OK
    stacks = [(kind, list(some)) for kind, some in itertools.groupby(wanted, lambda one: (one.has_delays, one.drawn))]
    planned_s = sum(one.expected_s + EXTRA_S for one in wanted) + (0 if given else START_S * len(stacks))
    end = time.strftime("%H:%M", time.localtime(time.time() + planned_s))
    _log(f"{len(wanted)} {'run' if len(wanted) == 1 else 'runs'}, about {_duration(planned_s)}, until {end}")
    codes = []
    for (with_delays, drawn), some in stacks:
        if given and drawn:
            _log(f"the building is the one there, not {drawn.name}")
        stack = nullcontext((given, None)) if given else scratch_target(_log, with_delays=with_delays, drawn=drawn)
        with stack as (target, order):
            for plan in some:
                code, stopped = _run_until_valid(plan, target, options, order)
                codes.append(code)
                if stopped:
                    return _worst(codes)
    return _worst(codes)


def _worst(codes: Sequence[int]) -> int:
    return next((code for code in (UNREACHABLE, FAILED, VOID) if code in codes), OK)


def plans(options: argparse.Namespace) -> "list[Plan]":
    """What is to be run, in order."""
    from lab import resume

    try:
        sizes = {name: int(count) for name, _, count in (one.partition("=") for one in options.size)}
    except ValueError:
        raise ScenarioError(f"--size {' '.join(options.size)}: give NAME=N, as in --size phones=2000") from None
    own = scenario_file.Own(options.step_seconds, options.step_repeats, tuple(options.step), sizes)
    wanted = list(scenario_file.names()) if options.scenario == [ALL] else options.scenario
    plans = [scenario_file.load(scenario_file.find(name), options.form, own) for name in wanted]
    if options.resume:
        left = (resume.remaining(one, resume.done(one, options.to)) for one in plans)
        plans = [one for one in left if one]
    return [one for one in plans for _ in range(options.repeat)]


def _run_until_valid(
    plan: "Plan", target: "Target", options: argparse.Namespace, order: "Order | None"
) -> tuple[int, bool]:
    """The exit code, and whether the operator stopped the run; a void run is made again."""
    code, stopped = _run_one(plan, target, options, order)
    for again in range(1, options.tries):
        if code != VOID or stopped:
            break
        _log(f"{plan.scenario}: that run was void; try {again + 1} of {options.tries}")
        code, stopped = _run_one(plan, target, options, order)
    return code, stopped


def _run_one(plan: "Plan", target: "Target", options: argparse.Namespace, order: "Order | None") -> tuple[int, bool]:
    """The exit code, and whether the operator stopped the run."""
    from lab import report
    from lab import run as runs
    from lab import target as targets

    changed = f" ({plan.own})" if plan.own else ""
    _log(f"{plan.scenario}: {plan.title}, {plan.form} form{changed}, about {_duration(plan.expected_s)}")
    folder = _free_folder(options.to / f"{plan.scenario}-{plan.form}-{time.strftime('%Y%m%d-%H%M%S')}")
    how = runs.Options(
        folder, options.workers, options.expect, options.bind, options.page, options.into, options.nice, order
    )
    try:
        summary = runs.run(plan, target, how, _log)
        report.write(folder)
    except (runs.RunError, targets.TargetError) as error:
        _log(f"simulator lab: {plan.scenario}: {error}")
        return UNREACHABLE, False
    except Exception:  # noqa: BLE001 - a long series of runs goes on
        _log(f"simulator lab: {plan.scenario} failed, its folder is {folder}:\n{traceback.format_exc()}")
        return UNREACHABLE, False
    _print(report.on_screen(summary, folder))
    return {"ok": OK, "failed": FAILED, "void": VOID}[summary["verdict"]], bool(summary["stopped"])


def _free_folder(folder: Path) -> Path:
    """The folder, or one beside it if another run began in the same second."""
    names = itertools.chain([folder], (folder.with_name(f"{folder.name}-{number}") for number in itertools.count(2)))
    return next(one for one in names if not one.exists())


def _worker(options: argparse.Namespace) -> int:
    from lab import run as runs
    from lab import target as targets

    return runs.run_worker(targets.read(options.target), options.coordinator, _log, again=options.again)


def _recount(options: argparse.Namespace) -> int:
    from lab import report
    from lab import run as runs
    from lab import target as targets

    summary = runs.recount(options.run, targets.read(options.target), _log, options.wait)
    report.write(options.run)
    _print(report.on_screen(summary, options.run))
    return {"ok": OK, "failed": FAILED, "void": VOID}[summary["verdict"]]


def _report(options: argparse.Namespace) -> int:
    from lab import report
    from lab import run as runs

    for folder in options.run:
        runs.recount(folder, None, _log)
        _print(str(report.write(folder)))
    return OK


def _compare(options: argparse.Namespace) -> int:
    from lab import compare

    before, after = (options.before, options.after) if options.after else (options.before[:-1], options.before[-1:])
    if not before or not after:
        raise ScenarioError("compare needs runs of before and of after: RUN … --after RUN …")
    _check_ended([*before, *after])
    text, regressions = compare.of_folders(before, after)
    _print(text)
    return FAILED if regressions else OK


def _check_ended(folders: Sequence[Path]) -> None:
    if missing := [one for one in folders if not (one / "summary.json").is_file()]:
        raise ScenarioError(f"{missing[0]} is no folder of a run that came to its end: it has no summary.json")


def _listed(folders: Sequence[Path]) -> str:
    return ", ".join(str(one) for one in folders)


def _page(options: argparse.Namespace) -> int:
    from lab import overview

    ended = [one for one in options.run if (one / "summary.json").is_file()]
    if not ended:
        raise ScenarioError(f"none of these is the folder of a run that came to its end: {_listed(options.run)}")
    overview.write(ended, options.to)
    _print(str(options.to))
    return OK


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the result


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress
