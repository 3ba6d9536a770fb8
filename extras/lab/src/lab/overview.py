"""One page of many runs: the method, and each scenario with their results beside ours. Pure but for files."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab import tables
from lab.document import Block, Heading, Notice, Paragraph, Picture, Table, body, markdown
from lab.report import LATENESS, SHARED, TERMS

TITLE = "Performance: measured, theirs beside ours"
ABOUT = (
    "Five earlier systems of this kind published load tests. The load laboratory (`make lab`) makes each again on this "
    "platform, and some of our own. All above the last section is made from run folders by `simulator lab page`; "
    "nothing of it is typed by hand. Their machines were others: a row shows the load and both results, no ratio of "
    "machines."
)
NOT_MEASURED = (
    "Not measured here: networks between receivers and the platform, other machines than the one named, months of "
    "running. Messages of *theirs* that went to a panel or a store are batches of readings here. Dashboard pages are "
    "open sockets without their browsers; `make page-figures` measures the page in a browser (dashboard.md)."
)
KEPT = "<!-- Written by hand from here on; `simulator lab page` keeps it. -->"
SHOWN = ("throughput", "delay")
"""The picture of a run: the first of these that it has."""
WHOLE = re.compile(r"\| [a-z0-9-]+, long form \| [^|]+ \| ok \|")
"""Row of a valid long form with all its steps: the short form says nothing more."""


def write(folders: Sequence[Path], path: Path) -> None:
    """Write the page of run folders; pictures go into a folder beside it.

    An existing page keeps its hand-written end, and the sections of scenarios and forms that are not among these runs.
    A valid long form replaces the short form.
    """
    runs = _chosen(folders)
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    generated, mark, by_hand = before.partition(KEPT)
    pictures = path.with_suffix("")
    pictures.mkdir(parents=True, exist_ok=True)
    made = {_key(run) for _, run in runs}
    parts = [(key, *one) for key, one in _parts_of(generated).items() if key not in made]
    for folder, run in runs:
        name = _picture(folder)
        if name is not None:
            svg = (folder / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
            (pictures / f"{_stem(run, name)}.svg").write_text(svg, encoding="utf-8")
        section = body(_section(run, name), pictures.name)
        parts.append((_key(run), body([_overview([run])]).splitlines()[-1], section))
    whole = {key[0] for key, row, _ in parts if WHOLE.match(row)}
    parts = sorted(one for one in parts if one[0] not in {(scenario, "short") for scenario in whole})
    blocks: list[Block] = [Paragraph(ABOUT), Heading("Method"), Paragraph(TERMS), Paragraph(LATENESS)]
    blocks += [Paragraph(NOT_MEASURED), *_machines([run for _, run in runs]), Heading("All runs"), _overview([])]
    rows = "\n".join(row for _, row, _ in parts)
    sections = "\n".join(section.rstrip() + "\n" for _, _, section in parts)
    text = f"{markdown(TITLE, blocks).rstrip()}\n{rows}\n\n{sections}"
    path.write_text(text + (f"\n{mark}{by_hand}" if mark else ""), encoding="utf-8")
    for picture in pictures.glob("*.svg"):
        if picture.name not in text:
            picture.unlink()


Key = tuple[str, str]
"""Scenario and form."""


def _key(run: Mapping[str, Any]) -> Key:
    return str(run["scenario"]), str(run["form"])


def _parts_of(page: str) -> dict[Key, tuple[str, str]]:
    """Row and section of each scenario and form of a page; of several runs of one they are together."""
    rows: dict[Key, str] = {}
    sections: dict[Key, str] = {}
    for row in re.finditer(r"^\| ([a-z0-9-]+), (short|long)\b.*$", page, re.MULTILINE):
        key = (row[1], row[2])
        rows[key] = f"{rows[key]}\n{row[0]}" if key in rows else row[0]
    for section in re.split(r"^(?=## )", page, flags=re.MULTILINE):
        title = section.split("\n", 1)[0].rpartition("(")[2]
        if heading := re.fullmatch(r"`?([a-z0-9-]+)`?, (short|long) form[^)]*\)", title):
            key = (heading[1], heading[2])
            sections[key] = sections.get(key, "") + section
    return {key: (row, sections.get(key, "")) for key, row in rows.items()}


def _chosen(folders: Sequence[Path]) -> list[tuple[Path, Mapping[str, Any]]]:
    """Of each scenario and form the newest run of its steps, a valid one before a void one; in order of their names."""
    chosen: dict[tuple[str, ...], tuple[Path, Mapping[str, Any]]] = {}
    for folder in folders:
        one = json.loads((folder / "summary.json").read_text())
        steps = sorted({step["name"] for step in one["steps"]})
        key = (one["scenario"], one["form"], one.get("own", ""), *steps)
        if key not in chosen or _rank(chosen[key][1]) < _rank(one):
            chosen[key] = folder, one
    return [chosen[key] for key in sorted(chosen)]


def _picture(folder: Path) -> str | None:
    return next((name for name in SHOWN if (folder / "pictures" / f"{name}.svg").exists()), None)


def _stem(run: Mapping[str, Any], name: str) -> str:
    return f"{run['scenario']}-{run['form']}-{run['started_ms']}-{name}"


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
        rows.append([tables.form_of(run), when, run["verdict"], counted, f"{run['wrong']:,}", late, others])
    head = ["run", "when (UTC)", "verdict", "readings acknowledged = stored", "wrong answers", "sent late, p99 ms",
            "cores used by other programs"]  # fmt: skip
    return Table(head, rows)


def _section(run: Mapping[str, Any], picture: str | None) -> list[Block]:
    blocks: list[Block] = [Heading(f"{run['title']} ({tables.form_of(run)})")]
    blocks.append(Paragraph(" ".join(run["about"].split())))
    if run["theirs_name"]:
        blocks.append(Paragraph(f"Theirs: {run['theirs_name']}."))
    if run["others_cores"] > SHARED * run["machine"]["cores"]:
        shared = f"Shared machine: other programs used {run['others_cores']:.2f} of {run['machine']['cores']} cores."
        blocks.append(Notice("doubt", shared))
    blocks.append(tables.theirs_and_ours(run))
    if found := run["saturation"]:
        blocks.append(Paragraph(f"Saturation after {found['carried']} ({found['per_s']:,.1f}/s): {found['cause']}."))
    if picture is not None:
        titles = {"throughput": "Response time against throughput", "delay": "Age of the newest that a viewer sees"}
        blocks.append(Picture(_stem(run, picture), titles[picture]))
    if (pages := tables.dashboard_pages(run)) is not None:
        blocks.append(pages)
    if run["behind"]:
        blocks.append(tables.delays(run))
    if (live := tables.live(run)) is not None:
        blocks += [Paragraph(tables.LIVE), live]
    if run["accuracy"]:
        blocks.append(tables.accuracies(run))
    if (messages := tables.by_message(run)) is not None:
        blocks += [Paragraph("CPU a message, in µs by part:"), messages]
    if run["faults"]:
        most = ", ".join(f"{fault} ({count:,})" for fault, count in list(run["faults"].items())[:5])
        blocks.append(Paragraph(f"Faults: {most}."))
    return blocks
