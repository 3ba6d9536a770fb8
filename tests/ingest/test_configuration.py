"""Telegraf's configuration read as data: what it needs is built, and each file is one plugin."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from gateway_agent import health
from gateway_agent.outbox import Depth
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.window import IGNORED
from stack.layout import ROOT
from telegraf import MAX_REQUEST_BYTES

INGEST = ROOT / "ingest"
FILES = sorted((INGEST / "telegraf.d").glob("*.conf"))
IN_REGISTRY = {"processors.starlark"}
"""What registry.conf has, which the flows write."""
SUBSCRIPTIONS = [path for path in FILES if "[[inputs.mqtt_consumer]]" in path.read_text()]


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def plugins(path: Path) -> set[str]:
    """Every plugin, parser and serializer that a file of telegraf.d uses, as the build tags name them."""
    found = set()
    for kind, named in read(path).items():
        for name, instances in named.items():
            found.add(f"{kind}.{name}")
            found |= {f"parsers.{one['data_format']}" for one in instances if kind == "inputs" and "data_format" in one}
            if name == "influxdb_v2":
                found.add("serializers.influx")
    return found


def test_build_list_names_exactly_what_is_used() -> None:
    lines = (INGEST / "plugins.txt").read_text().splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    assert listed == sorted(IN_REGISTRY.union(*map(plugins, FILES)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_one_plugin_a_file_of_at_most_forty_lines(path: Path) -> None:
    kinds = read(path)
    assert [len(named) for named in kinds.values()] == [1]
    assert [len(instances) for named in kinds.values() for instances in named.values()] == [1]
    lines = path.read_text().splitlines()
    assert len(lines) <= 40
    assert lines[0].startswith("# "), "the first line states the file's purpose"


@pytest.mark.parametrize("path", SUBSCRIPTIONS, ids=lambda path: path.stem)
def test_every_subscription_is_at_least_once_and_its_session_nobodys_else(path: Path) -> None:
    (consumer,) = read(path)["inputs"]["mqtt_consumer"]
    assert consumer["qos"] == 1
    assert consumer["persistent_session"] is True
    assert consumer["client_id"] == f"${{TELEGRAF_NAME:-telegraf}}/{consumer['alias']}"
    assert consumer["username"] == f"${{TELEGRAF_NAME:-telegraf}}-{consumer['alias']}"
    assert consumer["password"] == "${MQTT_TELEGRAF_PASSWORD}"
    assert consumer["startup_error_behavior"] == "retry"


def test_what_is_under_way_fits_into_the_buffer() -> None:
    """Overflow would lose. No reading that makes a point of its own is shorter."""
    shortest = len('{"beacon":"1","rssi":-1,"battery_mv":1},')
    agent = read(INGEST / "telegraf.conf")["agent"]
    points = MAX_REQUEST_BYTES // shortest
    assert 2 * points <= agent["metric_buffer_limit"], "a request and one that was handed over again"


def test_the_spool_reads_as_telegraf_did() -> None:
    """Its account, its session and its topics; nobody else posts to Telegraf."""
    (listener,) = read(INGEST / "telegraf.d" / "input-readings.conf")["inputs"]["http_listener_v2"]
    assert listener["basic_password"] == "${MQTT_TELEGRAF_PASSWORD}"
    assert listener["paths"] == ["/readings"]


def test_every_figure_of_the_gateway_agent_is_taken() -> None:
    """Fields are named one by one, so that no gateway can fill the bucket; a new figure must be added there."""
    body = health.message(
        ts=1,
        version="1",
        counters=health.Counters(),
        adverts=0,
        ignored=dict.fromkeys(IGNORED, 0),
        unregistered_distinct=0,
        depth=Depth(0, 0, 0, 0, 0, None),
        failing=False,
        dropped=Counter(["age", "size", "time", "disk"]),
        damaged=0,
        synchronised=True,
        clock_offset_ms=0.5,
        clock_jumps=0,
        settings=ScanSettings(),
    )
    (consumer,) = read(INGEST / "telegraf.d" / "input-gateway-health.conf")["inputs"]["mqtt_consumer"]
    figures = set(json.loads(body)) - {"ts"} | {"cpu_temperature_c"}  # which not every machine has
    assert set(consumer["fieldinclude"]) == figures
