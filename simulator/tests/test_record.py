"""`simulator record`: recordings on disk, and error messages.

The whole way, against a real platform, is in tests/system.
"""

import json
from pathlib import Path

import pytest
from cli import simulator
from simulator.record import RecordError, describe, write

BUILDING = '{"building": "House", "staff": [{"id": "7"}]}'
FILES = {
    "building.json": BUILDING,
    "set.json": '{"mode": "gateway", "licence": "", "source": "first", "notes": ""}',
    "one.csv": "ts_ms,receiver,beacon,rssi\n",
    "one.truth.csv": "ts_ms,room\n",
}


def second(**changes: str) -> dict[str, str]:
    own = {"two.csv": FILES["one.csv"], "two.truth.csv": FILES["one.truth.csv"]}
    source = FILES["set.json"].replace("first", "second")
    return {"building.json": BUILDING, "set.json": source, **own, **changes}


def test_recordings_of_one_walker_share_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "walks"
    write(folder, FILES)
    write(folder, second())
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["building.json", "one.csv", "one.truth.csv", "set.json", "two.csv", "two.truth.csv"]
    assert json.loads((folder / "set.json").read_text())["source"] == "first"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (FILES, "one.csv is there already: nothing was written"),
        (second(**{"building.json": BUILDING.replace("7", "8")}), "another building or walker"),
        (second(**{"set.json": FILES["set.json"].replace("gateway", "phone")}), "of the other mode"),
        (second(**{"../evil.csv": "x"}), "names a file '../evil.csv'"),
    ],
)
def test_recordings_of_different_walkers_are_not_mixed(tmp_path: Path, files: dict[str, str], says: str) -> None:
    write(tmp_path, FILES)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(RecordError, match=says):
        write(tmp_path, files)
    assert sorted(tmp_path.iterdir()) == before


def test_a_recording_as_a_line() -> None:
    one = {
        "name": "monday", "staff_id": "7", "started_ms": 1_000_000, "stopped_ms": None, "gateway_readings": 2480,
        "phone_readings": 0, "taps_count": 1, "lost_readings": 0, "outside_readings": 3,
    }  # fmt: skip
    said = describe(one, 1250.0)
    assert said.startswith("monday is running: staff 7, ")
    assert said.endswith("2,480 readings, 1 tap, 3 of another time")
    assert describe({**one, "stopped_ms": 1_250_000}, 9999.0) == said.replace("is running", "is over")


def test_no_platform_is_exit_code_3() -> None:
    done = simulator("record", "show", "--url", "http://127.0.0.1:1")
    assert done.returncode == 3
    assert "no connection" in done.stderr
    assert "Traceback" not in done.stderr
