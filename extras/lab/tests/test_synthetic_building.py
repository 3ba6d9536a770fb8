"""A drawn building can be walked through, and devices are spread over it."""

import json
import subprocess

import pytest
from lab.scenario_file import Own, ScenarioError, find, load
from lab.synthetic_building import SyntheticBuilding
from simulator.building import parse
from simulator.plan import Plan
from stack.layout import ROOT, node_folder

LOADER = """
const { createBuilding } = require('./flows/lib/building');
for (const file of JSON.parse(require('node:fs').readFileSync(0))) createBuilding(file, file.building);
"""


@pytest.mark.parametrize(("levels", "rooms"), [(1, 1), (2, 90)])
def test_everybody_can_walk_to_every_room(levels: int, rooms: int) -> None:
    building = parse(SyntheticBuilding(levels, rooms, 20, 30, 10).building())
    plan = Plan(building)
    assert all(len(reachable) == len(building.rooms) for reachable in plan.reachable.values())
    assert sum(room.kind == "room" for room in building.rooms.values()) == levels * rooms
    assert (len(building.gateways), len(building.beacons), len(building.tags)) == (20, 30, 5)


def test_the_campus_is_large_and_its_devices_are_spread() -> None:
    drawn = load(find("campus"), "short").drawn
    assert drawn
    building = parse(drawn.building())
    assert sum(room.kind == "room" for room in building.rooms.values()) == 600
    assert len({one.room for one in building.gateways.values()}) == len(building.gateways) == 300
    assert {one.room for one in building.gateways.values()} >= {
        one.id for one in building.rooms.values() if one.is_passage
    }
    by_level = [
        sum(building.rooms[one.room].level == level for one in building.gateways.values()) for level in range(3)
    ]
    assert max(by_level) - min(by_level) <= 3, by_level


def test_the_platform_takes_drawn_buildings() -> None:
    files = json.dumps([SyntheticBuilding(1, 1, 1, 1, 1).building(), SyntheticBuilding(3, 41, 300, 300, 20).building()])
    command = (node_folder() / "node", "-e", LOADER)
    done = subprocess.run(command, input=files, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_sizes_of_a_building_are_a_runs_own_and_impossible_ones_are_refused() -> None:
    larger = load(find("campus"), "short", Own(sizes={"rooms": 400})).drawn
    assert larger
    assert larger.rooms == 400
    with pytest.raises(ScenarioError, match="at least 1"):
        load(find("campus"), "short", Own(sizes={"levels": 0}))
