"""`simulator mixed` on a whole stack: gateways are online and find people in their true rooms."""

import csv
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import eventually, get, history, influx

WATCHED_S = 15
RIGHT_SHARE = 0.7  # of seconds; docs/accuracy.md has what gateways reach


@pytest.fixture(scope="module")
def site() -> Iterator[RunningStack]:
    with running_stack() as stack:
        yield stack


@contextmanager
def playing(stack: RunningStack, *arguments: str | Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """The simulator beside the test; stopped in order at the end."""
    command = [Path(sys.executable).with_name("simulator"), *arguments, "--building", stack.building]
    given = {"MQTT_HOST": "127.0.0.1", "MQTT_PORT": str(stack.ports.mqtt), **environment}
    with subprocess.Popen(command, env={**os.environ, **given}) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


def gateways(stack: RunningStack) -> dict[str, dict[str, Any]]:
    return {one["gateway"]: one for one in get(stack, "/api/v1/gateways", limit=500).json()["gateways"]}


def beacons(stack: RunningStack) -> dict[str, dict[str, Any]]:
    return {one["beacon"]: one for one in get(stack, "/api/v1/beacons", limit=500).json()["beacons"]}


def all_are(stack: RunningStack, state: str) -> bool:
    return {one["state"] for one in gateways(stack).values()} == {state}


def test_people_are_found_through_gateways_and_phones(site: RunningStack, demo: Building, tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    tags = {tag: one["id"] for one in demo.raw["staff"] for tag in one.get("tags", [])}
    arguments = ("mixed", "--low-batteries", "1", "--truth", truth, "--final-status", "removed")
    with playing(site, *arguments, MQTT_SIMULATOR_PASSWORD=site.secrets["MQTT_SIMULATOR_PASSWORD"]):
        eventually(lambda: all_are(site, "online"), what="all gateways online")
        assert all(one["health"]["registered"] == 120 + len(tags) for one in gateways(site).values())
        eventually(
            lambda: all((beacons(site)[tag]["measured"] or {}).get("battery_mv") for tag in tags),
            what="each tag's battery",
        )
        low = [tag for tag in tags if beacons(site)[tag]["measured"]["battery_mv"] < 2400]
        assert len(low) == 1
        start_s = time.time()
        carried = sorted(set(tags.values()))
        eventually(
            lambda: all(len(history(site, one, start_s, start_s + WATCHED_S)) >= WATCHED_S for one in carried),
            what="where those with tags were",
        )
        right = [
            record["location"] == demo.room_name(_true_room(truth, one, record["timestamp"]))
            for one in carried
            for record in history(site, one, start_s, start_s + WATCHED_S)
        ]
        assert sum(right) / len(right) >= RIGHT_SHARE, f"{sum(right)} of {len(right)} seconds are right"
        people = {one["staff_id"]: one for one in get(site, "/api/v1/staff", limit=500).json()["staff"]}
        assert sum(one["presence"] is not None for one in people.values()) == len(people) == 50
        assert get(site, "/health").json()["parts"]["building"]["simulated"] == 50
    # They leave nothing behind that would look like 113 gateways that are down.
    eventually(lambda: all_are(site, "unknown"), what="gateways are forgotten")
    assert not [one for one in get(site, "/api/v1/alerts").json()["alerts"] if one["kind"] == "gateway_down"]
    stored = influx(site, "health", "SELECT count(uptime_s) FROM gateway_health GROUP BY gateway")
    assert len(stored) == 113


def test_each_gateway_under_its_own_account_over_tls(site: RunningStack, demo: Building, tmp_path: Path) -> None:
    accounts = tmp_path / "accounts.tsv"
    accounts.write_text(site.command("account", "add", "gateway", *(one.id for one in demo.gateways)))
    with playing(site, "gateways", "--accounts", accounts, "--ca", site.authority, **_tls(site)):
        eventually(lambda: all_are(site, "online"), what="all gateways online")
        eventually(
            lambda: all(one["health"]["acked"] > 0 for one in gateways(site).values() if one["readings_per_s"] > 1),
            what="acknowledged readings",
        )
        assert all(one["health"]["registered"] > 120 for one in gateways(site).values())
    eventually(lambda: all_are(site, "offline"), what="all gateways offline")


def _tls(stack: RunningStack) -> Mapping[str, str]:
    return {"MQTT_HOST": "localhost", "MQTTS_PORT": str(stack.ports.mqtts)}


def _true_room(truth: Path, staff_id: str, at_s: int) -> str:
    """The room at the end of a second."""
    with truth.open() as file:
        rows = [row for row in csv.DictReader(file) if row["staff_id"] == staff_id]
    return [row["room"] for row in rows if int(row["ts_ms"]) <= at_s * 1000 + 999][-1]
