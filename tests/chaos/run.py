"""One chaos run on a running stack, and what it found."""

import json
import shutil
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from support import web
from support.running import RunningStack
from support.stack_client import eventually, now_ms

from . import answers, asking, history
from .comparing import Result, Window, compare_history, compare_readings, settled_history
from .faults import SERVICES, Done, Fault, Injector
from .known import Known
from .load import Acked, simulating

IDLE_WITHIN_S = 900.0
SHOWN = 5
"""Differences of a kind that are shown; all of them are in the folder."""
SETTLE_S, SETTLE_SHARE = 60.0, 0.2
"""So long after its start, and for so much of it at most, a run is not compared: a locator that hears its first
readings depends on the order in which hundreds of receivers connect."""
LAST_MS = 10_000
"""In a run that does not go on until everybody is lost its last so many milliseconds are not compared."""
ANSWER_WITHIN_S = 60.0
LACKS_MS = 30_000
"""What is newer may still be on its way."""
OVERDUE_S = {"is still on its way": 75.0, "is being located again": 630.0, "": 630.0}
"""`/health` may be `up` for so long while coverage lacks something for that reason (flows/lib/past/coverage.js)."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """`simulator`: its command and options; `staff`: who is located; `alone`: nobody else is; then the run also waits
    until all of them are lost."""

    seed: int
    simulator: list[str]
    seconds: float
    faults: list[Fault]
    staff: Sequence[str]
    alone: bool


def run(stack: RunningStack, scenario: Scenario, folder: Path, report: Callable[[str], None]) -> Result:
    """Load, faults and questions at the same time; then wait until all is located, and compare."""
    since_ms = now_ms() // 1000 * 1000 - 1000
    sure_ms = since_ms + round(min(SETTLE_S, SETTLE_SHARE * scenario.seconds) * 1000)
    asker = asking.Asker(stack, scenario.seed, sure_ms, folder, alone=scenario.alone)
    injector = Injector(stack, scenario.faults, report)
    with simulating(stack, scenario.simulator, scenario.seconds, folder) as load:
        injector.start()
        asker.start(scenario.staff)
        summary = load.finish()
        ended_ms = now_ms()
        report(f"load has ended: {summary['acknowledged']} batches acknowledged, {summary['failed']} not")
        injector.join()
        acked = load.acked()
    result = Result()
    receivers = {one.receiver for one in acked}
    last_ms = max(one.ts_ms for one in acked)
    to_ms = last_ms + history.LEFT_MS
    try:
        eventually(stack.is_caught_up, IDLE_WITHIN_S, "all to be located")
        eventually(lambda: _is_complete(asker, ended_ms), IDLE_WITHIN_S, "all to be complete")
    except AssertionError as error:
        result.blame("not everything was located", [str(error)], "node-red")
    report("everything is located; comparing")
    readings = compare_readings(stack, since_ms - 60_000, to_ms, receivers, acked, result)
    states = history.gateway_states(stack, since_ms, last_ms, receivers)
    expected = history.undisturbed(readings, states, stack.building)
    sure = Window(sure_ms, to_ms if scenario.alone else last_ms - LAST_MS)
    stored = settled_history(stack, since_ms, to_ms, scenario.staff, [expected], sure)
    asker.stop()
    compare_history(stored, expected, sure, result)
    _compare_answers(stack, asker, Known(readings, acked, _owners(stack.building)), result)
    _check_health(asker.polls, result)
    _add_recovery(injector.done, asker.polls, result)
    _add_figures(scenario, summary, acked, readings, expected, asker, injector.done, result)
    _write(folder, scenario, asker, injector.done, result, stack)
    return result


def _owners(building: Path) -> dict[str, str]:
    """Who carries each tag."""
    staff = json.loads(building.read_text())["staff"]
    return {tag: one["id"] for one in staff for tag in one.get("tags", [])}


def _is_complete(asker: asking.Asker, ended_ms: int) -> bool:
    last = asker.polls[-1] if asker.polls else None
    return last is not None and last.until_ms is not None and last.until_ms >= ended_ms and last.health == "up"


def _compare_answers(
    stack: RunningStack,
    asker: asking.Asker,
    known: Known,
    result: Result,
) -> None:
    """Every answer that was given must be that of the end, but for what nobody could know by then."""
    found: list[str] = []
    compared = 0
    with web.Client(base_url=stack.http_url, timeout=asking.TIMEOUT_S, retry_503=False) as client:
        for then in asker.kept_answers():
            question = then.question
            whole_ms = min(answers.complete_until(then.body), question.to_ms)
            until_ms = min(whole_ms, known.until(question.staff, question.to_ms, then.asked_ms))
            if until_ms <= question.from_ms or (question.route == "patrols" and until_ms < question.to_ms):
                continue
            end = asking.eventually_asked(client, question, within_s=ANSWER_WITHIN_S)
            if end.status != httpx.codes.OK:
                found.append(f"{question.path} {question.params}: {end.status} in the end")
                break
            differ = answers.differences(question.route, then.body, end.body, question.from_ms, until_ms)
            compared += 1
            if differ:
                age_s = (then.asked_ms - question.to_ms) / 1000
                about = f"{question.path} {question.params}, asked at {then.asked_ms}, {age_s:.0f} s after its end"
                found.append(f"{about}: {len(differ)} differ; {'; '.join(differ[:SHOWN])}")
    result.blame("answers with 200 were not whole", found, "node-red")
    result.figures["answers with 200 that were compared"] = f"{compared:,}"


def _check_health(polls: list[asking.Poll], result: Result) -> None:
    """How long /health was up while the past was not complete, without a break."""
    found: list[str] = []
    longest_s = 0.0
    since: dict[str, int] = {}
    for poll in polls:
        lacks = poll.until_ms is None or poll.until_ms < poll.at_ms - LACKS_MS
        kind = next((one for one in OVERDUE_S if one and one in poll.reason), "")
        if not lacks or poll.health != "up" or kind not in since:
            since.clear()
        if lacks and poll.health == "up":
            up_s = (poll.at_ms - since.setdefault(kind, poll.at_ms)) / 1000
            longest_s = max(longest_s, up_s)
            if up_s > OVERDUE_S[kind]:
                found.append(f"at {poll.at_ms}: up for {up_s:.0f} s, although: {poll.reason or 'it is not complete'}")
    result.blame("/health was up while something was unfinished beyond its bound", found[:SHOWN], "node-red")
    result.figures["longest time that /health was up while coverage lacked something"] = f"{longest_s:.1f} s"


def _add_recovery(done: list[Done], polls: list[asking.Poll], result: Result) -> None:
    """When everything up to the end of each fault was complete."""
    for one in done:
        if one.back_ms is None:
            continue
        back_ms = one.back_ms
        whole = (poll for poll in polls if poll.until_ms is not None and poll.until_ms >= back_ms)
        one.complete_ms = next((poll.at_ms for poll in whole), None)
    for service in SERVICES:
        took = [
            (one.complete_ms - one.at_ms) / 1000 for one in done if one.fault.service == service and one.complete_ms
        ]
        result.figures[f"complete again after {service}"] = quantiles(took)
    took = [(one.complete_ms - one.at_ms) / 1000 for one in done if one.complete_ms]
    result.figures["complete again after any fault"] = quantiles(took)
    never = [str(one.fault) for one in done if not one.complete_ms]
    result.blame("was never complete again", never, "node-red")


def quantiles(seconds: list[float]) -> str:
    """Median, p99 and worst in words."""
    if not seconds:
        return "-"
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]
    return f"{len(ordered)} times: median {statistics.median(ordered):.1f}, p99 {p99:.1f}, worst {ordered[-1]:.1f} s"


def _add_figures(
    scenario: Scenario,
    summary: dict[str, Any],
    acked: list[Acked],
    readings: list[history.Reading],
    expected: history.History,
    asker: asking.Asker,
    done: list[Done],
    result: Result,
) -> None:
    kinds = Counter(one.kind for one in {one.receiver: one for one in acked}.values())
    kills = Counter(f"{one.fault.service} {'frozen' if one.fault.frozen_s else 'killed'}" for one in done)
    asked = Counter(status for (_, status), count in asker.counts.items() for _ in range(count))
    result.figures = {
        "seed": str(scenario.seed),
        "seconds": f"{scenario.seconds:g}",
        "receivers": ", ".join(f"{count} {kind}s" for kind, count in sorted(kinds.items())),
        "faults": ", ".join(f"{what} {count} times" for what, count in sorted(kills.items())),
        "batches acknowledged, failed": f"{summary['acknowledged']:,}, {summary['failed']:,}",
        "questions by status": ", ".join(
            f"{status or 'no answer'}: {count:,}" for status, count in sorted(asked.items())
        ),
        **result.figures,
    }
    if not readings or not expected.locations:
        result.blame("nothing was compared", ["there are no readings or no locations"], "telegraf")


def _write(
    folder: Path,
    scenario: Scenario,
    asker: asking.Asker,
    done: list[Done],
    result: Result,
    stack: RunningStack,
) -> None:
    """All of it as files."""
    faults = [
        {"what": str(one.fault), "at_ms": one.at_ms, "back_ms": one.back_ms, "complete_ms": one.complete_ms}
        for one in done
    ]
    polls = [
        {"at_ms": one.at_ms, "until_ms": one.until_ms, "reason": one.reason, "health": one.health,
         "rebuild": one.rebuild, "unwell": one.unwell}
        for one in asker.polls
    ]  # fmt: skip
    (folder / "faults.json").write_text(json.dumps(faults, indent=1))
    (folder / "coverage.jsonl").write_text("".join(json.dumps(one) + "\n" for one in polls))
    (folder / "problems.json").write_text(json.dumps(result.problems, indent=1))
    (folder / "figures.json").write_text(json.dumps({"seed": scenario.seed} | result.figures, indent=1))
    shutil.copytree(stack.data_dir / "logs", folder / "logs", dirs_exist_ok=True)
