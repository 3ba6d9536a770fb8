"""Buildings of which only the names of levels and rooms are known, as a list of beacons makes them."""

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
    """The building file with its rooms as tiles, all devices somewhere in their rooms."""
    command = (node_folder() / "node", PROGRAM)
    done = subprocess.run(command, input=json.dumps(building), capture_output=True, text=True, check=True)
    tiled: dict[str, Any] = json.loads(done.stdout)
    return tiled


def schematic(recordings: Iterable[Recording]) -> list[Recording]:
    """The recordings in such buildings; those that shared a building share one still."""
    made: dict[int, dict[str, Any]] = {}
    found = []
    for one in recordings:
        known = id(one.building)
        made[known] = made.get(known) or tiles_of(one.building)
        found.append(replace(one, building=made[known]))
    return found
