"""`make chaos ARGS=campus`: parts of a campus fail one after the other under load, and nothing acknowledged is lost.

Two sites with two InfluxDBs each, a cluster of three NATS nodes, HAProxy and two processes of the entry, on free ports.
Phones and gateways walk at each site. Each fault begins when all parts work again after the one before: nodes are
killed, frozen and cut off in each of their roles, then the other parts, then several at once. In the end each store of
each site must have exactly what the broker acknowledged there, and the history that an undisturbed locator makes of it.
A table in Markdown says how long each fault took. Needs root, for the partitions.
"""

import argparse
import gzip
import json
import math
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from chaos import history
from chaos.comparing import (
    Result,
    Window,
    add_history,
    compare_history,
    compare_readings,
    nearest,
    of_people,
    settled_history,
)
from chaos.load import Acked, Load, people_of, simulating, with_gateways
from running_campus import RunningCampus, idle_cpu, running_campus
from stack.install import print_line
from support import web
from support.running import RunningStack
from support.stack_client import eventually, now_ms

from .faults import FAULTS, ROLES, Chooser, Fault
from .figures import Hit, Poll, Pollers, fault_table, table

SITES = ("north", "south")
SHORT_PHONES, SHORT_GATEWAYS = 20, 4
INTERVAL_S = 1
WARM_UP_S, SETTLE_S = 30.0, 10.0
"""Before the first fault, and after each one that is over; what still comes then is put down to it."""
WHOLE_WITHIN_S, SETTLED_WITHIN_S = 600.0, 900.0
LAST_MS = 10_000
"""The last so many milliseconds of histories are not compared: they end when people are lost."""
SHOWN, LOG_LINES = 5, 40


@dataclass(frozen=True, slots=True)
class Found:
    """All that a run has seen."""

    hits: list[Hit]
    polls: list[Poll]
    acked: dict[str, list[Acked]]
    summaries: dict[str, dict[str, Any]]
    results: dict[str, Result]
    """By site and store."""
    chooser: Chooser
    loads: list[float]
    """The machine's load at each fault."""


def main(arguments: Sequence[str]) -> int:
    """Run it, print and write the tables; exit code 1 if anything was lost or wrong."""
    options = _options(arguments)
    if options.list:
        print_line("\n".join(fault.name for fault in FAULTS))
        return 0
    if os.geteuid() != 0 and any("cut off" in fault.name for fault in options.faults):
        print_line("partitions need root: run this as root, or choose other faults (--faults, --list)")
        return 2
    folder = (options.to or Path(tempfile.mkdtemp(prefix=f"sda-chaos-campus-{options.seed}-"))).resolve()
    started_s = time.monotonic()
    print_line(f"seed {options.seed}: {len(options.faults) * options.rounds} faults; all that is seen: {folder}")

    def report(line: str) -> None:
        print_line(f"{time.monotonic() - started_s:6.0f} s  {line}")

    buildings = {site: folder / site / "building.json" for site in SITES}
    staff = [with_gateways(file, options.gateways) for file in buildings.values()]
    people = people_of(staff[0], options.phones)
    with running_campus(_campus_toml(buildings)) as campus:
        if options.idle:
            for name, share in idle_cpu(campus, options.idle).items():
                report(f"{name} idle: {100 * share:.1f} % of a core")
        found = _run(campus, options, people, folder, report)
        problems = {f"{where}: {what}": lines for where, result in found.results.items()
                    for what, lines in result.problems.items()}  # fmt: skip
        for name in campus.nodes if problems else ():
            print_line(f"--- log of {name}\n{campus.log(name, LOG_LINES)}")
        _keep_logs(campus, folder)
    text = _tables(found, options)
    (folder / "table.md").write_text(f"{text}\n")
    (folder / "faults.json").write_text(json.dumps([asdict(one) for one in found.hits], indent=1))
    (folder / "polls.jsonl").write_text("".join(json.dumps(asdict(one)) + "\n" for one in found.polls))
    (folder / "problems.json").write_text(json.dumps(problems, indent=1))
    print_line(text)
    for what, lines in problems.items():
        print_line("\n".join([f"{what}: {len(lines)}", *(f"  {line[:600]}" for line in lines[:SHOWN])]))
    print_line(f"{'FAILED' if problems else 'nothing was lost'}; all that was seen: {folder}")
    return 1 if problems else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make chaos ARGS=campus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--phones", type=int, default=150, help="at each site (%(default)s)")
    add("--gateways", type=int, default=20, help="at each site, 113 at most (%(default)s)")
    add("--short", action="store_true", help=f"{SHORT_PHONES} phones and {SHORT_GATEWAYS} gateways at each site")
    add("--rounds", type=int, default=1, help="how often all faults are gone through (%(default)s)")
    add("--minutes", type=float, help="begin no fault after so long, but the last one (no limit)")
    add("--faults", metavar="TEXT", nargs="+", help="only those whose names contain one of these; --list: their names")
    add("--list", action="store_true", help="print the names of all faults")
    add("--idle", type=float, default=0, metavar="S", help="measure the idle nodes first, for so long (%(default)s)")
    add("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="of the walks (a new one each time)")
    add("--to", type=Path, metavar="FOLDER", help="for all that was seen (a new one in the temporary folder)")
    options = parser.parse_args(arguments)
    if options.short:
        options.phones, options.gateways = SHORT_PHONES, SHORT_GATEWAYS
    wanted = options.faults or [""]
    options.faults = [fault for fault in FAULTS if any(text in fault.name for text in wanted)]
    if not options.faults:
        parser.error("no fault has such a name; --list prints all")
    return options


def _campus_toml(buildings: dict[str, Path]) -> str:
    sites = [
        f'[[sites]]\nname = "{name}"\nbuilding = "{file}"\ndemo = true\nstores = 2' for name, file in buildings.items()
    ]
    return "\n".join(["[broker]", *sites])


def _run(
    campus: RunningCampus, options: argparse.Namespace, people: list[str], folder: Path, report: Callable[[str], None]
) -> Found:
    """Load and faults; then compare."""
    chooser, hits, loads_of_machine = Chooser(campus), list[Hit](), list[float]()
    eventually(lambda: _is_whole(campus), WHOLE_WITHIN_S, "the campus")
    since_ms = now_ms() // 1000 * 1000 - 1000
    with ExitStack() as running:
        loads = {site: running.enter_context(_load(stack, options.seed + number, len(people), folder / site))
                 for number, (site, stack) in enumerate(campus.sites.items())}  # fmt: skip
        with Pollers(campus.url) as pollers:
            time.sleep(WARM_UP_S)
            sure_ms = now_ms()
            stuck = _inflict_all(campus, options, chooser, hits, loads_of_machine, report)
        summaries = {site: load.stop() for site, load in loads.items()}
        acked = {site: load.acked() for site, load in loads.items()}
    report("load has ended; comparing")
    results: dict[str, Result] = {}
    for site, stack in campus.sites.items():
        window = Window(sure_ms, max(one.ts_ms for one in acked[site]) - LAST_MS)
        results |= _compare(site, stack, since_ms, window, people, acked[site], folder / site, report)
    if stuck:
        next(iter(results.values())).blame("the campus did not work again", [stuck], *campus.nodes)
    return Found(hits, pollers.polls, acked, summaries, results, chooser, loads_of_machine)


def _inflict_all(
    campus: RunningCampus,
    options: argparse.Namespace,
    chooser: Chooser,
    hits: list[Hit],
    loads: list[float],
    report: Callable[[str], None],
) -> str:
    """One fault after the other, until one is not overcome: then why."""
    last_s = time.monotonic() + 60 * (options.minutes or math.inf)
    planned = options.faults * options.rounds
    for number, fault in enumerate(planned, 1):
        if time.monotonic() > last_s and number < len(planned):
            continue
        loads.append(os.getloadavg()[0])
        try:
            _inflict(campus, fault, chooser, hits, report)
        except AssertionError as error:
            report(str(error))
            return str(error)
    return ""


def _load(stack: RunningStack, seed: int, people: int, folder: Path) -> AbstractContextManager[Load]:
    """Receivers that send nothing again that was acknowledged: the broker alone must keep it."""
    arguments = ["mixed", "-n", str(people), "--seed", str(seed), "--interval", str(INTERVAL_S)]
    return simulating(stack, arguments, None, folder, replay_s=0)


def _inflict(
    campus: RunningCampus, fault: Fault, chooser: Chooser, hits: list[Hit], report: Callable[[str], None]
) -> None:
    """Cause a fault, end it, and wait until all parts work again."""
    parts = [chooser.part(target) for target in fault.targets]
    before = {part: part.pid for part in parts}
    hit = Hit(fault.name, [part.description for part in parts], time.time())
    hits.append(hit)
    with ExitStack() as ends:
        for part in parts:
            ends.enter_context(fault.cause(campus, part))
        time.sleep(fault.lasts_s)
    hit.ended_s = time.time()
    stays = fault.lasts_s > 0

    def whole() -> bool:
        return all(part.runs and (stays or part.pid != before[part]) for part in parts) and _is_whole(campus)

    try:
        eventually(whole, WHOLE_WITHIN_S, f"all to work again after {fault.name}: {', '.join(hit.parts)}")
        hit.whole_s = time.time()
        report(f"{fault.name}: {', '.join(hit.parts)}; whole again after {hit.whole_s - hit.at_s:.0f} s")
        time.sleep(SETTLE_S)
    finally:
        hit.until_s = time.time()


def _is_whole(campus: RunningCampus) -> bool:
    """Whether all nodes have everything, and the entry reaches all sites."""
    if not all(campus.is_whole(site) for site in campus.sites):
        return False
    try:
        health = web.get(f"{campus.url}/health", retry_503=False, timeout=5).json()
    except (httpx.TransportError, ValueError):
        return False
    return all(site["status"] == "up" for site in health["sites"].values())


def _compare(
    site: str,
    stack: RunningStack,
    since_ms: int,
    window: Window,
    people: list[str],
    acked: list[Acked],
    folder: Path,
    report: Callable[[str], None],
) -> dict[str, Result]:
    """Compare each store of a site with what was acknowledged, and with what an undisturbed locator makes of that.

    When a gateway went offline is when a last will came, which is another time in each store and in the flows; and a
    gateway's silence counts for people with tags only while it is online. So these people's history is compared after
    `make rebuild`, which goes by the states in one of the stores, as an undisturbed locator does here.
    """
    to_ms = window.to_ms + LAST_MS + history.LEFT_MS
    stores = stack.settings.stores
    results = {f"{site}, store {store.number}": Result() for store in stores}
    settled = partial(stack.is_settled, max(one.ts_ms for one in acked))

    def expect(what: str, step: Callable[[], object]) -> None:
        """Go on all the same where it fails: then too the table says what was counted."""
        try:
            step()
            report(f"{site}: {what}")
        except AssertionError as error:
            next(iter(results.values())).blame(f"not so: {what}", [str(error)], "node-red")

    expect("all is located", partial(eventually, settled, SETTLED_WITHIN_S, "all to be located"))
    readings = [compare_readings(stack, since_ms - 60_000, to_ms, None, acked, result, store)
                for store, result in zip(stores, results.values(), strict=True)]  # fmt: skip
    # Also of gateways that heard nobody: that one who is online hears nothing says where people are not.
    states = [history.gateway_states(stack, since_ms, window.to_ms + LAST_MS, None, store) for store in stores]
    references = [history.undisturbed(readings[0], one, stack.building) for one in states]
    _keep(folder / "stored.json.gz", {"readings": readings, "states": states})
    report(f"{site}: readings are compared, an undisturbed locator has heard them")
    everybody, with_phones = set(people), {one.receiver for one in acked} & set(people)

    def compare(staff: set[str], which: str, *, strict: bool) -> None:
        ours = [of_people(one, staff) for one in references]
        for store, result in zip(stores, results.values(), strict=True):
            if strict:
                stored = settled_history(stack, since_ms, to_ms, sorted(staff), ours, window, store)
            else:
                stored = history.stored_history(stack, since_ms, to_ms, staff, store)
            (compare_history if strict else add_history)(stored, nearest(stored, ours), window, result, which)
            seen = {"locations": sorted(stored.locations), "stays": sorted(stored.stays)}
            _keep(folder / f"{which.replace(' ', '-')}-{store.number}.json.gz", seen)
            report(f"{site}, store {store.number}: {which} compared")

    compare(with_phones, "people with phones", strict=True)
    compare(everybody - with_phones, "people with tags", strict=False)
    expect("make rebuild has ended", partial(stack.command, "rebuild", str(since_ms / 1000)))
    expect("what it found is stored", partial(eventually, settled, SETTLED_WITHIN_S, "all to be stored"))
    compare(everybody, "after a rebuild", strict=True)
    return results


def _keep(file: Path, seen: object) -> None:
    with gzip.open(file, "wt") as lines:
        json.dump(seen, lines)


def _tables(found: Found, options: argparse.Namespace) -> str:
    """What was found, in Markdown."""
    batches = sum(one["acknowledged"] for one in found.summaries.values())
    failed = sum(one["failed"] for one in found.summaries.values())
    seconds = found.hits[-1].until_s - found.hits[0].at_s
    planned = len(options.faults) * options.rounds
    machine = f"{os.cpu_count()} cores, load {min(found.loads):.0f} to {max(found.loads):.0f}"
    head = (f"{datetime.now(UTC):%Y-%m-%d}, {machine}; two sites with {options.phones} phones and {options.gateways} "
            f"gateways each, seed {options.seed}, {len(found.hits)} of {planned} faults in {seconds:.0f} s; "
            f"{batches:,} batches acknowledged, {failed:,} not.")  # fmt: skip
    figures = list(next(iter(found.results.values())).figures)
    ends = table(["in the end", *found.results],
                 [[name, *(one.figures[name] for one in found.results.values())] for name in figures])  # fmt: skip
    nodes = found.chooser.campus.nodes
    roles = table(["node hit as", *nodes],
                  [[role, *(str(found.chooser.hits[role, node]) for node in nodes)] for role in ROLES])  # fmt: skip
    return "\n\n".join([head, fault_table(found.hits, found.acked, found.polls), ends, roles])


def _keep_logs(campus: RunningCampus, folder: Path) -> None:
    for logs in campus.folder.glob("*/logs"):
        shutil.copytree(logs, folder / "logs" / logs.parent.name, dirs_exist_ok=True)
    for name, stack in campus.sites.items():
        shutil.copytree(stack.data_dir / "logs", folder / "logs" / name, dirs_exist_ok=True)
