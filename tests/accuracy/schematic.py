"""Schematic buildings: only the names of levels and rooms are known, as from a list of beacons."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from stack.layout import node_folder

from accuracy.recorded import Recording

PROGRAM = Path(__file__).with_name("schematic.js")


def tiles_of(building: dict[str, Any]) -> dict[str, Any]:
    """The building file with rooms as tiles and devices somewhere in their rooms."""
    command = (node_folder() / "node", PROGRAM)
    done = subprocess.run(command, input=json.dumps(building), capture_output=True, text=True, check=True)
    tiled: dict[str, Any] = json.loads(done.stdout)
    return tiled


def schematic(recordings: Iterable[Recording]) -> list[Recording]:
    """The recordings in schematic buildings; recordings of one building still share one."""
    made: dict[int, dict[str, Any]] = {}
    found = []
    for one in recordings:
        known = id(one.building)
        made[known] = made.get(known) or tiles_of(one.building)
        found.append(replace(one, building=made[known]))
    return found
