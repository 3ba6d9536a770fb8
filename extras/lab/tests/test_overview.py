"""The page of many runs: newest valid ones, beside what it says of others already, above what is written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from lab import overview

HAND = f"{overview.KEPT}\n\n## By hand\n\nA figure.\n"


def run(folder: Path, scenario: str, started_ms: int, p50: float, verdict: str = "ok", **own: Any) -> Path:
    call = {"requests": 10, "per_s": 1.0, "faults": 0, "retried": 0, "bytes": 0, "late_p99": 1.0}
    call |= dict.fromkeys(("mean", "least", "p50", "p90", "p95", "p99", "most"), p50)
    step = {"name": "one", "repeat": 0, "offered": 1.0, "closed": False, "primary": "hacs", "calls": {"hacs": call},
            "busy": {}, "memory_mib": {}, "seconds": 2.0, "theirs": "", "begun_ms": 0, "index": 0}  # fmt: skip
    summary = {
        "scenario": scenario, "form": "short", "title": "Title", "about": "Goal: a test.", "theirs_name": "", "own": "",
        "verdict": verdict, "void": ["late"] if verdict == "void" else [], "stopped": "", "started_ms": started_ms,
        "machine": {"cores": 2, "cpu": "c", "memory_mib": 1}, "others_cores": 0.0, "wrong": 0, "faults": {},
        "late_ms": {"p99": 1.0}, "counts": {"counted": False, "differences": []}, "steps": [step], "saturation": None,
        "behind": [], "accuracy": [], **own,
    }  # fmt: skip
    place = folder / f"{scenario}-{started_ms}"
    (place / "pictures").mkdir(parents=True)
    (place / "summary.json").write_text(json.dumps(summary))
    (place / "pictures" / "delay.svg").write_text("<svg/>")
    return place


def test_a_page_grows_by_runs_and_keeps_the_others_and_what_is_written_by_hand(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(HAND)
    overview.write([run(tmp_path, "b", 1, 11.5), run(tmp_path, "d", 2, 12.5)], page)
    overview.write([run(tmp_path, "c", 3, 13.5), run(tmp_path, "b", 4, 14.5)], page)
    text = page.read_text()
    headings = [line for line in text.splitlines() if line.startswith("## Title")]
    assert headings == [f"## Title ({name}, short form)" for name in ("b", "c", "d")]
    assert [text.count(f"| {ms} |") > 0 for ms in (11.5, 12.5, 13.5, 14.5)] == [False, True, True, True]
    assert text.count(overview.KEPT) == 1
    assert text.endswith(HAND)
    pictures = {path.name for path in (tmp_path / "page").iterdir()}
    assert pictures == {f"{name}-short-{at}-delay.svg" for name, at in (("b", 4), ("c", 3), ("d", 2))}
    assert all(name in text for name in pictures)


@pytest.mark.parametrize(("verdict", "own", "shown"), [("ok", "", 1), ("void", "", 2), ("ok", "5 s a step", 2)])
def test_a_valid_long_form_stands_for_the_short_one(tmp_path: Path, verdict: str, own: str, shown: int) -> None:
    page = tmp_path / "page.md"
    overview.write([run(tmp_path, "b", 1, 11.5)], page)
    overview.write([run(tmp_path, "b", 2, 12.5, verdict, form="long", own=own)], page)
    assert page.read_text().count("## Title (b, ") == shown


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_valid_run_goes_before_a_newer_void_one(tmp_path: Path, order: tuple[int, int]) -> None:
    runs = [run(tmp_path, "b", 1, 11.5), run(tmp_path, "b", 2, 12.5, "void")]
    overview.write([runs[one] for one in order], tmp_path / "page.md")
    assert "11.5" in (text := (tmp_path / "page.md").read_text())
    assert "12.5" not in text


def test_a_run_with_other_sizes_stands_beside_and_not_instead(tmp_path: Path) -> None:
    runs = [run(tmp_path, "b", 1, 11.5), run(tmp_path, "b", 2, 12.5, own="phones = 7")]
    overview.write(runs, tmp_path / "page.md")
    overview.write([run(tmp_path, "c", 3, 13.5)], tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "## Title (b, short form: phones = 7)" in text
    assert text.count("| b, short form") == 2
