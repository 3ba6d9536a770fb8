"""The Compose files of a campus' parts, resolved by Compose: limits, health checks, rights, only needed ports."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from campus.extra import PLACEHOLDERS, ROLES
from stack.layout import ROOT, compose_program
from stack.settings import load

ONCE = {"files", "influx-apply", "registry"}
SERVICES = {
    "node": {"node"},
    "site": {"broker", "influxdb", "spool", "telegraf", "node-red"},
    "entry": {"entry-1", "entry-2", "haproxy"},
}
PUBLISHED = {"node": {"node": {8883, 6222}}, "site": {"node-red": {1443}}, "entry": {"haproxy": {8443, 8883}}}
Services = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Services]:
    env_file = load(tmp_path_factory.mktemp("compose") / ".env", {}).env_file
    return {role: _resolved(files, env_file) for role, files in ROLES.items()}


def _resolved(files: tuple[Path, ...], env_file: Path) -> Services:
    chosen = ["--project-directory", str(ROOT), *(part for name in files for part in ("--file", str(name)))]
    command = [str(compose_program()), "--env-file", str(env_file), *chosen, "config", "--format", "json"]
    environment = {**os.environ, **PLACEHOLDERS}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    resolved: Services = json.loads(done.stdout)["services"]
    return resolved


@pytest.mark.parametrize("role", list(SERVICES))
def test_it_has_its_services_and_publishes_only_tls(roles: dict[str, Services], role: str) -> None:
    services = roles[role]
    assert services.keys() - ONCE == SERVICES[role]
    published = {name: {port["target"] for port in one["ports"]} for name, one in services.items() if one.get("ports")}
    assert published == PUBLISHED[role]


@pytest.mark.parametrize("role", list(SERVICES))
def test_every_lasting_service_restarts_is_bounded_and_proves_its_health(roles: dict[str, Services], role: str) -> None:
    for name in SERVICES[role]:
        service = roles[role][name]
        assert service["restart"] == "unless-stopped", name
        assert int(service["mem_limit"]) > 0, name
        assert service["healthcheck"]["test"], name


@pytest.mark.parametrize("role", list(SERVICES))
def test_no_service_has_a_right_it_does_not_need(roles: dict[str, Services], role: str) -> None:
    for name, service in roles[role].items():
        assert "ALL" in service["cap_drop"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert service["read_only"], name
        if name not in ONCE:
            assert not service.get("cap_add"), name
            assert service["user"].split(":")[0] not in {"", "0"}, name
        for mount in service.get("volumes", []):
            if mount["type"] == "bind":
                assert mount.get("read_only"), f"{name} may write {mount['source']}"


@pytest.mark.parametrize("role", list(SERVICES))
def test_order_is_gated_by_health(roles: dict[str, Services], role: str) -> None:
    for name, service in roles[role].items():
        for needed, gate in service.get("depends_on", {}).items():
            expected = "service_completed_successfully" if needed in ONCE else "service_healthy"
            assert gate["condition"] == expected, f"{name} waits for {needed}"


@pytest.mark.parametrize("role", list(SERVICES))
def test_no_image_is_built_twice(roles: dict[str, Services], role: str) -> None:
    built = [one["image"] for one in roles[role].values() if "build" in one]
    assert len(built) == len(set(built))


def test_a_site_reaches_its_broker_by_its_haproxy_alone(roles: dict[str, Services]) -> None:
    site = roles["site"]
    assert site["telegraf"]["environment"]["MQTT_URL"] == "tcp://broker:1883"
    assert (site["node-red"]["environment"]["MQTT_HOST"], site["node-red"]["environment"]["MQTT_PORT"]) == (
        "broker",
        "1883",
    )
    assert site["node-red"]["environment"]["SDA_BRIDGE_ADDRESS"] == "", "no address of a bridge is trusted"
