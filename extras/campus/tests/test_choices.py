"""BROKER=nats and STORES=2: what they need of the settings, and what runs then."""

from pathlib import Path

import pytest
from stack.errors import StackError
from stack.process import Process
from stack.processes import processes
from stack.settings import Settings, keep_broker, load


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"BROKER": "rabbit"}, "BROKER=rabbit .* is none of mosquitto, nats"),
        ({"BROKER": "nats", "MQTTS_BIND": "192.0.2.7"}, r"MQTTS_BIND=192.0.2.7 .* must be 0\.0\.0\.0"),
    ],
)
def test_a_broker_that_cannot_run_so_is_refused(tmp_path: Path, given: dict[str, str], why: str) -> None:
    with pytest.raises(StackError, match=why):
        load(tmp_path / ".env", given)


def test_a_chosen_broker_is_kept_for_later_commands(tmp_path: Path) -> None:
    settings = load(tmp_path / ".env", {"BROKER": "nats"})
    assert settings["MQTT_PORT"] == settings["MQTTS_PORT"], "nats-server has one listener"
    assert load(tmp_path / ".env", {})["BROKER"] == "mosquitto"
    keep_broker(settings)
    assert load(tmp_path / ".env", {})["BROKER"] == "nats"
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
    names = [process.name for process in processes(load(tmp_path / ".env", {"BROKER": "mosquitto"}))]
    assert "mosquitto" in names
    assert "nats" not in names


def test_a_port_that_the_environment_chooses_at_first_is_kept_above_what_compose_works_out(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    load(file, {})
    file.write_text(file.read_text() + "# Worked out by make up\nSDA_UID=1000\n")
    load(file, {"BROKER": "nats", "NATS_PORT": "14222"})
    assert load(file, {"BROKER": "nats"})["NATS_PORT"] == "14222"
    lines = file.read_text().splitlines()
    assert lines.index("NATS_PORT=14222") < lines.index("# Worked out by make up") < lines.index("SDA_UID=1000")
    assert load(file, {}).port_keys[0] == "MQTT_PORT"


def test_two_stores_have_everything_of_their_own_and_are_kept(tmp_path: Path) -> None:
    load(tmp_path / ".env", {"STORES": "2"})
    file = tmp_path / ".env"
    file.write_text(file.read_text().replace("INFLUX_2_WRITE_TOKEN=", "INFLUX_2_WRITE_TOKEN=second"))
    settings = load(file, {})
    names = [process.name for process in processes(settings)]
    assert names[1:7] == ["influxd", "influxd-2", "spool", "spool-2", "telegraf", "telegraf-2"]
    first, second = _process(settings, "telegraf"), _process(settings, "telegraf-2")
    assert second.environment["TELEGRAF_NAME"] == "telegraf-2"
    assert second.environment["INFLUX_WRITE_TOKEN"] == "second"
    assert "erasures" in [process.name for process in processes(settings)]
    assert first.environment["SPOOL_URL"] != second.environment["SPOOL_URL"]
    assert _process(settings, "influxd").directory != _process(settings, "influxd-2").directory
    assert _process(settings, "node-red").environment["INFLUX_2_URL"] == "http://127.0.0.1:8186"
    assert load(file, {"STORES": "1"}).stores == load(file, {}).stores
    assert len(load(file, {}).stores) == 1


@pytest.mark.parametrize("number", ["0", "3", "two"])
def test_another_number_of_stores_is_refused(tmp_path: Path, number: str) -> None:
    with pytest.raises(StackError, match=rf"STORES={number} for .* is none of 1, 2"):
        load(tmp_path / ".env", {"STORES": number})


def test_a_port_of_the_second_store_is_nobody_elses(tmp_path: Path) -> None:
    load(tmp_path / ".env", {"STORES": "2"})
    with pytest.raises(StackError, match=r"=8186 in .* is used twice"):
        load(tmp_path / ".env", {"HTTP_PORT": "8186"})


def _process(settings: Settings, name: str) -> Process:
    return next(one for one in processes(settings) if one.name == name)
