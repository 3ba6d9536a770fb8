"""Writes the report of a run folder: `report.md`, `report.html`, `pictures/`, `iterations.csv`."""

import csv
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab import plots, resources, samples, statistics, tables
from lab.document import Block, Heading, Notice, Paragraph, Picture, Table, markdown, page

SHARED = 0.1
"""Above this share of the cores other programs disturb the run."""
TERMS = (
    "Response time counts from when a request was due, whether or not it could be sent then, to the last byte of its "
    "answer; retries and their waiting are in it. A fault is any answer but a right one, or none. Of messages it ends "
    "with the broker's acknowledgement (PUBACK). Monitoring delay is the age of the newest that a viewer sees. "
    "p99: 99 % took at most so long. Of users, answers a second and faults are of all their calls, times of the most "
    "frequent one."
)
LATENESS = (
    "A run is void when the generator sends more than 50 ms late (p99), or when it takes over 1 % longer than planned: "
    "then it did not offer what the tables say. Which steps were late stands in their last column."
)


def write(folder: Path) -> Path:
    """Write the report of a run; returns the path of its page."""
    summary = json.loads((folder / "summary.json").read_text())
    found = list(samples.read(folder))
    uses = resources.read(folder / "resources.csv")
    drawn = plots.pictures(summary, found, uses)
    (folder / "pictures").mkdir(exist_ok=True)
    for old in (folder / "pictures").glob("*.svg"):
        old.unlink()
    for name, (svg, _) in drawn.items():
        (folder / "pictures" / f"{name}.svg").write_text(svg, encoding="utf-8")
    _write_iterations(folder / "iterations.csv", found)
    title = f"{summary['title']} ({tables.form_of(summary)})"
    blocks = _blocks(summary, {name: picture for name, (_, picture) in drawn.items()})
    (folder / "report.md").write_text(markdown(title, blocks), encoding="utf-8")
    path = folder / "report.html"
    path.write_text(page(title, blocks, {name: svg for name, (svg, _) in drawn.items()}), encoding="utf-8")
    return path


def _blocks(summary: Mapping[str, Any], drawn: Mapping[str, str]) -> list[Block]:
    blocks: list[Block] = [*_verdict(summary), Heading("Goal"), Paragraph(" ".join(summary["about"].split()))]
    compared = tables.has_theirs(summary)
    blocks += [Heading("Theirs and ours" if compared else "Results"), tables.theirs_and_ours(summary)]
    if compared:
        theirs = f"Theirs: {summary['theirs_name']}. " if summary["theirs_name"] else ""
        blocks.append(Paragraph(f"{theirs}Their machines were others: a row shows both results, no ratio of machines."))
    blocks += [Picture(name, drawn[name]) for name in ("throughput", "faults") if name in drawn]
    if "throughput" in drawn:
        blocks.append(Paragraph(_saturation(summary)))
    if summary["wanted"]:
        blocks += [Heading("Targets"), tables.targets(summary)]
    blocks += [Heading("By call"), tables.by_call(summary)]
    blocks += [Picture("latency", drawn["latency"])] if "latency" in drawn else []
    if (pages := tables.dashboard_pages(summary)) is not None:
        blocks += [Heading("Dashboard pages"), pages]
    if summary["behind"]:
        blocks += [Heading("Monitoring delay"), tables.delays(summary)]
        blocks += [Picture("delay", drawn["delay"])] if "delay" in drawn else []
    if (live := tables.live(summary)) is not None:
        blocks += [Heading("Live view"), Paragraph(tables.LIVE), live]
    blocks += [Heading("Everything counted"), *_counts(summary)]
    if (workers := tables.by_worker(summary)) is not None:
        blocks += [Heading("What each worker did"), workers]
    if summary["accuracy"]:
        blocks += [Heading("Right room, against the true one"), tables.accuracies(summary)]
    if summary["faults"]:
        rows = [[fault, f"{count:,}"] for fault, count in list(summary["faults"].items())[:20]]
        blocks += [Heading("Faults"), Table(["fault", "how often"], rows, tables.note(summary))]
    blocks += [Heading("What the parts used")]
    if any(one["busy"] for one in summary["steps"]):
        blocks.append(tables.by_part(summary))
    if (messages := tables.by_message(summary)) is not None:
        blocks += [Paragraph(tables.BY_MESSAGE), messages]
    blocks += [Picture(name, drawn[name]) for name in ("cpu", "memory", "disk", "network") if name in drawn]
    blocks += [Heading("Terms and method"), Paragraph(TERMS), Paragraph(LATENESS), Heading("Set-up"), *_setup(summary)]
    return blocks


def _verdict(summary: Mapping[str, Any]) -> list[Block]:
    found: list[Block] = []
    if summary["verdict"] == "void":
        reasons = "; ".join(summary["void"])
        found.append(Notice("bad", f"VOID: this run says nothing about the platform's speed. {reasons}."))
    found += [Notice("bad", f"Failed: {one}.") for one in summary["failed"]]
    if summary["stopped"]:
        found.append(Notice("bad", f"Ended early: {summary['stopped']}."))
    if not found:
        late = summary["late_ms"]["p99"]
        text = f"Valid: requests were sent {late:.1f} ms late (p99), and everything that was counted is right."
        found.append(Notice("good", text))
    cores = summary["machine"]["cores"]
    if summary["others_cores"] > SHARED * cores:
        text = f"The machine was shared: other programs used {summary['others_cores']:.2f} of its {cores} cores."
        found.append(Notice("doubt", text + " Times are longer, and limits lower, than on a quiet machine."))
    return found


def _saturation(summary: Mapping[str, Any]) -> str:
    found = summary["saturation"]
    if found is None:
        return "Saturation: not reached by this ladder."
    return (
        f"Saturation: {found['carried']!r} was carried ({found['per_s']:,.1f} answers a second); "
        f"at {found['beyond']!r} more load brings no more. Cause: {found['cause']}."
    )


def _counts(summary: Mapping[str, Any]) -> list[Block]:
    counts = summary["counts"]
    if not counts["counted"]:
        return [Paragraph(f"Stored readings were not counted: {counts['why']}.")]
    right = f"{summary['requests']:,} requests, {summary['wrong']:,} wrong answers."
    line = (
        f"{counts['expected']:,} readings of {counts['receivers']:,} receivers were acknowledged, {counts['stored']:,} "
        f"are stored; {counts['unknown']:,} were never acknowledged. "
        f"The last one was stored {counts['after_s']:.1f} s after the first look."
    )
    blocks: list[Block] = [Paragraph(line), Paragraph(right)]
    if counts["differences"]:
        rows = [
            [one["receiver"], *(f"{one[name]:,}" for name in ("sent", "unknown", "stored"))]
            for one in counts["differences"][:50]
        ]
        blocks += [Notice("bad", f"The counts of {len(counts['differences']):,} receivers differ."),
                   Table(["receiver", "acknowledged", "unknown", "stored"], rows, tables.note(summary))]  # fmt: skip
    return blocks


def _setup(summary: Mapping[str, Any]) -> list[Block]:
    machine, target = summary["machine"], summary["target"]
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(summary["started_ms"] / 1000))
    where = "a stack of its own" if target["scratch"] else target["url"]
    rows = [
        ["when", when],
        ["machine", f"{machine['cores']} cores, {machine['cpu']}, {machine['memory_mib']:,} MiB, {machine['system']}"],
        ["load before", f"{machine['load_before']} (1 min average)"],
        ["machine shared", f"by generator and parts; other programs used {summary['others_cores']:.2f} cores"],
        ["target", f"{where}, building {summary['building']}"],
        ["generator", f"{summary['workers']} process(es)"],
        ["lateness", f"requests p99 {summary['late_ms']['p99']} ms, timer p99 {summary['lag_ms']['p99']} ms"],
        [
            "versions",
            ", ".join(f"{name.removesuffix('_version')} {value}" for name, value in summary["versions"].items())
            or "unknown",
        ],
    ]
    return [Table(["what", "value"], rows)]


def _write_iterations(path: Path, found: Sequence[samples.Sample]) -> None:
    rows = statistics.iterations(found)
    if not rows:
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("call", "step", "iteration", "mean_ms", "most_ms"))
        writer.writerows((*row[:3], f"{row[3]:.3f}", f"{row[4]:.3f}") for row in rows)


def on_screen(summary: Mapping[str, Any], folder: Path) -> str:
    """What is printed at the end of a run."""
    table = tables.theirs_and_ours(summary)
    shown = [column for column, name in enumerate(table.head) if name != "theirs"]
    rows = [[str(row[column]) for column in shown] for row in (table.head, *table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    counts = summary["counts"]
    counted = (
        f"{counts['expected']:,} readings acknowledged, {counts['stored']:,} stored"
        if counts["counted"]
        else f"not counted: {counts['why']}"
    )
    verdict = {"ok": "valid", "failed": "FAILED: " + "; ".join(summary["failed"]), "void": tables.note(summary)}[
        summary["verdict"]
    ]
    stopped = f"ended early: {summary['stopped']}\n" if summary["stopped"] else ""
    differing = "".join(
        f"\n  {one['receiver']}: {one['sent']} acknowledged, {one['stored']} stored"
        for one in counts["differences"][:10]
    )
    lines += [
        f"worker {one['worker']} ({one['host'] or 'lost'}): {one['requests']:,} requests, {one['readings']:,} readings "
        f"acknowledged, sent {tables.ms(one['late_p99'])} ms late (p99)"
        for one in summary["shares"]
    ]
    return "\n".join([*lines, f"{stopped}{verdict}; {counted}{differing}", str(folder / "report.html")])
