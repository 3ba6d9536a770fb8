"""native/versions.env is the only place for versions: all other files agree with it."""

import json
import re
from pathlib import Path

import pytest
import yaml
from stack.layout import ROOT, VERSIONS

IMAGES = {
    "mosquitto": f"eclipse-mosquitto:{VERSIONS['MOSQUITTO_IMAGE_VERSION']}",
    "influxdb": f"influxdb:{VERSIONS['INFLUXDB_VERSION']}",
    "telegraf": f"telegraf:{VERSIONS['TELEGRAF_VERSION']}",
    "certificates": f"python:{VERSIONS['PYTHON_IMAGE_VERSION']}",
    "accounts": f"python:{VERSIONS['PYTHON_IMAGE_VERSION']}",
    "influx-apply": f"python:{VERSIONS['PYTHON_IMAGE_VERSION']}",
}
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SPOKEN = {
    r"Telegraf \*{0,2}v?(\d[\d.]*\d)": "TELEGRAF_VERSION",
    r"InfluxDB \*{0,2}v?(\d+\.\d+\.\d+)": "INFLUXDB_VERSION",
    r"Node-RED \*{0,2}v?(\d+\.\d+\.\d+)": "NODE_RED_VERSION",
    r"Dashboard \*{0,2}v?(1\.\d+\.\d+)": "DASHBOARD_VERSION",
    r"eclipse-mosquitto:([\w.-]*\w)": "MOSQUITTO_IMAGE_VERSION",
    r"^Versions stand in .*?Mosquitto (\d+\.\d+) ": "MOSQUITTO_SERIES",
}


@pytest.mark.parametrize(("service", "image"), IMAGES.items())
def test_compose_runs_the_pinned_image(service: str, image: str) -> None:
    assert yaml.safe_load((ROOT / "compose.yaml").read_text())["services"][service]["image"] == image


def test_compose_pins_every_image() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert all(re.search(r":\d", service["image"]) for service in services.values())


def test_natively_and_in_compose_mosquitto_is_of_one_series() -> None:
    assert VERSIONS["MOSQUITTO_IMAGE_VERSION"].startswith(f"{VERSIONS['MOSQUITTO_SERIES']}.")


def test_the_proxy_is_the_pinned_image() -> None:
    proxy = yaml.safe_load((ROOT / "compose.proxy.yaml").read_text())["services"]["proxy"]
    assert proxy["image"] == f"caddy:{VERSIONS['CADDY_IMAGE_VERSION']}"


@pytest.mark.parametrize(
    ("folder", "base"),
    [
        ("flows", f"node:{VERSIONS['NODE_VERSION']}-"),
        ("simulator", f"python:{VERSIONS['PYTHON_IMAGE_VERSION']}"),
        ("gateway-agent", f"python:{VERSIONS['PYTHON_IMAGE_VERSION']}"),
    ],
)
def test_dockerfile_builds_on_the_pinned_image(folder: str, base: str) -> None:
    lines = (ROOT / folder / "Dockerfile").read_text().splitlines()
    bases = [line.split()[-1 if " AS " not in line else -3] for line in lines if line.startswith("FROM")]
    assert bases
    assert all(found.startswith(base) for found in bases), bases


def test_flows_depend_on_the_pinned_packages() -> None:
    dependencies = json.loads((ROOT / "flows" / "package.json").read_text())["dependencies"]
    assert dependencies["node-red"] == VERSIONS["NODE_RED_VERSION"]
    assert dependencies["@flowfuse/node-red-dashboard"] == VERSIONS["DASHBOARD_VERSION"]


@pytest.mark.parametrize(
    ("module", "requirement"),
    [
        ("influxd", f"github.com/influxdata/influxdb/v2 v{VERSIONS['INFLUXDB_VERSION']}"),
        ("compose", f"github.com/docker/compose/v2 v{VERSIONS['COMPOSE_VERSION']}"),
    ],
)
def test_native_build_requires_the_pinned_module(module: str, requirement: str) -> None:
    assert requirement in (ROOT / "native" / "build" / module / "go.mod").read_text()


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_docs_speak_of_the_pinned_versions(page: Path) -> None:
    text = page.read_text()
    for pattern, key in SPOKEN.items():
        for found in re.findall(pattern, text, re.MULTILINE):
            assert found == VERSIONS[key], f"{page} says {found} where {key} is {VERSIONS[key]}"
