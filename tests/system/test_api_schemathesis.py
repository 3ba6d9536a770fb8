"""Schemathesis generates thousands of valid and invalid requests from the description and finds no fault.

On a stack of its own, since it changes things, with people, gateways and measurements in it.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from stack.layout import ROOT
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import now_ms, publish
from support.walks import walk

CONFIGURATION = ROOT / "tests" / "support" / "schemathesis.toml"
SEED = 20_261_121
"""The same requests in each run, as long as the responses are the same; another seed gives others."""


@pytest.fixture(scope="module")
def populated(demo: Building) -> Iterator[RunningStack]:
    with running_stack() as stack:
        walk(stack, demo, "ann", "ben")
        beacon, gateway, ts = demo.beacons[0], demo.gateways[0], now_ms()
        measured = {"beacon": beacon.id, "rssi": -60, "battery_mv": 2900, "temperature_c": 21.5, "humidity_pct": 50}
        publish(
            stack,
            ("phone/ann/readings", {"v": 1, "ts": ts - 120_000, "readings": [measured]}),
            (f"gateway/{gateway.id}/status", {"state": "online", "ts": ts, "version": "1"}),
            (f"gateway/{gateway.id}/health", {"ts": ts, "uptime_s": 1}),
        )
        yield stack


def test_schemathesis_finds_nothing(populated: RunningStack, tmp_path: Path) -> None:
    report = tmp_path / "requests.har"
    command: list[str | Path] = [
        Path(sys.executable).with_name("schemathesis"), "--no-color", "--config-file", CONFIGURATION, "run",
        f"{populated.http_url}/api/v1/openapi.json", "--header", f"X-API-Key: {populated.secrets['SDA_API_KEY']}",
        "--seed", str(SEED), "--continue-on-failure", "--warnings", "off",
        "--report", "har", "--report-har-path", report,
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "SCHEMATHESIS_HOOKS": "support.schemathesis_hooks"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    statuses = Counter(entry["response"]["status"] for entry in json.loads(report.read_text())["log"]["entries"])
    assert statuses[200] > 400, "most requests were refused early, which proves little"
    assert not statuses.keys() & {401, 403, 500, 503}, statuses
