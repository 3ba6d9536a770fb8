"""Scanning continues when a scanner thread or an adapter reset hangs."""

import asyncio
import threading
import time
from pathlib import Path

import pytest
from beacons import ibeacon
from bleak import BleakScanner
from fake_bluez import FakeBluez
from gateway_agent import scan_supervisor, scanner
from gateway_agent.bluez import Adapter
from gateway_agent.health import Counters
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.scan_supervisor import ScanSupervisor, Watchdog
from gateway_agent.scanner import ScanError, Scanner
from gateway_agent.window import Intake
from private_bus import PrivateBus


@pytest.fixture
def on_bus(bus: PrivateBus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan on the private bus."""
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)


@pytest.mark.usefixtures("on_bus")
def test_a_hanging_scanner_is_abandoned(bluez: FakeBluez, monkeypatch: pytest.MonkeyPatch) -> None:
    free = threading.Event()

    class Hanging(BleakScanner):
        async def stop(self) -> None:
            while not free.is_set():
                try:
                    await asyncio.sleep(0.05)
                except asyncio.CancelledError:
                    continue
            await super().stop()

    addresses: list[str] = []

    async def work() -> None:
        hanging = Scanner(lambda address, *_: addresses.append(address), "")
        await hanging.start()
        with pytest.raises(ScanError, match="hangs"):
            await hanging.stop()
        assert bluez.scanning
        await asyncio.to_thread(bluez.advertise, ibeacon(1))
        free.set()
        while bluez.scanning:  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)

    monkeypatch.setattr(scanner, "BleakScanner", Hanging)
    monkeypatch.setattr(scanner, "ANSWER_WITHIN_S", 0.2)
    monkeypatch.setattr(scanner, "ENDS_WITHIN_S", 0.5)
    asyncio.run(asyncio.wait_for(work(), 20))
    assert not addresses


@pytest.mark.usefixtures("on_bus")
def test_a_hanging_reset_does_not_stop_scanning(bluez: FakeBluez, monkeypatch: pytest.MonkeyPatch) -> None:
    async def reset(_used: Adapter | None) -> str:
        await asyncio.Event().wait()
        return "never"

    async def work() -> None:
        counters = Counters()
        watchdog = Watchdog(0.1, 0.3, time.monotonic())
        agent = ScanSupervisor(Intake(ScanSettings(), False), "", watchdog, counters, reset)
        task = asyncio.create_task(agent.run())
        while counters.adapter_resets < 2 or not bluez.scanning:
            assert not task.done()
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    monkeypatch.setattr(scan_supervisor, "RESET_WITHIN_S", 0.2)
    monkeypatch.setattr(scan_supervisor, "POLL_EVERY_S", 0.05)
    asyncio.run(asyncio.wait_for(work(), 30))


def test_a_bus_that_refuses_connections_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"REJECTED\r\n")
        await writer.drain()
        writer.close()

    async def work() -> None:
        async with await asyncio.start_unix_server(refuse, tmp_path / "bus"):
            with pytest.raises(ScanError):
                await Scanner(lambda *_: None, "").start()

    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path / 'bus'}")
    asyncio.run(asyncio.wait_for(work(), 30))
