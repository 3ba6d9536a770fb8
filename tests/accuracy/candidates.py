"""Tunings to choose from: the numbers of flows/lib/locator/tuning.js, the share that live takes of one of them, and
small steps away from them."""

import json
import subprocess
from collections.abc import Mapping

from stack.layout import ROOT, node_folder

PROGRAM = """
const { TUNING } = require('./flows/lib/locator/tuning');
const { liveShare } = require('./flows/lib/locator/constants').DEFAULTS;
process.stdout.write(JSON.stringify({ ...TUNING, liveShare }));
"""
STEPS = (0.7, 1.4)
Tuning = Mapping[str, float]


def numbers() -> dict[str, float]:
    """The locator's numbers as they are, with the derived one that was chosen like them."""
    command = (node_folder() / "node", "-e", PROGRAM)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name: float(value) for name, value in json.loads(done.stdout).items()}


def single_steps(of: Tuning, factors: tuple[float, ...] = STEPS) -> list[dict[str, float]]:
    """Each number alone times each factor; 0 stays 0."""
    return [{name: round(value * factor, 4)} for name, value in of.items() if value for factor in factors]


def joined(best: Tuning, others: list[dict[str, float]]) -> list[dict[str, float]]:
    """The second step: the best candidate combined with each change of another number."""
    return [{**best, **other} for other in others if not best.keys() & other.keys()]


def label(tuning: Tuning) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in tuning.items()) or "as it is"
