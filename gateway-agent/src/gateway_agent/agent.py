"""Wires the parts of the running agent: scanning, outbox, delivery and reporting."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from gateway_agent import __version__, scan_settings, systemd
from gateway_agent.clock import Clock
from gateway_agent.clock_sync import ClockSync
from gateway_agent.collector import UNSAVED_WINDOWS, Collector
from gateway_agent.delivery import Delivery
from gateway_agent.health import Counters
from gateway_agent.intake import Intake
from gateway_agent.outbox_maintenance import OutboxMaintenance
from gateway_agent.reporter import Reporter, notify_systemd
from gateway_agent.reset import reset_adapter
from gateway_agent.scan_settings import ConfigMessageError, ScanSettings
from gateway_agent.scan_supervisor import ScanSupervisor
from gateway_agent.session import Session
from gateway_agent.settings import Settings
from gateway_agent.store import Store, StoreError
from gateway_agent.tasks import run_all
from gateway_agent.topics import Topics
from gateway_agent.watchdog import Watchdog

log = logging.getLogger(__name__)

# The agent hangs when no window was closed for this long. systemd then restarts it.
HANGS_AFTER_S = 60.0
RESTORE_AGAIN_AFTER_S = 5.0
_CONFIG = "config"  # key of the last `config` message in the outbox


class Agent:
    """One gateway. ``run`` works until it is cancelled. All collected readings are then on disk.

    ``prepare`` makes the folder before the outbox is opened in it. It may raise OSError.
    """

    def __init__(self, settings: Settings, prepare: Callable[[], None]) -> None:
        scan, self._settings = settings.scan, settings
        self._file_settings = ScanSettings(
            scan.window_ms, scan.min_rssi, scan.rssi_offset, frozenset(scan.allow) or None
        )
        self._folder = Path(settings.state_dir)
        self._clock = Clock(settings.clock.source)
        self._counters = Counters()
        self._store = Store(self._folder, self._clock.boot, settings.outbox.max_mib << 20, prepare)
        self._restored = False
        self._clock_sync = ClockSync(self._clock, self._store)
        self._intake = Intake(self._file_settings, scan.unregistered == "publish")
        self._reporter = Reporter(
            Topics.for_gateway(settings.id), self._clock_sync, self._store, self._intake, self._counters
        )
        self._delivery = Delivery(
            settings,
            self._clock,
            self._counters,
            self._new_session,
            self._reporter.samples,
            self._reporter.status,
            self._on_config,
        )
        self._collector = Collector(self._intake, self._store, self._clock, self._clock_sync, self._delivery.send_live)
        watchdog = Watchdog(scan.restart_after_s, scan.reset_after_s, time.monotonic())
        self._scan_supervisor = ScanSupervisor(
            self._intake, scan.adapter, watchdog, self._counters, lambda used: reset_adapter(scan.adapter, used)
        )
        self._outbox_maintenance = OutboxMaintenance(
            self._store, self._clock, self._clock_sync, settings.outbox.max_age_h
        )

    async def run(self) -> None:
        """Work until cancelled. If the outbox cannot be opened, it is retried and windows wait in memory."""
        try:
            await self._clock_sync.start()  # checks the clock on a broken disk too: rights are probed with its time
            await self._restore_configuration()
        except StoreError as error:
            log.error("%s; windows are held in memory, %d at most", error, UNSAVED_WINDOWS)  # noqa: TRY400
        try:
            systemd.notify("READY=1")
            log.info("gateway agent %s for %s is running", __version__, self._settings.id)
            await run_all(
                self._restore_when_possible(),
                self._scan_supervisor.run(),
                self._collector.run(),
                self._delivery.run(),
                self._clock_sync.run(self._delivery.wake),
                self._outbox_maintenance.run(),
                self._reporter.run(self._folder, self._settings.health_s, self._delivery, self._scan_supervisor),
                notify_systemd(self._is_alive, self._summary),
            )
        finally:
            systemd.notify("STOPPING=1")
            await self._collector.finish()
            await self._outbox_maintenance.finish()
            await self._store.close()

    def _new_session(self, publish: Callable[[bytes], int], receive_maximum: int) -> Session:
        outbox = self._settings.outbox
        rate = outbox.backlog_rate
        return Session(self._store, self._clock, self._counters, publish, outbox.replay_s, rate, receive_maximum)

    async def _restore_configuration(self) -> None:
        """Apply the stored `config` message: it is in force until the broker sends a newer one."""
        remembered = await self._store.run(lambda outbox: outbox.fact(_CONFIG))
        if self._restored:
            return
        self._restored = True
        if remembered:
            self._apply(remembered.encode())
        elif self._file_settings.allow is None and self._settings.scan.unregistered == "drop":
            log.warning(
                "no beacon is registered yet: nothing is sent until a `config` message or scan.allow names some"
            )

    async def _restore_when_possible(self) -> None:
        while not self._restored:
            try:
                await self._restore_configuration()
            except StoreError:  # the collector logs it
                await asyncio.sleep(RESTORE_AGAIN_AFTER_S)

    def _on_config(self, payload: bytes) -> None:
        restored, self._restored = self._restored, True  # a received message is newer than the stored one
        if restored and not payload and self._intake.settings == self._file_settings:
            return  # no `config` is in force anyway
        if self._apply(payload):
            self._outbox_maintenance.remember(_CONFIG, payload.decode())

    def _apply(self, payload: bytes) -> bool:
        try:
            self._intake.settings = now = scan_settings.apply_config(self._file_settings, payload)
        except ConfigMessageError as error:
            self._counters.config_refused += 1
            # Shortened: the error may quote any part of 64 KiB.
            log.error("a config message is refused; the current settings stay in force: %.300s", error)  # noqa: TRY400
            return False
        listed = "no" if now.allow is None else len(now.allow)
        log.info(
            "scanning with windows of %d ms, RSSI from %d dBm after an offset of %d dB, %s registered beacons",
            now.window_ms,
            now.min_rssi,
            now.rssi_offset,
            listed,
        )
        return True

    def _is_alive(self) -> bool:
        window_s = self._intake.settings.window_ms / 1000
        return time.monotonic() - self._collector.closed_at < window_s + HANGS_AFTER_S

    def _summary(self) -> str:
        broker = (
            "connected"
            if self._delivery.online
            else f"no broker ({fault.kind if (fault := self._delivery.fault) else '…'})"
        )
        disk = f", nothing can be stored ({self._store.error})" if self._store.error else ""
        return f"{self._intake.adverts} adverts heard, {broker}{disk}"
