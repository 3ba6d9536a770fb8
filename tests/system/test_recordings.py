"""Records a person with taps of rooms: readings and taps become a folder of files."""

import csv
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from stack.layout import ROOT
from support.api import Api
from support.building import Building
from support.keys import asking, named_key
from support.running import RunningStack
from support.stack_client import batch, eventually, now_ms, publish

RECORDINGS = "/api/v1/recordings"
WALKER, OTHER = "31", "32"


pytestmark = pytest.mark.usefixtures("no_recordings")


def record(stack: RunningStack, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `make simulator ARGS='record …'` for this stack."""
    keys = {"HTTP_PORT": str(stack.ports.http), "SDA_API_KEY": stack.secrets["SDA_API_KEY"]}
    command = [Path(sys.executable).with_name("simulator"), "record", *arguments]
    return subprocess.run(
        command, cwd=ROOT / "tests", env={**os.environ, **keys}, capture_output=True, text=True, check=False, timeout=60
    )


def rooms_of(demo: Building) -> list[str]:
    return [room["id"] for room in demo.raw["levels"][0]["rooms"][:2]]


def heard(api: Api, recording: str) -> int:
    reported = api.get("getRecording", recording=recording)
    return int(reported["gateway_readings"] + reported["phone_readings"])


def walk(stack: RunningStack, demo: Building, rssi: int) -> None:
    """Publish readings of the walker's tag by two gateways, and of another person's tag."""
    staff = {one["id"]: one for one in demo.raw["staff"]}
    own, other = staff[WALKER]["tags"][0], staff[OTHER]["tags"][0]
    gateways = demo.gateways[:2]
    publish(stack, *[(f"gateway/{one.id}/readings", batch((own, rssi), (other, -40))) for one in gateways])


def test_recorded_walk_becomes_a_folder(api: Api, stack: RunningStack, demo: Building, tmp_path: Path) -> None:
    first, second = rooms_of(demo)
    started = record(stack, "start", WALKER, "--name", "monday")
    assert f"monday: records staff {WALKER}" in started.stdout, started.stderr
    (running,) = api.get("listRecordings")["recordings"]
    assert record(stack, "tap", first).returncode == 0
    walk(stack, demo, -61)
    eventually(lambda: heard(api, running["id"]) == 2, what="the readings of the first room")
    eventually(lambda: now_ms() > running["started_ms"] + 3000, what="some seconds of truth")
    assert f"in {second}, 2 taps" in record(stack, "tap", second).stdout
    walk(stack, demo, -62)
    eventually(lambda: heard(api, running["id"]) == 4, what="the readings of the second room")
    eventually(lambda: now_ms() > running["started_ms"] + 6000, what="some seconds more")
    assert f"monday is running: staff {WALKER}" in record(stack, "show").stdout
    assert record(stack, "get", "monday", "--to", tmp_path).returncode == 1
    assert "4 readings, 2 taps" in record(stack, "stop").stdout
    got = record(stack, "get", "monday", "--to", tmp_path / "set")
    assert f"make accuracy DATA={tmp_path / 'set'}" in got.stdout, got.stderr
    check_folder(tmp_path / "set", demo, [first, second])
    assert record(stack, "delete", "monday").stdout == "monday is deleted\n"
    assert record(stack, "show").stdout == "there is no recording\n"


def check_folder(folder: Path, demo: Building, rooms: list[str]) -> None:
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["building.json", "monday.csv", "monday.truth.csv", "set.json"]
    building = json.loads((folder / "building.json").read_text())
    tags = next(one["tags"] for one in demo.raw["staff"] if one["id"] == WALKER)
    assert building["staff"] == [{"id": WALKER, "name": "Walker", "tags": tags}]
    assert len(building["gateways"]) == len(demo.gateways)
    assert json.loads((folder / "set.json").read_text())["mode"] == "gateway"
    rows = list(csv.DictReader((folder / "monday.csv").read_text().splitlines()))
    assert list(rows[0]) == ["ts_ms", "receiver", "beacon", "rssi"]
    heard_by = {one.id for one in demo.gateways[:2]}
    assert {(row["receiver"], row["beacon"], row["rssi"]) for row in rows} == {
        (gateway, tags[0], rssi) for gateway in heard_by for rssi in ("-61", "-62")
    }
    assert [int(row["ts_ms"]) for row in rows] == sorted(int(row["ts_ms"]) for row in rows)
    truth = list(csv.DictReader((folder / "monday.truth.csv").read_text().splitlines()))
    times = [int(row["ts_ms"]) for row in truth]
    assert {late - early for early, late in pairwise(times)} == {1000}
    reported = [row["room"] for row in truth if row["room"]]
    assert sorted(set(reported)) == sorted(rooms)
    assert reported == sorted(reported, key=rooms.index)


def test_a_repeated_tap_is_accepted_and_an_offline_tap_keeps_its_time(api: Api, demo: Building) -> None:
    first, second = rooms_of(demo)
    running = api.ask("startRecording", expected=201, staff_id=WALKER).json()
    assert running["name"].startswith("walk-20")
    at = {"recording": running["id"]}
    eventually(lambda: now_ms() > running["started_ms"] + 1000, what="a second")
    api.ask("addTap", **at, room=second, tap="b")
    api.ask("addTap", **at, room=first, tap="a", age_ms=800)
    taps = api.ask("addTap", **at, room=second, tap="b").json()["taps"]
    assert [(one["tap"], one["room"]) for one in taps] == [("a", first), ("b", second)]
    assert 400 < taps[1]["ts"] - taps[0]["ts"] < 1500
    assert api.ask("addTap", **at, room="").json()["taps"][-1]["room"] is None
    assert api.ask("removeTap", **at, tap="b").json()["taps_count"] == 2
    assert api.ask("removeTap", **at, tap="b").json()["taps_count"] == 2
    api.ask("addTap", expected=404, **at, room="attic")
    api.ask("addTap", expected=400, **at, room=first, age_ms=-1)
    api.ask("startRecording", expected=409, staff_id=WALKER)
    api.ask("getRecordingFiles", expected=409, **at)
    ended = [api.ask("stopRecording", **at).json()["stopped_ms"] for _ in range(2)]
    assert ended[0] == ended[1]
    api.ask("startRecording", expected=404, staff_id="nobody-there")
    api.ask("startRecording", expected=400, staff_id=WALKER, name="../evil")


def test_a_recording_continues_after_a_kill_of_the_flows(api: Api, stack: RunningStack, demo: Building) -> None:
    running = api.ask("startRecording", expected=201, staff_id=WALKER, name="killed").json()
    at = {"recording": running["id"]}
    api.ask("addTap", **at, room=rooms_of(demo)[0])
    walk(stack, demo, -61)
    file = stack.data_dir / "node-red" / "recordings" / running["id"] / "readings.csv"
    eventually(lambda: file.read_text().count("\n") == 2, what="the readings on the disk")
    stack.kill("node-red")
    walk(stack, demo, -62)
    stack.start("node-red")
    eventually(lambda: heard(api, running["id"]) >= 4, what="what the broker had kept")
    assert api.ask("stopRecording", **at).json()["taps_count"] == 1
    files = api.get("getRecordingFiles", **at)["files"]
    assert files["killed.csv"].count("\n") == 5


def test_only_admins_record_and_it_is_in_the_audit_log(api: Api, stack: RunningStack) -> None:
    for right in ("presence", "history"):
        with asking(stack, named_key(stack, f"only-{right}", right)) as caller:
            assert caller.get(RECORDINGS).status_code == 403
            assert caller.post(RECORDINGS, json={"staff_id": WALKER}).status_code == 403
    running = api.ask("startRecording", expected=201, staff_id=WALKER, name="audited").json()
    api.ask("stopRecording", recording=running["id"])
    api.ask("getRecordingFiles", recording=running["id"])
    api.ask("deleteRecording", recording=running["id"])
    api.ask("getRecording", expected=404, recording=running["id"])
    about = f"audited ({running['id']}): staff {WALKER}"

    def deeds() -> list[tuple[str, Any]]:
        entries = api.pages("listAudit", "entries", limit=1000)
        return [(one["kind"], one["who"]) for one in entries if one.get("about") == about]

    kinds = ("recording_started", "recording_stopped", "recording_deleted")
    assert deeds() == [(kind, "SDA_API_KEY") for kind in kinds]


def test_a_walk_of_a_few_seconds_is_too_short_to_calibrate(api: Api, stack: RunningStack, demo: Building) -> None:
    recording = api.ask("startRecording", 201, staff_id=WALKER, name="short").json()["id"]
    running = api.ask("getCalibration", 409, recording=recording).json()["error"]
    assert "stop it first" in running
    api.ask("addTap", recording=recording, room=rooms_of(demo)[0])
    walk(stack, demo, -60)
    eventually(lambda: heard(api, recording) == 2, what="two readings")
    api.ask("stopRecording", recording=recording)
    calibration = api.get("getCalibration", recording=recording)
    assert (calibration["verdict"], calibration["proposals"]) == ("too_little", [])
    assert calibration["is_as_walked"] is True
    before = api.get("getBuilding")
    assert "nothing is proposed" in api.ask("applyCalibration", 409, recording=recording).json()["error"]
    assert api.get("getBuilding") == before
    api.ask("getCalibration", 404, recording="0123456789ab")
    with asking(stack, named_key(stack, "onlooker", "presence", "history")) as caller:
        assert caller.get(f"{RECORDINGS}/{recording}/calibration").status_code == 403
        assert caller.post(f"{RECORDINGS}/{recording}/calibration").status_code == 403
