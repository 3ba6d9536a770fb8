"""The load laboratory on a real stack, whose parts reach each other through Toxiproxy: all is counted, also of two
workers over TLS; a starved generator makes its run void, a loss and a slower platform are found, a delayed connection
delays what goes over it."""

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
from influxdb_client.client.influxdb_client import InfluxDBClient
from lab.links import Links, proxies
from lab.own_stack import linked
from support import web
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import batch, eventually, get, publish
from unused_ports import unused_ports

SCENARIO = """
title = "Both ways in, with answers checked"
about = "Goal: the laboratory itself."
[short]
seconds = 3
[long]
seconds = 3
[[step]]
name = "devices"
load = [
  { kind = "devices", count = 20, interval_s = 1, readings = 2 },
  { kind = "calls", call = "insert", rate = 10, first = 50, staff = 2 },
  { kind = "calls", call = "hacs", rate = 5, first = 50, staff = 2 },
  { kind = "sockets", count = 2, topic = "floor:L1" },
]
[[step]]
name = "users"
load = [{ kind = "users", count = 3, think_s = [0.05, 0.1], mix = { staff = 1, monitoring = 1 } }]
"""
POLLS = """
title = "Polls, again and again"
about = "Goal: a figure to compare."
[short]
seconds = 1.5
repeats = 3
[long]
seconds = 1.5
[[step]]
name = "polls"
load = [{ kind = "calls", call = "hacs", rate = 20, staff = 5 }]
"""
DEVICES = 20
OK, FAILED, VOID = 0, 1, 5
DELAYS_MS = {"before": 300, "same": 300, "slower": 366}
"""Most of each answer's time: what other tests do to the machine meanwhile is small beside it."""
FROZEN_S = 1.0
HELD_BACK_S, TOO_LONG_S = 0.3, 4.5
"""Less and more than the flows wait for the database (`firstMs` in store-guard.js)."""


@pytest.fixture(scope="module")
def links_and_stack() -> Iterator[tuple[Links, RunningStack]]:
    """A stack with a proxy on each way between its parts."""
    ports = dict(zip(("INFLUX_PORT", "MQTT_PORT", "MQTT_READERS_PORT"), map(str, unused_ports(3)), strict=True))
    with linked(ports) as (settings, links), running_stack(environment=settings) as running:
        yield links, running


@pytest.fixture(scope="module")
def session_stack(links_and_stack: tuple[Links, RunningStack]) -> RunningStack:
    return links_and_stack[1]


@pytest.fixture
def links(links_and_stack: tuple[Links, RunningStack]) -> Links:
    return links_and_stack[0]


def test_a_run_counts_everything_and_says_that_it_is_void(stack: RunningStack, tmp_path: Path) -> None:
    """Two workers, one of them as on another machine: HTTPS, MQTT over TLS, an account for each receiver."""
    (tmp_path / "own.toml").write_text(SCENARIO)
    far = _far(stack, tmp_path, receivers=DEVICES)
    address = f"127.0.0.1:{unused_ports(1)[0]}"
    workers = ("--workers", "1", "--expect", "1", "--bind", address)
    arguments = ("run", str(tmp_path / "own.toml"), "--to", str(tmp_path / "runs"), *workers)
    with ExitStack() as open_:
        elsewhere = open_.enter_context(_simulator(stack, tmp_path, "worker", address, target=far))
        open_.callback(elsewhere.terminate)  # where the run does not begin, it would wait for it
        running = open_.enter_context(_simulator(stack, tmp_path, *arguments, target=far))
        _starve(running, tmp_path / "run.log")
        printed = running.communicate(timeout=120)[0] + (tmp_path / "run.log").read_text()
        assert elsewhere.wait(30) == OK, printed
    (folder,) = (tmp_path / "runs").iterdir()
    summary = json.loads((folder / "summary.json").read_text())

    assert running.returncode == VOID, printed
    assert any("late (p99; 50 ms are allowed)" in reason for reason in summary["void"])
    page = (folder / "report.html").read_text()
    assert page.count('class="void"') == page.count('<div class="table">') - 1  # but for the set-up
    assert page.count(">VOID<") == page.count("<figure") > 3
    url = f"https://localhost:{stack.ports.https}"
    assert "http" not in page.replace("http://www.w3.org", "").replace(url, "").replace(stack.influx_url, "")

    assert summary["counts"]["differences"] == []
    assert summary["counts"]["expected"] == summary["counts"]["stored"] == DEVICES * 2 * 3 + 30
    first, second = summary["shares"]
    assert (first["receivers"], second["receivers"]) == (DEVICES // 2, DEVICES // 2)
    assert first["readings"] + second["readings"] == summary["counts"]["stored"]
    assert first["requests"] + second["requests"] == summary["requests"]
    assert summary["wrong"] == 0
    assert all(one["p50_ms"] <= one["p99_ms"] <= one["worst_p99_ms"] for one in summary["live"])
    assert json.loads((folder / "live-lag.json").read_text())
    calls = {call for step in summary["steps"] for call in step["calls"]}
    assert calls - {"change", "unchanged"} == {"message", "insert", "hacs", "staff", "monitoring", "page"}
    (opened,) = [step["calls"]["page"] for step in summary["steps"] if "page" in step["calls"]]
    assert (opened["requests"], opened["faults"]) == (2, 0)  # each got its first snapshot

    receiver = _lose_one_message(stack, folder)
    with _simulator(stack, tmp_path, "recount", str(folder), "--wait", "1") as counting:
        counting.communicate(timeout=120)
    after = json.loads((folder / "summary.json").read_text())
    assert [(one["receiver"], one["sent"] - one["stored"]) for one in after["counts"]["differences"]] == [(receiver, 2)]
    assert any("other counts stored than sent" in reason for reason in after["failed"])


def test_a_platform_that_is_slower_by_a_fifth_is_a_regression_and_the_same_one_is_not(
    stack: RunningStack, tmp_path: Path
) -> None:
    """Three laboratories poll at the same time, each through a proxy that holds answers back."""
    (tmp_path / "polls.toml").write_text(POLLS)
    own, *listening = unused_ports(1 + len(DELAYS_MS))
    ports = dict(zip(DELAYS_MS, listening, strict=True))
    with ExitStack() as open_:
        ways = {name: (port, stack.ports.http) for name, port in ports.items()}
        links = open_.enter_context(proxies(ways, own))
        running = {}
        for name, port in ports.items():
            links.delay(name, DELAYS_MS[name])
            (tmp_path / name).mkdir()
            arguments = ("run", str(tmp_path / "polls.toml"), "--tries", "8", "--to", str(tmp_path / name / "runs"))
            running[name] = open_.enter_context(_simulator(stack, tmp_path / name, *arguments, http_port=port))
        printed = {name: one.communicate(timeout=240)[0] for name, one in running.items()}
    assert {name: one.returncode for name, one in running.items()} == dict.fromkeys(DELAYS_MS, OK), printed

    assert _compared(tmp_path, "before", "same")[0] == OK, _compared(tmp_path, "before", "same")
    code, text = _compared(tmp_path, "before", "slower")
    assert code == FAILED
    assert [line for line in text.splitlines() if " p50 " in line and line.endswith("REGRESSION")], text


def test_a_delayed_database_delays_what_is_asked_of_it_and_nothing_else(
    stack: RunningStack, links: Links, demo: Building
) -> None:
    """A time of which nothing is in memory is asked of the database; where somebody is now is not."""
    hours = iter(range(2, 1000))  # each time once, as an answer may be kept

    def history(**how: bool) -> tuple[int, float]:
        """Status and seconds."""
        end, started = int(time.time()) - next(hours) * 3600, time.monotonic()
        window = {"staff_id": "9", "start_time": end - 60, "end_time": end}
        answer = web.get(f"{stack.http_url}/extractbeacon", params=window, timeout=30, **how)
        return answer.status_code, time.monotonic() - started

    eventually(lambda: history()[1] < HELD_BACK_S, what="an answer without delay")
    try:
        links.delay("node-red-influxd", HELD_BACK_S * 1000)
        status, took_s = history()
        assert status == 200
        assert took_s >= HELD_BACK_S
        links.delay("node-red-influxd", TOO_LONG_S * 1000)
        status, took_s = history(retry_503=False)
        assert status == 503
        assert took_s < TOO_LONG_S, "who cannot be answered hears it soon"
        publish(stack, ("phone/9/readings", batch((demo.beacons[0].id, -40))))
        eventually(lambda: get(stack, "/api/v1/staff/9").json()["presence"], what="who is there now")
        assert get(stack, "/api/v1/staff/9").elapsed.total_seconds() < TOO_LONG_S
    finally:
        links.delay("node-red-influxd", 0)
    eventually(lambda: history()[1] < HELD_BACK_S, what="an answer without delay again")


def _compared(folder: Path, before: str, after: str) -> tuple[int, str]:
    sides = [[str(one) for one in sorted((folder / name / "runs").iterdir())] for name in (before, after)]
    program = Path(sys.executable).with_name("simulator")
    command = [str(program), "lab", "compare", *sides[0], "--after", *sides[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _far(stack: RunningStack, folder: Path, receivers: int) -> Path:
    """The target file of another machine; the broker gets an account for each receiver."""
    ids = [f"lab-{number}" for number in range(receivers)]
    (folder / "accounts.tsv").write_text(stack.command("account", "add", "phone", *ids))
    stack.wait_until_healthy()
    values = {
        "url": f"https://localhost:{stack.ports.https}",
        "ca": str(stack.authority),
        "mqtt_host": "localhost",
        "mqtt_port": stack.ports.mqtts,
        "accounts": str(folder / "accounts.tsv"),
        "influx_url": stack.influx_url,
    }
    file = folder / "far.toml"
    file.write_text("mqtt_tls = true\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()))
    return file


def _simulator(
    stack: RunningStack, folder: Path, *arguments: str, http_port: int = 0, target: Path | None = None
) -> "subprocess.Popen[str]":
    """Run `simulator lab`; with a target its lines for the operator go to a file named after the action."""
    env_file = folder / "target.env"
    values = {**stack.secrets, "HTTP_PORT": str(http_port or stack.ports.http)}
    env_file.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
    program = Path(sys.executable).with_name("simulator")
    command: list[str | Path] = [program, "lab", *arguments, "--target", target or env_file]
    environment = {key: value for key, value in os.environ.items() if key not in stack.secrets}
    with ExitStack() as open_:
        log = None
        if target is not None:
            log = open_.enter_context((folder / f"{arguments[0]}.log").open("w"))
            keys = {"LAB_API_KEY": "SDA_API_KEY", "LAB_VIEWER_PASSWORD": "SDA_VIEWER_PASSWORD"}
            environment |= {name: stack.secrets[key] for name, key in keys.items()}
            environment |= {key: stack.secrets[key] for key in ("INFLUX_READ_TOKEN", "INFLUX_ADMIN_TOKEN")}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)


def _starve(running: "subprocess.Popen[str]", log: Path) -> None:
    """Let a generator not run for a second, in the middle of its work."""

    def begun() -> bool:
        assert running.poll() is None, log.read_text()
        return "step 1 of " in log.read_text()

    eventually(begun, within_s=60, what="the first step")
    children = psutil.Process(running.pid).children()
    generator = next(one for one in children if _connections(one) >= DEVICES // 2)
    began_s = time.monotonic()
    eventually(lambda: time.monotonic() > began_s + 2.5, what="its middle")
    generator.suspend()
    frozen_s = time.monotonic()
    eventually(lambda: time.monotonic() > frozen_s + FROZEN_S, what="a second without CPU")
    generator.resume()


def _connections(process: psutil.Process) -> int:
    return sum(one.status == psutil.CONN_ESTABLISHED for one in process.net_connections("tcp"))


def _lose_one_message(stack: RunningStack, folder: Path) -> str:
    """Delete the two readings of one message from the database; returns their receiver."""
    with (folder / "raw" / "message.csv").open(newline="") as lines:
        row = next(csv.DictReader(lines))
    at = datetime.fromtimestamp(round(float(row["due_ms"])) / 1000, UTC)
    around = timedelta(milliseconds=2)  # the file has tenths: rounded, they may be another millisecond
    with InfluxDBClient(stack.influx_url, stack.secrets["INFLUX_ADMIN_TOKEN"], org="sda") as client:
        receiver = f'receiver="{row["subject"]}"'
        client.delete_api().delete(at - around, at + around, receiver, bucket="readings", org="sda")
    return str(row["subject"])
