"""Windows on a failing disk: held in memory, stored later, counted if lost."""

import asyncio
import logging
import sqlite3
from pathlib import Path

import pytest
from gateway_agent import collector
from gateway_agent.clock import Clock, ClockSync
from gateway_agent.collector import Collector
from gateway_agent.health import Counters
from gateway_agent.outbox import Batch, Outbox, Store
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.window import Intake

HELD = 5


def test_windows_wait_in_memory_while_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    full = True
    really_add = Outbox.add

    def add(self: Outbox, batches: list[tuple[int, str]], boot_ms: int, ts: int | None) -> list[Batch]:
        if full:
            raise sqlite3.OperationalError("database or disk is full")
        return really_add(self, batches, boot_ms, ts)

    async def work() -> list[Batch]:
        nonlocal full
        clock = Clock("trust")
        store = Store(tmp_path, clock.boot, 1 << 20)
        await store.open()
        clock_sync = ClockSync(clock, store)
        await clock_sync.start()
        intake = Intake(ScanSettings(allow=frozenset(["C2A628384B08"])), False)
        windows = Collector(intake, store, clock_sync, Counters())
        for number in range(HELD + 4):
            full = number < HELD + 3
            intake.on_advert("C2:A6:28:38:4B:08", -60 - number, {}, {})
            await windows.close_window()
        await store.close()
        assert store.dropped["disk"] == 3
        return list(store.live)

    monkeypatch.setattr(collector, "UNSAVED_WINDOWS", HELD)
    monkeypatch.setattr(Outbox, "add", add)
    with caplog.at_level(logging.ERROR):
        live = asyncio.run(work())
    assert [batch.readings for batch in live] == [1] * (HELD + 1)
    assert '"rssi":-63' in live[0].body  # the oldest was dropped first
    assert len(caplog.records) == 1
