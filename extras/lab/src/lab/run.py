"""Runs one scenario: prepares the target, starts the generator, watches, counts, and leaves a run folder."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import requests
from gateway_agent.text_file import read_text
from simulator.settings import SettingsError

from lab import accuracy, calls, logins, resources, samples, seeding, stored, summary
from lab import verdict as verdicts
from lab.plan import Plan, from_json, receivers_of
from lab.scratch import Order
from lab.side_loads import TRUTH, SideLoads
from lab.target import Target, TargetError

PEOPLE = "(simulated people, all receivers)"
SLACK_MS = 5000
"""After the run, when its readings are counted: clocks of receivers may be ahead."""
NEXT_WORKER_S = 2.0
"""A coordinator that ends has let go of its port by then."""
BUILDING_TIMEOUT_S = 10


LIVE_LAG = "live-lag.json"
DEMO_BUILDING = "Harbour House"


class RunError(Exception):
    """The run could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is made."""

    folder: Path
    workers: int = 0
    """Processes of the generator on this machine; 0: one, which leads itself."""
    expect: int = 0
    """Workers that join from elsewhere (`simulator lab worker`)."""
    bind: str = "127.0.0.1:5557"
    page_port: int = 0
    into: str = ""
    """Name of the building into which people may be simulated, if it is not the demo's."""
    nice: int = 0
    """Priority of the generator: below 0 on a machine that others use too, 19 to starve it."""
    order: Order | None = None
    """Stops and starts parts, of a stack of the run's own."""


def run(plan: Plan, target: Target, options: Options, log: Callable[[str], None]) -> dict[str, Any]:
    """Make the run; returns its summary, which is also in the folder. Raises RunError, TargetError."""
    building = _building(target)
    _check_building(building, target, options.into)
    if _changes_building(plan) and not target.scratch:
        raise TargetError(f"{plan.scenario} changes the building: it runs on a stack of its own only, without --target")
    site = calls.site_of(building, seeding.past_end_s(time.time()))
    own = "" if target.accounts else f"{time.time_ns() // 1_000_000 % 36**5:05x}"
    _check_logins(plan, target, replace(site, run=own))
    if plan.seed.staff or plan.seed.telemetry_days or plan.seed.events:
        if not target.influx_write_token:
            raise TargetError(
                "this scenario stores history first: give INFLUX_ADMIN_TOKEN and influx_url of the target"
            )
        log(f"stored {seeding.seed(target, site, plan.seed):,} points of history")
    places = [list(one) for one in site.places]
    facts = {"places": places, "past_end_s": site.past_end_s, "building": site.building, "run": own}
    plan = replace(plan, building=facts)
    options.folder.mkdir(parents=True)
    environment = {
        "target": target.shown, "versions": dict(target.versions), "machine": resources.machine(),
        "building": building.get("building", ""), "started_ms": time.time_ns() // 1_000_000,
    }  # fmt: skip
    (options.folder / "plan.json").write_text(json.dumps(plan.to_json(), indent=1))
    (options.folder / "environment.json").write_text(json.dumps(environment, indent=1))
    side_loads = SideLoads(plan, target, options.folder, options.order, log)
    with _generators(plan, target, options) as processes:
        pids = [one.pid for one in processes]
        with resources.Sampler(options.folder / "resources.csv", target.parts, lambda: pids + side_loads.pids):
            code = _watch(processes, side_loads, log)
            side_loads.wait()
    (options.folder / "people.json").write_text(json.dumps(side_loads.people, indent=1))
    if code or not (options.folder / "generator.json").exists():
        raise RunError(f"the generator ended with code {code}; the lines above say why. Its folder: {options.folder}")
    environment["ended_ms"] = time.time_ns() // 1_000_000
    (options.folder / "environment.json").write_text(json.dumps(environment, indent=1))
    return recount(options.folder, target, log)


def recount(
    folder: Path, target: Target | None, log: Callable[[str], None], settled_after_s: float = stored.SETTLED_AFTER_S
) -> dict[str, Any]:
    """Count what the platform stored of a run, and write its summary (again). Without a target the old count stays."""
    plan = from_json(json.loads(_read(folder, "plan.json")))
    environment = json.loads(_read(folder, "environment.json"))
    generator = json.loads(_read(folder, "generator.json"))
    found = list(samples.read(folder))
    if target is None:
        counts = json.loads(_read(folder, "summary.json"))["counts"]
    else:
        counts = _count(
            found, target, environment, json.loads((folder / "people.json").read_text()), log, settled_after_s
        )
        _keep_live_lag(folder, target, environment)
        _judge_people(folder, target, plan)
    environment["accuracy"] = json.loads(path.read_text()) if (path := folder / "accuracy.json").exists() else []
    live_lag = json.loads(path.read_text()) if (path := folder / LIVE_LAG).exists() else []
    made = summary.summarise(plan, found, generator, resources.read(folder / "resources.csv"), counts, environment,
                             live_lag)  # fmt: skip
    (folder / "summary.json").write_text(json.dumps(made, indent=1))
    return made


def _read(folder: Path, name: str) -> str:
    path = folder / name
    if not path.exists():
        raise RunError(f"{folder} is no folder of a run that came to its end: {name} is missing; make the run again")
    return path.read_text(encoding="utf-8")


def _count(
    found: list[samples.Sample],
    target: Target,
    environment: Mapping[str, Any],
    people: list[dict[str, Any]],
    log: Callable[[str], None],
    settled_after_s: float,
) -> dict[str, Any]:
    sent, unknown = summary.expected(found)
    if played := [one for one in people if "readings" in one]:
        sent[PEOPLE] = sum(one["readings_acknowledged"] for one in played)
        unknown[PEOPLE] = sum(one["readings"] for one in played) - sent[PEOPLE]

    def count() -> dict[str, int]:
        there = stored.readings_by_receiver(target, start_ms, stop_ms)
        own = {receiver: number for receiver, number in there.items() if receiver.startswith(calls.PREFIX)}
        return own | {PEOPLE: sum(there.values()) - sum(own.values())} if played else own

    none = {"counted": False, "expected": sum(sent.values()), "unknown": sum(unknown.values()), "stored": 0,
            "receivers": len(sent), "differences": [], "after_s": 0.0}  # fmt: skip
    if not sent and not unknown:
        return {**none, "why": "nothing that is stored was sent"}
    if not target.influx_token or not target.influx_url:
        return {**none, "why": "no influx_url and INFLUX_READ_TOKEN of the target"}
    start_ms, stop_ms = environment["started_ms"], environment["ended_ms"] + SLACK_MS
    there, after_s = stored.settled(count, sent, log, settled_after_s)
    differ = verdicts.differences(sent, unknown, there)
    shown = [
        {"receiver": one.receiver, "sent": one.sent, "unknown": one.unknown, "stored": one.stored} for one in differ
    ]
    return {**none, "counted": True, "stored": sum(there.values()), "differences": shown, "after_s": round(after_s, 1)}


def _keep_live_lag(folder: Path, target: Target, environment: Mapping[str, Any]) -> None:
    if target.influx_token and target.influx_url:
        found = stored.live_lag(target, environment["started_ms"], environment["ended_ms"])
        (folder / LIVE_LAG).write_text(json.dumps(found))


def _judge_people(folder: Path, target: Target, plan: Plan) -> None:
    """Compare where the platform says that simulated people were with where they truly were."""
    people = json.loads((folder / "people.json").read_text())
    names = {
        room["id"]: room["name"] for level in json.loads(plan.building["building"])["levels"] for room in level["rooms"]
    }
    rows = []
    for one in people:
        truth = accuracy.read_truth(folder / f"step-{one['step']}.{TRUTH}")
        courses = {
            who: [(ts, level, names.get(room, "")) for ts, level, room in course] for who, course in truth.items()
        }
        windows = {who: accuracy.window(course) for who, course in courses.items()}
        said = {who: _said(target, who, start, end) for who, (start, end) in windows.items() if start <= end}
        rows.append({"step": plan.steps[one["step"]].name, "who": one["who"], **asdict(accuracy.judge(courses, said))})
    (folder / "accuracy.json").write_text(json.dumps(rows, indent=1))


def _said(target: Target, who: str, start: int, end: int) -> list[tuple[int, str, str]]:
    answer = requests.get(
        f"{target.url}/extractbeacon",
        params={"staff_id": who, "start_time": str(start), "end_time": str(end)},
        headers={"X-API-Key": target.key},
        timeout=60,
        verify=target.ca or True,
    )
    answer.raise_for_status()
    return [(one["timestamp"], one["level"], one["location"]) for one in answer.json()["location"]]


def _building(target: Target) -> dict[str, Any]:
    if target.building_file:
        found: dict[str, Any] = json.loads(read_text(Path(target.building_file)))
        return found
    try:
        answer = requests.get(
            f"{target.url}/api/v1/building", headers={"X-API-Key": target.key}, timeout=BUILDING_TIMEOUT_S,
            verify=target.ca or True,
        )  # fmt: skip
        answer.raise_for_status()
        found = answer.json()
    except (requests.RequestException, ValueError) as error:
        raise TargetError(f"{target.url}/api/v1/building does not answer: {error}") from error
    return found.get("building", found) if isinstance(found.get("building"), dict) else found


def _changes_building(plan: Plan) -> bool:
    loads = [load for step in plan.steps for load in step.loads]
    return any(load.kind == "switches" or "edit" in (load.call, *load.mix) for load in loads)


def _check_building(building: Mapping[str, Any], target: Target, into: str) -> None:
    """Nobody is simulated into a building that is not the demo's, unless it is named."""
    name = str(building.get("building", ""))
    if not target.scratch and name not in (DEMO_BUILDING, into):
        raise TargetError(
            f"the building there is {name!r}, not the demo's: simulated people would be in it. "
            f"If that is what you want: --into {name!r}"
        )


def _check_logins(plan: Plan, target: Target, site: calls.Site) -> None:
    """Before history is stored and workers come: whether all receivers can log in. Raises TargetError."""
    try:
        accounts = logins.accounts_of(target)
    except SettingsError as error:
        raise TargetError(str(error)) from error
    receivers = [f"{site.senders}{number}" for number in range(receivers_of(plan))]
    if fault := logins.fault(receivers, target, accounts):
        raise TargetError(fault)


@contextmanager
def _generators(plan: Plan, target: Target, options: Options) -> Iterator[list[subprocess.Popen[str]]]:
    """The generator's processes, the leading one first."""
    workers = options.workers + options.expect
    role = "coordinator" if workers else "local"
    first = {"role": role, "plan": plan.to_json(), "target": target.to_json(), "folder": str(options.folder),
             "workers": workers, "bind": options.bind, "page_port": options.page_port}  # fmt: skip
    if role == "coordinator":
        first["target"] = {}  # workers have their own
    processes = [_start(first, options.nice, output=subprocess.PIPE)]
    try:
        own = worker_config(target, reached(options.bind))
        processes.extend(_start(own, options.nice) for _ in range(options.workers))
        yield processes
    finally:
        for one in processes:
            if one.poll() is None:
                one.kill()
            one.wait()
            _release(one)


def reached(bind: str) -> str:
    """Where workers of this machine reach what listens at an address."""
    host, _, port = bind.rpartition(":")
    return f"{'127.0.0.1' if host in ('', '*', '0.0.0.0') else host}:{port}"  # noqa: S104 - compared, not bound


def worker_config(target: Target, coordinator: str) -> dict[str, Any]:
    """What a worker gets on its standard input."""
    return {"role": "worker", "target": target.to_json(), "coordinator": coordinator}


def _start(config: Mapping[str, Any], nice: int, output: int | None = None) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [*(["nice", "-n", str(nice)] if nice else []), sys.executable, "-m", "lab.generator"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=output, text=True, env=environment, start_new_session=True
    )
    assert process.stdin  # noqa: S101 - of PIPE
    process.stdin.write(json.dumps(config) + "\n")
    process.stdin.flush()  # and it stays open: its end is the end of the process
    return process


def _release(process: "subprocess.Popen[str]") -> None:
    assert process.stdin  # noqa: S101 - of PIPE
    process.stdin.close()


def run_worker(target: Target, coordinator: str, log: Callable[[str], None], *, again: bool = False) -> int:
    """One worker for a coordinator elsewhere, until the run is over. Returns 0 when it came to its end.

    Args:
        again: another worker follows each, for the next run, until the operator stops it.
    """
    while True:
        log(f"waiting for the coordinator at {coordinator}, for 5 minutes at most")
        process = _start(worker_config(target, coordinator), 0)
        try:
            code = process.wait()
            _release(process)
            if code == 0:
                log("the run is over; its report is on the coordinator's machine")
            if not again:
                return code
            time.sleep(NEXT_WORKER_S)
        except KeyboardInterrupt:
            _release(process)
            process.wait()
            raise RunError("this worker was stopped; a run in which it was is void") from None


def _watch(processes: list["subprocess.Popen[str]"], side_loads: SideLoads, log: Callable[[str], None]) -> int:
    """Wait for the leading process; the operator's signal goes on to it."""
    leading = processes[0]

    def stop(*_: object) -> None:
        log("stopping: open answers are waited for, then everything is counted")
        leading.send_signal(signal.SIGINT)
        side_loads.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        assert leading.stdout  # noqa: S101 - of PIPE
        side_loads.follow(leading.stdout)
        code = leading.wait()
        for one in processes[1:]:
            with _ignored(subprocess.TimeoutExpired):
                one.wait(10)
        return code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _ignored(kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind:
        return
