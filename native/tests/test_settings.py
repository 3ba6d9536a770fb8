"""Settings: the data folder is a separate folder, services reach a listener at its address."""

import os
import subprocess
from pathlib import Path

import pytest
from stack.errors import StackError
from stack.layout import ROOT
from stack.process import Process
from stack.processes import processes
from stack.settings import Settings, load


@pytest.mark.parametrize("folder", [".", "..", "/", str(ROOT), str(ROOT.parent)])
def test_data_folder_that_holds_the_repository_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(StackError, match=r"DATA_DIR=.* must be a separate folder"):
        load(tmp_path / ".env", {"DATA_DIR": folder})


def test_empty_data_folder_is_refused(tmp_path: Path) -> None:
    load(tmp_path / ".env", {})
    file = tmp_path / ".env"
    file.write_text(file.read_text().replace("DATA_DIR=.data", "DATA_DIR="))
    with pytest.raises(StackError, match=r"DATA_DIR= .* must be a separate folder"):
        load(file, {})


def test_clean_deletes_only_what_up_made(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "influxdb").mkdir(parents=True)
    (data / "influxdb" / "series").touch()
    (data / "spool").mkdir()
    (data / "spool" / "waiting").touch()
    (data / "diary.txt").touch()
    environment = {**os.environ, "DATA_DIR": str(data), "MODE": "native", "STACK_ENV_FILE": str(tmp_path / ".env")}
    command = ("sh", str(ROOT / "native" / "stack"), "clean", "--yes")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in data.iterdir()] == ["diary.txt"]
    assert not (tmp_path / ".env").exists()


@pytest.mark.parametrize(
    ("bind", "host", "url"),
    [
        ("127.0.0.1", "127.0.0.1", "tcp://127.0.0.1:1883"),
        ("0.0.0.0", "127.0.0.1", "tcp://127.0.0.1:1883"),  # noqa: S104
        ("192.0.2.7", "192.0.2.7", "tcp://192.0.2.7:1883"),
        ("::", "::1", "tcp://[::1]:1883"),
    ],
)
def test_services_reach_the_broker_where_it_listens(tmp_path: Path, bind: str, host: str, url: str) -> None:
    settings = load(tmp_path / ".env", {"MQTT_BIND": bind, "HTTP_BIND": bind})
    assert (settings.mqtt_host, settings.mqtt_url_from("telegraf")) == (host, url)
    assert settings.http_url == url.replace("tcp", "http").replace("1883", "1880")


@pytest.mark.parametrize(
    ("sim", "with_the_demos", "with_my_own"), [("", True, False), ("0", False, False), ("1", True, True)]
)
@pytest.mark.parametrize("in_file", [False, True], ids=["environment", ".env"])
def test_the_demo_runs_only_with_the_demo_building_or_when_requested(
    tmp_path: Path, in_file: bool, sim: str, with_the_demos: bool, with_my_own: bool
) -> None:
    file, own = tmp_path / ".env", tmp_path / "own.json"
    own.write_text((ROOT / "flows" / "building" / "demo.json").read_text().replace("Harbour House", "My House"))
    load(file, {})
    assert "\nSIM=\n" in file.read_text()
    if in_file:
        file.write_text(file.read_text().replace("\nSIM=\n", f"\nSIM={sim}\n"))
    environment = {} if in_file else {"SIM": sim}
    assert load(file, environment).demo == with_the_demos
    assert load(file, environment | {"SDA_BUILDING": str(own)}).demo == with_my_own
    assert load(file, environment | {"SIM": "0"}).demo is False


def test_an_invalid_sim_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"SIM=yes is neither 1 .* nor 0"):
        load(tmp_path / ".env", {"SIM": "yes"})


def test_a_secret_missing_from_an_existing_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("HTTP_PORT=1880\n")
    with pytest.raises(StackError, match="has no SDA_API_KEY; restore the file"):
        load(tmp_path / ".env", {})
    assert (tmp_path / ".env").read_text() == "HTTP_PORT=1880\n"


def test_a_binary_file_is_reported(tmp_path: Path) -> None:
    load(tmp_path / ".env", {})
    with (tmp_path / ".env").open("ab") as file:
        file.write(b"A=\xff\xfe\n")
    with pytest.raises(StackError, match=r"is not text|is not KEY=value"):
        load(tmp_path / ".env", {})


def test_a_folder_instead_of_the_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    with pytest.raises(StackError, match="is no file"):
        load(tmp_path / ".env", {})


def test_a_link_with_a_proxy_is_reached_through_it_and_others_are_not(tmp_path: Path) -> None:
    settings = load(tmp_path / ".env", {"LINK_PORTS": "node-red-influxd=21001,telegraf-mosquitto=21002"})
    environments = {one.name: one.environment for one in processes(settings)}
    assert environments["node-red"]["INFLUX_URL"] == "http://127.0.0.1:21001"
    assert environments["spool"]["INFLUX_URL"] == settings.influx_url
    assert environments["telegraf"]["MQTT_URL"] == "tcp://127.0.0.1:21002"
    assert environments["node-red"]["MQTT_URL"] == f"ssl://127.0.0.1:{settings['MQTT_READERS_PORT']}"


@pytest.mark.parametrize(("key", "value", "known"), [("BROKER", "rabbit", "mosquitto"), ("STORES", "7", "1")])
def test_what_no_extra_has_is_refused_and_says_how_one_is_installed(
    tmp_path: Path, key: str, value: str, known: str
) -> None:
    with pytest.raises(StackError, match=rf"{key}={value} for .* is none of {known}.*EXTRA=its-name"):
        load(tmp_path / ".env", {key: value})


def test_one_store_leaves_no_mark(tmp_path: Path) -> None:
    settings = load(tmp_path / ".env", {})
    assert [process.name for process in processes(settings)][:4] == ["mosquitto", "influxd", "spool", "telegraf"]
    assert not [key for key in settings.values if "_2_" in key]
    assert "STORES" not in (tmp_path / ".env").read_text()
    telegraf, node_red = (_process(settings, name) for name in ("telegraf", "node-red"))
    assert "TELEGRAF_NAME" not in telegraf.environment
    assert not [key for key in node_red.environment if "_2_" in key]


def _process(settings: Settings, name: str) -> Process:
    return next(one for one in processes(settings) if one.name == name)
