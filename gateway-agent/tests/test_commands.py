"""The command line: help that teaches, exit codes, the live table, the outbox, readiness for systemd."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from beacons import ibeacon, ibeacon_id, tlm
from fake_bluez import FakeBluez
from gateway_agent.decoders import eddystone
from gateway_agent.scan_table import AdvertTable, render
from gateway_agent.systemd import watchdog_interval_s
from private_bus import PrivateBus
from rich.console import Console
from running_agent import StartAgent
from scenarios import SCAN
from waiting import eventually


def agent(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "gateway_agent", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_shows_examples() -> None:
    done = agent("--help")
    assert done.returncode == 0
    for word in ("run", "scan", "doctor", "outbox", "examples:", "config.toml", "SDA_GATEWAY_BROKER_HOST", 'id = "'):
        assert word in done.stdout
    for command in ("run", "scan", "doctor", "outbox"):
        assert agent(command, "--help").returncode == 0


def test_an_invalid_configuration_exits_with_2_and_names_the_key(tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text('id = "gw-1"\n[broker]\nhots = "b"\n')
    for command in ("run", "doctor", "outbox"):
        done = agent(command, "--config", str(path))
        assert done.returncode == 2
        assert "broker.hots is no key of this agent" in done.stderr
        assert "Traceback" not in done.stderr
    assert agent("run", SDA_GATEWAY_CONFIG=str(tmp_path / "none.toml")).returncode == 2


def test_scan_shows_received_adverts(bus: PrivateBus, bluez: FakeBluez) -> None:
    command = [sys.executable, "-m", "gateway_agent", "scan", "--seconds", "2"]
    environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "COLUMNS": "120"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        eventually(lambda: bluez.scanning, 20)
        for _ in range(10):
            assert bluez.advertise(ibeacon(1, -48))
        assert bluez.advertise(tlm(1, 2950, -48))
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    row = next(line for line in output.splitlines() if ibeacon_id(1) in line)
    cells = row.split()
    assert [*cells[:3], *cells[4:]] == [ibeacon_id(1), "ibeacon", "-48", "2950", "mV", "21.5"]
    assert 11 / 10 <= float(cells[3]) <= 11
    assert "11 adverts" in output


@contextlib.contextmanager
def handled(number: signal.Signals) -> Iterator[None]:
    """Child processes started within the block do not ignore the signal."""
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def test_scan_is_live_on_a_terminal_and_ends_with_ctrl_c(bus: PrivateBus, bluez: FakeBluez) -> None:
    ours, its = os.openpty()
    environment = {
        **os.environ,
        "DBUS_SYSTEM_BUS_ADDRESS": bus.address,
        "TERM": "xterm",
        "COLUMNS": "120",
        "LINES": "30",
    }
    command = [sys.executable, "-m", "gateway_agent", "scan"]
    # A background job of a shell ignores Ctrl-C, and its children inherit that. These tests may run as one.
    with (
        handled(signal.SIGINT),
        subprocess.Popen(command, env=environment, stdin=its, stdout=its, stderr=its) as process,
    ):
        os.close(its)
        eventually(lambda: bluez.scanning, 30)
        assert bluez.advertise(ibeacon(1, -48))
        shown = b""
        while ibeacon_id(1).encode() not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # the other end closes
            while more := os.read(ours, 4096):
                shown += more
    os.close(ours)
    assert process.returncode == 0, shown.decode()
    assert b"Traceback" not in shown


def test_the_scan_table_fits_80_columns() -> None:
    adverts = AdvertTable()
    for advert in (ibeacon(60_000, -101), tlm(60_000, 2950, -101)):
        adverts.add(advert.address, advert.rssi, advert.manufacturer, advert.service)
    console = Console(width=80, file=StringIO())
    console.print(render(adverts, time.monotonic()))
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert "…" not in shown
    assert "-101" in shown
    assert ibeacon_id(60_000) in "".join(line.split(" ")[0] for line in shown.splitlines())


@pytest.mark.parametrize("shown", ["https://[/b]", "https://[red]x"])
def test_an_address_that_looks_like_markup_is_shown_as_it_is(shown: str) -> None:
    adverts = AdvertTable()
    adverts.add(
        "C0:00:00:00:00:01", -60, {}, {eddystone.UUID: b"\x10\x00\x03" + shown.removeprefix("https://").encode()}
    )
    console = Console(width=120, file=StringIO())
    console.print(render(adverts, time.monotonic()))
    assert isinstance(console.file, StringIO)
    assert shown in console.file.getvalue()


def test_scan_ends_cleanly_without_bluetoothd(bus: PrivateBus, bluez: FakeBluez) -> None:
    command = [sys.executable, "-m", "gateway_agent", "scan", "--seconds", "3"]
    environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "COLUMNS": "120"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        eventually(lambda: bluez.scanning, 20)
        assert bluez.advertise(ibeacon(1, -48))
        bluez.stop()
        output, errors = process.communicate(timeout=30)
    assert ibeacon_id(1) in output
    assert "Traceback" not in errors


def test_errors_of_bluez_are_shown_in_full(bus: PrivateBus, bluez: FakeBluez) -> None:
    bluez.in_progress = True
    done = agent("scan", "--seconds", "1", DBUS_SYSTEM_BUS_ADDRESS=bus.address)
    assert "[org.bluez.Error.InProgress]" in done.stdout


def test_scan_without_bluetooth_says_what_to_do(bus: PrivateBus) -> None:
    done = agent("scan", "--seconds", "1", DBUS_SYSTEM_BUS_ADDRESS=bus.address)
    assert done.returncode == 1
    assert "gateway-agent doctor" in done.stdout


def test_outbox_shows_waiting_batches(start_agent: StartAgent, bluez: FakeBluez) -> None:
    running = start_agent(scan={**SCAN, "window_ms": 200}, broker={"port": 1})
    assert "not" not in running.command("outbox").stdout or running.running
    eventually(lambda: bluez.scanning, 30, running.log)
    for number in range(3):
        assert bluez.advertise(ibeacon(number))
    eventually(lambda: "waiting      3 readings" in running.command("outbox").stdout, 30, running.log)
    shown = running.command("outbox").stdout
    assert "agent        running" in shown
    assert "the oldest waiting batches" in shown
    running.stop()
    assert "agent        not running" in running.command("outbox").stdout


def test_systemd_gets_notifications(tmp_path: Path, start_agent: StartAgent, bluez: FakeBluez) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(str(tmp_path / "notify"))
        notified.settimeout(20)
        environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"}
        agent = start_agent(scan=SCAN, environment=environment)
        said = [notified.recv(4096).decode() for _ in range(5)]
        assert said[0] == "READY=1"
        assert all(message.startswith("WATCHDOG=1\nSTATUS=") for message in said[1:])
        assert bluez.starts or agent.running
        agent.stop()
        notified.settimeout(5)
        while notified.recv(4096) != b"STOPPING=1":
            pass


@pytest.mark.parametrize(
    ("microseconds", "pid", "interval"),
    [("", "", None), ("60000000", "", 30), ("60000000", "1", None), ("x", "", None)],
)
def test_watchdog_interval(
    monkeypatch: pytest.MonkeyPatch, microseconds: str, pid: str, interval: float | None
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", microseconds)
    if pid:
        monkeypatch.setenv("WATCHDOG_PID", pid)
    assert watchdog_interval_s() == interval
