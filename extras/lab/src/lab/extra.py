"""What the load laboratory adds to the core: its command, its checks and tests."""

import os
import sys
from pathlib import Path

from stack import install
from stack.extras import Check, Command, Extra, Part
from stack.layout import ROOT

from lab.links import toxiproxy_part

HERE = Path(__file__).resolve().parents[2]
MODULES = ":".join(str(ROOT / one) for one in ("tests", "simulator/tests", "gateway-agent/tests/kit"))


def _lab(rest: list[str]) -> int:
    install.install(install.run_parts())
    program = Path(sys.executable).with_name("simulator")
    os.execv(program, [str(program), "lab", *(rest or ["list"])])


def _checks(_env_file: Path) -> list[Check]:
    mypy = Path(sys.executable).with_name("mypy")
    return [("mypy lab", [mypy, "extras/lab/src", "extras/lab/tests"], {"MYPYPATH": MODULES})]


def _lanes() -> list[list[Part]]:
    pytest = [str(Path(sys.executable).with_name("pytest")), "-q"]
    system = HERE / "tests" / "system"
    return [[("lab", [*pytest, HERE / "tests", f"--ignore={system}"]), ("lab on a stack", [*pytest, system])]]


EXTRA = Extra(
    commands={"lab": Command(_lab, "the load laboratory: list, run, compare, report, page", own_arguments=True)},
    test_parts=lambda: [toxiproxy_part()],
    checks=_checks,
    lanes=_lanes,
)
