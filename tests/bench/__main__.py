"""`make bench`: phones at full load against the whole stack: counts, CPU and memory of each part; the locator alone.

The generator runs on the same machine; its own share stands in the table. Results: the screen and docs/benchmarks.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from stack.install import print_line
from stack.layout import ROOT
from support.running import RunningStack, running_stack
from support.stack_client import eventually, influx
from support.stored import stored_readings

from bench import locator

SERVICES = ("mosquitto", "telegraf", "influxd", "node-red")
SETTLE_WITHIN_S = 60.0


def main() -> int:
    """Run the load, print and write the table; exit code 1 if the counts differ."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--phones", type=int, default=2000, help="how many virtual SDAs (%(default)s)")
    parser.add_argument("--interval", type=float, default=4.0, help="seconds between a phone's messages (%(default)s)")
    parser.add_argument("--duration", type=float, default=120.0, help="seconds of load (%(default)s)")
    arguments = parser.parse_args()
    alone = locator.measure()
    with running_stack() as stack:
        print_line(
            f"{arguments.phones} phones, a message of 4 readings every {arguments.interval} s, {arguments.duration} s …"
        )
        before = {name: _cpu_s(stack, name) for name in SERVICES}
        simulated = _phones(stack, arguments.phones, arguments.interval, arguments.duration)
        sent = int(simulated["readings"])
        _wait_until_stored(stack, int(simulated["acknowledged"]))
        rows: list[tuple[str, float, float | None]] = [
            (name, _cpu_s(stack, name) - before[name], _rss_mib(stack, name)) for name in SERVICES
        ]
        stored = len(stored_readings(stack))  # after the measurement: all of them are fetched
    rows.append(("simulator", simulated["cpu_s"], None))
    page = _page(arguments, simulated, stored, rows, alone)
    if arguments == parser.parse_args([]):  # a trial with other figures is no benchmark
        (ROOT / "docs" / "benchmarks.md").write_text(page)
    print_line(page)
    return 0 if stored == sent and not simulated["failed"] else 1


def _phones(stack: RunningStack, phones: int, interval_s: float, duration_s: float) -> dict[str, Any]:
    command = (str(Path(sys.executable).with_name("simulator")), "phones", "-n", str(phones), "--readings", "4",
               "--interval", str(interval_s), "--duration", str(duration_s), "--json")  # fmt: skip
    environment = {
        **os.environ,
        "MQTT_PORT": str(stack.ports.mqtt),
        "MQTT_SIMULATOR_PASSWORD": stack.secrets["MQTT_SIMULATOR_PASSWORD"],
    }
    before = os.times()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    after = os.times()
    summary: dict[str, Any] = json.loads(done.stdout)
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return summary | {"cpu_s": spent}


def _wait_until_stored(stack: RunningStack, batches: int) -> None:
    """Until so many batches are stored, or not within the time that is given."""

    def count() -> int:
        rows = influx(stack, "readings", "SELECT count(readings) FROM batch")
        return int(rows[0]["count"]) if rows else 0

    with suppress(AssertionError):
        eventually(lambda: count() >= batches, SETTLE_WITHIN_S)


def _cpu_s(stack: RunningStack, name: str) -> float:
    times = psutil.Process(stack.pid(name)).cpu_times()
    return float(times.user + times.system)


def _rss_mib(stack: RunningStack, name: str) -> float:
    return float(psutil.Process(stack.pid(name)).memory_info().rss) / 2**20


def _page(
    arguments: argparse.Namespace,
    simulated: dict[str, Any],
    stored: int,
    rows: list[tuple[str, float, float | None]],
    alone: dict[str, Any],
) -> str:
    messages, puback = int(simulated["sent"]), simulated["puback_ms"]
    table = [
        f"| {name} | {cpu_s:.1f} | {cpu_s / messages * 1e6:.0f} | {'' if rss is None else f'{rss:.0f}'} |"
        for name, cpu_s, rss in rows
    ]
    lines = [
        f"Measured by `make bench` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}).",
        "Generator and services share the machine. Figures drift from machine to machine; take them as ratios.",
        "",
        f"**{arguments.phones} phones, 4 readings every {arguments.interval:g} s, for {arguments.duration:g} s.**",
        f"Sent {messages} messages with {simulated['readings']} readings, acknowledged {simulated['acknowledged']},",
        f"failed {simulated['failed']}; **readings in InfluxDB: {stored}**.",
        f"PUBACK p50 {puback['p50']:.1f} ms, p99 {puback['p99']:.1f} ms.",
    ]
    head = ["| part | CPU s | CPU µs a message | RSS MiB at the end |", "|---|---|---|---|"]
    return "\n".join(["# Benchmarks", "", *lines, "", *head, *table, "", *locator.lines(alone), ""])


if __name__ == "__main__":
    sys.exit(main())
