"""One page of many runs: the method, and each scenario with their results beside ours. Pure but for files."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.lab import tables
from simulator.lab.document import Block, Heading, Notice, Paragraph, Table, markdown
from simulator.lab.report import LATENESS, SHARED, TERMS

TITLE = "Load tests: theirs and ours"
ABOUT = (
    "Five earlier systems of this kind published load tests. The load laboratory (`make lab`) makes each again on this "
    "platform, and some of our own. This page is made from run folders by `simulator lab page`; nothing is typed by "
    "hand. Their machines were others: a row shows the load and both results, no ratio of machines."
)
NOT_MEASURED = (
    "Not measured here: networks between receivers and the platform, other machines than the one named, runs of over "
    "an hour, delays put between parts of the stack. Messages of *theirs* that went to a panel or a store are batches "
    "of readings here."
)


def of_folders(folders: Sequence[Path]) -> str:
    """The page of the newest valid run of each scenario and form among these folders, as Markdown."""
    newest: dict[tuple[str, str], Mapping[str, Any]] = {}
    for folder in folders:
        one = json.loads((folder / "summary.json").read_text())
        key = (one["scenario"], one["form"])
        if key not in newest or _rank(newest[key]) < _rank(one):
            newest[key] = one
    runs = [newest[key] for key in sorted(newest)]
    blocks: list[Block] = [Paragraph(ABOUT), Heading("Method"), Paragraph(TERMS), Paragraph(LATENESS)]
    blocks += [Paragraph(NOT_MEASURED), *_machines(runs), Heading("All runs"), _overview(runs)]
    for run in runs:
        blocks += _section(run)
    return markdown(TITLE, blocks)


def _machines(runs: Sequence[Mapping[str, Any]]) -> list[Block]:
    machines = {(one["machine"]["cores"], one["machine"]["cpu"], one["machine"]["memory_mib"]) for one in runs}
    said = "; ".join(f"{cores} cores, {cpu}, {mib:,} MiB" for cores, cpu, mib in sorted(machines))
    return [
        Paragraph(f"Machine: {said}. Generator and all parts share it; what other programs used stands in each row.")
    ]


def _rank(run: Mapping[str, Any]) -> tuple[bool, int]:
    """A valid run goes before a void one, a newer one before an older one."""
    return run["verdict"] != "void", run["started_ms"]


def _overview(runs: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for run in runs:
        counts = run["counts"]
        counted = f"{counts['expected']:,} = {counts['stored']:,}" if counts["counted"] else "–"
        if counts["differences"]:
            counted = f"{counts['expected']:,} ≠ {counts['stored']:,}"
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(run["started_ms"] / 1000))
        others = f"{run['others_cores']:.2f} of {run['machine']['cores']}"
        late = tables.ms(run["late_ms"]["p99"])
        rows.append(
            [f"{run['scenario']}, {run['form']}", when, run["verdict"], counted, f"{run['wrong']:,}", late, others]
        )
    head = ["run", "when (UTC)", "verdict", "readings acknowledged = stored", "wrong answers", "sent late, p99 ms",
            "cores used by other programs"]  # fmt: skip
    return Table(head, rows)


def _section(run: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = [Heading(f"{run['title']} (`{run['scenario']}`, {run['form']} form)")]
    blocks.append(Paragraph(" ".join(run["about"].split())))
    if run["theirs_name"]:
        blocks.append(Paragraph(f"Theirs: {run['theirs_name']}."))
    if run["others_cores"] > SHARED * run["machine"]["cores"]:
        shared = f"Shared machine: other programs used {run['others_cores']:.2f} of {run['machine']['cores']} cores."
        blocks.append(Notice("doubt", shared))
    blocks.append(tables.theirs_and_ours(run))
    if found := run["saturation"]:
        blocks.append(Paragraph(f"Saturation after {found['carried']} ({found['per_s']:,.1f}/s): {found['cause']}."))
    if run["behind"]:
        blocks.append(tables.delays(run))
    if run["accuracy"]:
        blocks.append(tables.accuracies(run))
    if run["faults"]:
        most = ", ".join(f"{fault} ({count:,})" for fault, count in list(run["faults"].items())[:5])
        blocks.append(Paragraph(f"Faults: {most}."))
    return blocks
