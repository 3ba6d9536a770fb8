"""Processes of the generator, for tests."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lab.plan import Load, Plan, in_time

FACTS = {"places": [["A0", "L1", "a", "A"]], "past_end_s": 0, "building": "{}", "run": "x"}


def plan_of(load: Load, seconds: float) -> Plan:
    """One step with one load, in a building with one beacon."""
    return Plan("own", "Own", "", "short", in_time([("only", seconds, (load,), "")], 1), building=FACTS)


def started(opened: ExitStack, config: dict[str, Any], log: Path) -> "subprocess.Popen[str]":
    """A process of the generator, which ends with the test; `log` gets what it reports."""
    command = [sys.executable, "-m", "lab.generator"]
    with log.open("w") as file:
        process = opened.enter_context(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=file, text=True)
        )
    opened.callback(process.kill)
    assert process.stdin
    process.stdin.write(json.dumps(config) + "\n")
    process.stdin.flush()
    return process
