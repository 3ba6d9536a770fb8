"""The check of regular expressions finds what backtracks, and reads each pattern as it is used."""

from pathlib import Path

import pytest
from stack import patterns

SOURCE = r"""
import re
_WHOLE = re.compile(r"[0-9]+-([0-9]+)")
_ANYWHERE = re.compile(rb"(a+)+$", re.MULTILINE)
def use(text):
    return _WHOLE.fullmatch(text), _ANYWHERE.search(text), re.match(r"(?P<one>\w)\Z", text, re.I)
"""


def of(tmp_path: Path, source: str) -> list[patterns.Pattern]:
    file = tmp_path / "module.py"
    file.write_text(source, encoding="utf-8")
    return list(patterns.patterns(file, "module.py"))


def test_patterns_are_read_as_they_are_used(tmp_path: Path) -> None:
    assert {(one.source, one.flags) for one in of(tmp_path, SOURCE)} == {
        ("^(?:[0-9]+-([0-9]+))$", ""),
        ("(a+)+$", "m"),
        (r"^(?:(?<one>\w)(?![\s\S]))", "i"),
    }


@pytest.mark.parametrize(
    "call", ['re.search("a" + text, text)', 're.search(f"{text}", text)', 're.match("a", text, re.VERBOSE)']
)
def test_what_cannot_be_checked_is_a_fault(call: str, tmp_path: Path) -> None:
    with pytest.raises(patterns.UnknownPatternError, match=r"module\.py:3"):
        of(tmp_path, f"import re\ndef use(text):\n    return {call}\n")


def test_a_pattern_that_backtracks_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert patterns.check([patterns.Pattern("here:1", r"(a+)+$", ""), patterns.Pattern("here:2", r"^a+$", "")]) == 1
    printed = capfd.readouterr().err
    assert "here:1: /(a+)+$/ is vulnerable" in printed
    assert "here:2" not in printed


def test_the_tree_has_patterns_of_every_part() -> None:
    found = patterns.everything()
    assert len(found) > 30
    folders = {one.where.split("/")[0] for one in found}
    assert {"broker", "gateway-agent", "influx", "ingest", "simulator", "flows", "extras"} <= folders
