"""`simulator lab`: its arguments, and what they lead to."""

import argparse
import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.lab import scenario_file
from simulator.lab.scenario_file import ScenarioError

if TYPE_CHECKING:
    from simulator.lab.plan import Plan
    from simulator.lab.scratch import Order
    from simulator.lab.target import Target

ALL = "all"
OK, FAILED, USAGE, UNREACHABLE, REFUSED, VOID = range(6)
CODES = """exit codes: 0 all counted and right; 1 counts differ, answers are wrong or a target is missed
(compare: a regression); 2 wrong arguments or files;
3 the platform or the generator did not run; 5 void: the generator was too late"""
EXAMPLES = """examples:
  simulator lab list
  simulator lab run a-tp-1                     a stack of its own, the short form, into runs/
  simulator lab run a-rt-1 --form long --workers 2 --page 8089
  simulator lab run c-devices --target .env    the installation whose .env this is (make up)
  simulator lab run b-panels --target far.toml another host: url, mqtt_host, mqtt_port, mqtt_tls, ca, accounts,
                                               influx_url; secrets from LAB_API_KEY, MQTT_SIMULATOR_PASSWORD,
                                               INFLUX_READ_TOKEN, INFLUX_ADMIN_TOKEN
  simulator lab run e --expect 2 --bind 10.0.0.1:5557
  simulator lab worker 10.0.0.1:5557 --target far.toml
  simulator lab compare runs/before-* -- runs/after-*
  simulator lab report runs/a-tp-1-short-20260101-120000
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `lab` to the command line."""
    lab = commands.add_parser(
        "lab", help="load tests with reports", description=__doc__, epilog=f"{EXAMPLES}\n{CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    actions = lab.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="the scenarios")
    run = actions.add_parser("run", help="run a scenario and write its report", allow_abbrev=False)
    run.add_argument(
        "scenario", metavar="SCENARIO", nargs="+", help="name or TOML file; several run one after the other"
    )
    run.add_argument("--form", choices=scenario_file.FORMS, default="short", help="short (default) or long")
    run.add_argument(
        "--target", metavar="FILE", type=Path, help=".env of an installation, or TOML (a stack of its own)"
    )
    run.add_argument("--into", metavar="NAME", default="", help="simulate into this building, which is not the demo's")
    run.add_argument("--to", metavar="FOLDER", type=Path, default=Path("runs"), help="where run folders go (runs)")
    run.add_argument("--repeat", metavar="N", type=int, default=1, help="run N times, for compare (1)")
    run.add_argument("--workers", metavar="N", type=int, default=0, help="generator processes here (0: one for all)")
    run.add_argument("--expect", metavar="N", type=int, default=0, help="workers that join from elsewhere (0)")
    run.add_argument(
        "--bind", metavar="ADDRESS:PORT", default="127.0.0.1:5557", help="where workers join (%(default)s)"
    )
    run.add_argument("--page", metavar="PORT", type=int, default=0, help="Locust's live page on this port (off)")
    run.add_argument("--nice", metavar="N", type=int, default=0, help="the generator's priority, 19 is the lowest (0)")
    worker = actions.add_parser("worker", help="generate load for a coordinator elsewhere", allow_abbrev=False)
    worker.add_argument("coordinator", metavar="ADDRESS:PORT")
    worker.add_argument("--target", metavar="FILE", type=Path, required=True, help="the platform as reached from here")
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
    page = actions.add_parser("page", help="one page of Markdown of many runs", allow_abbrev=False)
    page.add_argument("run", metavar="RUN", type=Path, nargs="+")
    page.add_argument("--to", metavar="FILE", type=Path, required=True)


def main(options: argparse.Namespace) -> int:
    """Do what `simulator lab` was asked for; returns the exit code."""
    try:
        from simulator.lab import run as runs
        from simulator.lab import target as targets
    except ImportError as error:
        _log(f"simulator lab: {error.name} is missing: install sda-simulator[lab], or run make lab")
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
    for name, path in scenario_file.names().items():
        short, long = (scenario_file.load(path, form) for form in scenario_file.FORMS)
        _print(f"{name:<14} {short.planned_s:5.0f} s, {long.planned_s / 60:5.0f} min  {short.title}")
    return OK


def _run(options: argparse.Namespace) -> int:
    from simulator.lab import target as targets
    from simulator.lab.scratch import scratch_target

    wanted = list(scenario_file.names()) if options.scenario == [ALL] else options.scenario
    plans = [scenario_file.load(scenario_file.find(name), options.form) for name in wanted]
    given = targets.read(options.target) if options.target else None
    with contextlib.nullcontext((given, None)) if given else scratch_target({}, _log) as (target, order):
        codes = []
        for plan in [one for one in plans for _ in range(options.repeat)]:
            code, stopped = _run_one(plan, target, options, order)
            codes.append(code)
            if stopped:
                break
    return next((code for code in (UNREACHABLE, FAILED, VOID) if code in codes), OK)


def _run_one(plan: "Plan", target: "Target", options: argparse.Namespace, order: "Order | None") -> tuple[int, bool]:
    """The exit code, and whether the operator stopped the run."""
    from simulator.lab import report
    from simulator.lab import run as runs

    _log(f"{plan.scenario}: {plan.title}")
    folder = options.to / f"{plan.scenario}-{plan.form}-{time.strftime('%Y%m%d-%H%M%S')}"
    how = runs.Options(
        folder, options.workers, options.expect, options.bind, options.page, options.into, options.nice, order
    )
    try:
        summary = runs.run(plan, target, how, _log)
    except runs.RunError as error:
        _log(f"simulator lab: {plan.scenario}: {error}")
        return UNREACHABLE, False
    report.write(folder)
    _print(report.on_screen(summary, folder))
    return {"ok": OK, "failed": FAILED, "void": VOID}[summary["verdict"]], bool(summary["stopped"])


def _worker(options: argparse.Namespace) -> int:
    from simulator.lab import run as runs
    from simulator.lab import target as targets

    return runs.run_worker(targets.read(options.target), options.coordinator)


def _recount(options: argparse.Namespace) -> int:
    from simulator.lab import report
    from simulator.lab import run as runs
    from simulator.lab import target as targets

    summary = runs.recount(options.run, targets.read(options.target), _log, options.wait)
    report.write(options.run)
    _print(report.on_screen(summary, options.run))
    return {"ok": OK, "failed": FAILED, "void": VOID}[summary["verdict"]]


def _report(options: argparse.Namespace) -> int:
    from simulator.lab import report
    from simulator.lab import run as runs

    for folder in options.run:
        runs.recount(folder, None, _log)
        _print(str(report.write(folder)))
    return OK


def _compare(options: argparse.Namespace) -> int:
    from simulator.lab import compare

    before, after = (options.before, options.after) if options.after else (options.before[:-1], options.before[-1:])
    if not before or not after:
        raise ScenarioError("compare needs runs of before and of after: RUN … --after RUN …")
    text, regressions = compare.of_folders(before, after)
    _print(text)
    return FAILED if regressions else OK


def _page(options: argparse.Namespace) -> int:
    from simulator.lab import overview

    options.to.write_text(overview.of_folders(options.run), encoding="utf-8")
    _print(str(options.to))
    return OK


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the result


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress
