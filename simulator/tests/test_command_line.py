"""Wrong arguments give a message and exit code 2; help shows examples."""

import json
from pathlib import Path

import pytest
from cli import DEMO_FILE, simulator, simulator_in
from simulator.arguments import staff_ids

PASSWORD = {"MQTT_SIMULATOR_PASSWORD": "x"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "COMMAND"),
        (("fly",), "invalid choice: 'fly'"),
        (("phones", "-n", "0"), "argument -n: '0' is not a whole number from 1 to"),
        (("phones", "--interval", "nan"), "argument --interval: 'nan' is not a number from 0.05 to 3600"),
        (("phones", "--duration", "inf"), "argument --duration: 'inf' is not a number"),
        (("phones", "-n", "900000"), "900,000 connections need 900,064 open files; the system allows"),
        (("phones", "--building", "/nowhere.json"), "/nowhere.json: cannot be read: No such file or directory"),
        (("replay",), "the following arguments are required: FILE"),
        (("replay", "/nowhere.csv"), "/nowhere.csv: cannot be read"),
        (("replay", str(DEMO_FILE)), "the column 'ts_ms' is missing"),
        (("replay", "x.csv", "--speed", "0.5"), "argument --speed: '0.5' is not a number from 1 to"),
        (("hacs", "--staff", "5-2"), "--staff 5-2: the range ends before it begins"),
        (("hacs", "--staff", "0,,2"), "--staff '' is neither an id"),
        (("record",), "ACTION"),
        (("record", "start"), "the following arguments are required: STAFF_ID"),
        (("record", "show", "--url", "localhost:1880"), "--url 'localhost:1880' does not begin with http"),
        (("hacs", "--url", "localhost:1880"), "--url 'localhost:1880' does not begin with http"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], says: str) -> None:
    done = simulator(*arguments, **PASSWORD)
    assert says in done.stderr
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_wrong_building_is_refused_by_key(tmp_path: Path) -> None:
    document = json.loads(DEMO_FILE.read_text())
    document["beacons"][3]["room"] = "attic"
    file = tmp_path / "building.json"
    file.write_text(json.dumps(document))
    done = simulator("phones", SDA_BUILDING=str(file), **PASSWORD)
    assert f"{file}: beacons[3].room: there is no room 'attic'" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("command", [("phones",), ("replay", "x.csv")])
def test_without_a_password(command: tuple[str, ...], tmp_path: Path) -> None:
    done = simulator_in(tmp_path, *command)
    assert "MQTT_SIMULATOR_PASSWORD is neither in the environment nor in ./.env" in done.stderr
    assert done.returncode == 2


def test_the_environment_overrides_the_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MQTT_SIMULATOR_PASSWORD=x\nMQTT_PORT=70000\n")
    assert "MQTT_PORT '70000' is not a port (1 to 65535)" in simulator_in(tmp_path, "phones").stderr
    done = simulator_in(tmp_path, "phones", "--wait", 0, MQTT_PORT="1")
    assert "no broker at localhost:1 within 0 s" in done.stderr
    assert done.returncode == 3


@pytest.mark.parametrize("command", ["phones", "replay", "hacs", "record"])
def test_help_shows_examples(command: str) -> None:
    for arguments in (("--help",), (command, "--help")):
        done = simulator(*arguments)
        assert done.returncode == 0
        assert "examples:" in done.stdout
        assert f"simulator {command}" in done.stdout
        assert "exit codes:" in done.stdout


def test_staff_lists() -> None:
    assert staff_ids("0,2", tuple) == ["0", "2"]
    assert staff_ids("8-10,anna,003", tuple) == ["8", "9", "10", "anna", "003"]
    assert staff_ids("all", lambda: ("a", "b")) == ["a", "b"]
