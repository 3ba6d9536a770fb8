"""A recorded real walk, replayed as gateways, gives its room history in /extractbeacon."""

import csv
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from stack.layout import ROOT
from support.running import RunningStack, running_stack
from support.stack_client import eventually, history

WALK = ROOT / "tests" / "accuracy" / "recordings" / "tetam" / "straight_01.csv"
TRUTH = WALK.with_suffix(".truth.csv")
BUILDING = ROOT / "tests" / "buildings" / "tetam.json"
RIGHT_SHARE = 0.85
"""With windows that all end in one moment, as a replay has them, history puts the only change of room eight seconds
early: 86 % (95 % with other windows); the strongest reading gives 76 %."""
SPARE_CHANGES = 1
"""The strongest reading gives twenty times as many changes as the walker makes."""


@pytest.fixture(scope="module")
def hall() -> Iterator[RunningStack]:
    with running_stack(BUILDING) as stack:
        yield stack


def test_real_walk_becomes_its_room_history(hall: RunningStack) -> None:
    truth = _true_rooms()
    start = time.time()
    _replay(hall, WALK, speed=20)
    end = time.time()
    length_s = max(truth)
    records = eventually(
        lambda: _covering(length_s, history(hall, "0", start - length_s - 60, end + 5)),
        within_s=20,
        what="the history",
    )
    # The replay's last reading is at its end; the walk's seconds count back from there.
    shift = max(records) - length_s
    reported = {second: _room_at(records, second + shift) for second in truth}
    right = sum(reported[second] == room for second, room in truth.items()) / len(truth)
    assert right >= RIGHT_SHARE, f"{right:.0%} of the seconds right"
    assert set(reported.values()) >= set(truth.values())
    assert _changes(reported) <= _changes(truth) + SPARE_CHANGES


def _replay(stack: RunningStack, walk: Path, speed: int) -> None:
    command: list[str | Path] = [
        Path(sys.executable).with_name("simulator"),
        "replay",
        walk,
        "--speed",
        str(speed),
        "--building",
        BUILDING,
    ]
    environment = {
        "MQTT_HOST": "127.0.0.1",
        "MQTT_PORT": str(stack.ports.mqtt),
        "MQTT_SIMULATOR_PASSWORD": stack.secrets["MQTT_SIMULATOR_PASSWORD"],
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _true_rooms() -> dict[int, str]:
    """Second of the walk → the name of the room the walker was in."""
    names = {
        room["id"]: room["name"] for level in json.loads(BUILDING.read_text())["levels"] for room in level["rooms"]
    }
    with TRUTH.open() as file:
        rows = list(csv.DictReader(file))
    first_ms = int(rows[0]["ts_ms"])
    return {(int(row["ts_ms"]) - first_ms) // 1000: names[row["room"]] for row in rows}


def _changes(rooms: dict[int, str]) -> int:
    in_order = [rooms[second] for second in sorted(rooms)]
    return sum(one != other for one, other in pairwise(in_order))


def _covering(length_s: float, records: list[dict[str, object]]) -> dict[int, str]:
    times = {int(str(record["timestamp"])): str(record["location"]) for record in records}
    return times if times and max(times) - min(times) >= length_s else {}


def _room_at(records: dict[int, str], second: int) -> str:
    earlier = [time_s for time_s in records if time_s <= second]
    return records[max(earlier)] if earlier else ""
