"""compose.yaml, resolved by Compose: memory limits, health checks, no anonymous access, only needed ports."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ingest.private_broker import ENVIRONMENT, PrivateBroker, private_broker, run_tool
from stack.layout import ROOT, compose_program
from stack.processes import processes
from stack.settings import Settings, load
from stack.supervisor import MAX_OPEN_FILES

ONCE = {"accounts", "influx-apply", "registry"}
PUBLISHED = {"mosquitto": {1883, 8883}, "influxdb": {8086}, "node-red": {1880}}
NATIVE_NAME = {"influxdb": "influxd"}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load(tmp_path_factory.mktemp("compose") / ".env", {})


@pytest.fixture(scope="module")
def services(settings: Settings) -> dict[str, dict[str, Any]]:
    return _resolved(settings.env_file)


def _resolved(env_file: Path, **environment: str) -> dict[str, dict[str, Any]]:
    profiles = ("--profile", "demo", "--profile", "setup")
    command = (str(compose_program()), "--env-file", str(env_file), *profiles, "config", "--format", "json")
    whole = {**os.environ, **environment}
    done = subprocess.run(command, cwd=ROOT, env=whole, capture_output=True, text=True, check=True)
    resolved: dict[str, dict[str, Any]] = json.loads(done.stdout)["services"]
    return resolved


def test_no_image_is_built_twice(services: dict[str, Any]) -> None:
    built = [service["image"] for service in services.values() if "build" in service]
    assert len(built) == len(set(built))


def test_all_services_with_the_demo_are_limited_to_a_gibibyte(services: dict[str, dict[str, Any]]) -> None:
    assert sum(int(service.get("mem_limit", 0)) for service in services.values()) <= 2**30


def test_runs_the_same_services_as_the_native_list(services: dict[str, Any], settings: Settings) -> None:
    assert {NATIVE_NAME.get(name, name) for name in services.keys() - ONCE} == {one.name for one in processes(settings)}


def test_every_lasting_service_restarts_is_bounded_and_proves_its_health(services: dict[str, dict[str, Any]]) -> None:
    for name in services.keys() - ONCE:
        service = services[name]
        assert service["restart"] == "unless-stopped", name
        assert int(service["mem_limit"]) > 0, name
        assert name == "simulator" or service["healthcheck"]["test"], name
        assert "ALL" in service["cap_drop"], name


def test_what_works_for_later_yields_to_what_answers_now(services: dict[str, Any], settings: Settings) -> None:
    shares = {NATIVE_NAME.get(name, name): service.get("cpu_shares", 0) or 1024 for name, service in services.items()}
    natively = {one.name: int(one.command[2]) if one.command[0] == "nice" else 0 for one in processes(settings)}
    assert {name for name, nice in natively.items() if nice} == {"influxd", "telegraf"}
    for name, nice in natively.items():
        assert shares[name] == pytest.approx(1024 / 1.25**nice, rel=0.1), name  # so the kernel weighs a step of nice


def test_listeners_are_bounded_by_the_open_files_that_the_broker_has(services: dict[str, dict[str, Any]]) -> None:
    (reported,) = re.findall(r"--open-files (\d+)", " ".join(services["accounts"]["command"]))
    limit = services["mosquitto"]["ulimits"]["nofile"]
    assert limit in (int(reported), {"soft": int(reported), "hard": int(reported)})
    assert int(reported) == MAX_OPEN_FILES


def test_a_broker_that_has_not_read_its_files_is_found_by_its_pid_file(tmp_path: Path) -> None:
    """The command of native/compose, on a real broker."""
    (found,) = re.findall(r"exec -T mosquitto (find .*)\)$", (ROOT / "native" / "compose").read_text(), re.MULTILINE)

    def newer(broker: PrivateBroker) -> str:
        return subprocess.run(found.split(), cwd=broker.folder, capture_output=True, text=True, check=True).stdout

    with private_broker(tmp_path / "broker") as broker:
        assert newer(broker) == ""
        assert run_tool("broker/accounts.py", "--data", broker.folder, "add", "phone", "17").returncode == 0
        assert newer(broker) == "", "run.sh follows these"
        broker.provision(environment=ENVIRONMENT | {"MQTT_NODERED_PASSWORD": "another"})
        assert newer(broker).split() == ["sessions.json"]
        broker.restart()
        assert newer(broker) == ""


def test_order_is_gated_by_health_not_by_time(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        for needed, gate in service.get("depends_on", {}).items():
            expected = "service_completed_successfully" if needed in ONCE else "service_healthy"
            assert gate["condition"] == expected, f"{name} waits for {needed}"


def test_only_the_needed_ports_are_published_and_plain_ones_on_loopback(services: dict[str, dict[str, Any]]) -> None:
    published = {name: service["ports"] for name, service in services.items() if service.get("ports")}
    assert {name: {port["target"] for port in ports} for name, ports in published.items()} == PUBLISHED
    for port in (port for ports in published.values() for port in ports):
        assert port["host_ip"] == ("0.0.0.0" if port["target"] == 8883 else "127.0.0.1")  # noqa: S104 - TLS is for the LAN


def test_data_live_in_named_volumes(services: dict[str, dict[str, Any]]) -> None:
    kept = {
        mount["source"] for one in services.values() for mount in one.get("volumes", []) if mount["type"] == "volume"
    }
    assert kept == {"broker", "influxdb", "registry", "spool", "tokens", "node-red"}


def test_services_get_no_secret_they_do_not_need(services: dict[str, dict[str, Any]], settings: Settings) -> None:
    secrets = {value for key, value in settings.values.items() if key.endswith(("PASSWORD", "TOKEN", "KEY")) and value}
    held = {name: secrets & set((one.get("environment") or {}).values()) for name, one in services.items()}
    assert held["influxdb"] == set()
    assert held["registry"] == set()
    assert held["telegraf"] == {settings["MQTT_TELEGRAF_PASSWORD"]}  # its token it reads from a volume
    assert held["simulator"] == {settings["MQTT_SIMULATOR_PASSWORD"]}


def test_no_secret_stands_on_a_command_line(services: dict[str, dict[str, Any]], settings: Settings) -> None:
    secrets = [value for key, value in settings.values.items() if key.endswith(("PASSWORD", "TOKEN", "KEY")) and value]
    for name, one in services.items():
        lines = " ".join([*(one.get("command") or []), *(one.get("healthcheck", {}).get("test") or [])])
        assert not any(secret in lines for secret in secrets), name
        assert "-P " not in lines.replace('"-P $', ""), name  # in a file of options it is no argument


def test_influxdb_keeps_its_data_in_the_volume_and_stops_in_order(services: dict[str, dict[str, Any]]) -> None:
    influxdb = services["influxdb"]
    volume = next(mount["target"] for mount in influxdb["volumes"] if mount["type"] == "volume")
    for path in ("BOLT_PATH", "SQLITE_PATH", "ENGINE_PATH"):
        assert influxdb["environment"][f"INFLUXD_{path}"].startswith(volume + "/")
    assert influxdb["user"]
    assert influxdb["stop_signal"] == "SIGINT"


def test_configuration_is_mounted_from_the_folders_that_native_processes_read(
    services: dict[str, dict[str, Any]],
) -> None:
    mounted = {
        mount["source"] for one in services.values() for mount in one.get("volumes", []) if mount["type"] == "bind"
    }
    for path in (
        "broker",
        "broker/mosquitto.conf",
        "ingest",
        "influx/influxd.toml",
        "influx",
        "flows/building",
    ):
        assert str(ROOT / path) in mounted
        assert (ROOT / path).exists()


def test_the_building_is_found_in_its_folder_and_only_node_red_may_write_there(
    services: dict[str, dict[str, Any]], settings: Settings
) -> None:
    def folders(one: dict[str, Any]) -> list[dict[str, Any]]:
        return [mount for mount in one.get("volumes", []) if mount["target"] == "/building"]

    named = _resolved(settings.env_file, SDA_BUILDING_DIR="/srv/house", SDA_BUILDING_NAME="mine.json")
    for name in ("registry", "node-red", "simulator"):
        (mount,) = folders(services[name])
        assert mount["source"] == str(ROOT / "flows" / "building")
        assert mount.get("read_only", False) == (name != "node-red"), name
        assert folders(named[name])[0]["source"] == "/srv/house"
    assert services["node-red"]["environment"]["SDA_BUILDING"] == "/building/demo.json"
    assert named["registry"]["environment"]["SDA_BUILDING"] == "/building/mine.json"
    assert "/building/mine.json" in named["simulator"]["command"]


def test_missing_secret_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / ".env").touch()
    with pytest.raises(subprocess.CalledProcessError) as refused:
        _resolved(tmp_path / ".env")
    assert "run make env" in refused.value.stderr
