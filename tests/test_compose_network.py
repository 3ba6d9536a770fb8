"""compose.https.yaml and compose.proxy.yaml: what they add to compose.yaml, and when native/network.sh takes them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from stack.layout import ROOT, compose_program
from stack.settings import Settings, load


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load(tmp_path_factory.mktemp("compose") / ".env", {})


def _resolved(env_file: Path, **environment: str) -> dict[str, dict[str, Any]]:
    command = (str(compose_program()), "--env-file", str(env_file), "config", "--format", "json")
    whole = {**os.environ, **environment}
    done = subprocess.run(command, cwd=ROOT, env=whole, capture_output=True, text=True, check=True)
    resolved: dict[str, dict[str, Any]] = json.loads(done.stdout)["services"]
    return resolved


def _network(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ("sh", "native/network.sh", *arguments)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_files_are_taken_where_their_settings_are_made() -> None:
    assert _network("", "", "", "").stdout == "COMPOSE_FILE=compose.yaml\n"
    assert _network("8443", "", "", "").stdout == "COMPOSE_FILE=compose.yaml:compose.https.yaml\n"
    assert _network("", "", "", "sda.example.org").stdout == "COMPOSE_FILE=compose.yaml:compose.proxy.yaml\n"


def test_a_certificate_of_ones_own_lies_in_one_folder_with_its_key(tmp_path: Path) -> None:
    cert, key, other = tmp_path / "full.pem", tmp_path / "key.pem", tmp_path / "other" / "key.pem"
    assert "must both be files" in _network("8443", str(cert), str(key), "").stderr
    other.parent.mkdir()
    for file in (cert, key, other):
        file.touch()
    reported = dict(line.split("=", 1) for line in _network("8443", str(cert), str(key), "").stdout.splitlines())
    assert (reported["HTTPS_DIR"], reported["HTTPS_CERT_NAME"], reported["HTTPS_KEY_NAME"]) == (
        str(tmp_path),
        cert.name,
        key.name,
    )
    assert "must lie in one folder" in _network("8443", str(cert), str(other), "").stderr
    assert "must both be files" in _network("8443", str(cert), "", "").stderr


def test_https_is_published_and_its_key_reaches_only_who_makes_renews_and_shows_it(settings: Settings) -> None:
    files = "compose.yaml:compose.https.yaml"
    with_https = _resolved(settings.env_file, COMPOSE_FILE=files, HTTPS_PORT="8443")
    holders = {
        name: mount.get("read_only", False)
        for name, one in with_https.items()
        for mount in one.get("volumes", [])
        if mount["source"] == "https"
    }
    assert holders == {"accounts": False, "certificates": False, "node-red": True}
    reported = with_https["node-red"]["environment"]
    (published,) = [port for port in with_https["node-red"]["ports"] if port["published"] == "8443"]
    assert (published["host_ip"], str(published["target"])) == ("0.0.0.0", reported["HTTPS_PORT"])  # noqa: S104
    assert reported["HTTP_BIND"] == "127.0.0.1"
    assert with_https["accounts"]["environment"]["HTTPS"] == "--https --https-gid 1000"
    assert with_https["node-red"]["user"] == "1000:1000"
    own = _resolved(settings.env_file, COMPOSE_FILE=files, HTTPS_PORT="8443", HTTPS_DIR="/etc/sda")["node-red"]
    assert ("/etc/sda", "/https") in {(mount["source"], mount["target"]) for mount in own["volumes"]}


def test_the_proxy_is_bounded_and_known_to_node_red_by_its_address(settings: Settings) -> None:
    environment = {"PROXY_NAME": "sda.example.org", "PROXY_TLS": "internal", "SDA_TRUSTED_PROXIES": "192.0.2.1"}
    services = _resolved(settings.env_file, COMPOSE_FILE="compose.yaml:compose.proxy.yaml", **environment)
    proxy, reported = services["proxy"], services["node-red"]["environment"]
    assert proxy["restart"] == "unless-stopped"
    assert proxy["cap_drop"] == ["ALL"]
    assert int(proxy["mem_limit"]) > 0
    assert reported["SDA_TRUSTED_PROXIES"].split(",") == ["192.0.2.1", proxy["networks"]["default"]["ipv4_address"]]
    assert "sda.example.org" in reported["HTTP_NAMES"].split(",")
    assert {port["published"] for port in proxy["ports"]} == {"80", "443"}
