"""The running agent: its parts, from the scanner to the broker, and what it reports of itself."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from gateway_agent import __version__, state, systemd
from gateway_agent.bluez import reset_adapter
from gateway_agent.clock import Clock, ClockSync
from gateway_agent.collector import UNSAVED_WINDOWS, Collector
from gateway_agent.health import Counters, Reporter
from gateway_agent.log_throttle import LogThrottle
from gateway_agent.outbox import Outbox, Store, StoreError
from gateway_agent.readings import Topics
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.scan_supervisor import ScanSupervisor, Watchdog
from gateway_agent.sender import Sender
from gateway_agent.settings import Settings
from gateway_agent.window import Intake

log = logging.getLogger(__name__)

# The agent hangs when no window was closed for this long. systemd then restarts it.
HANGS_AFTER_S = 60.0
TRIM_EVERY_S = 15.0  # at 200 readings/s the file grows by less than a megabyte in between
REPORT_EVERY_S = 1.0  # how often a change is noticed
NOTIFY_EVERY_S = 15.0  # systemd, where it has no watchdog


class Agent:
    """One gateway. ``run`` works until it is cancelled. All collected readings are then on disk.

    An advert's way: scanner → window → collector → outbox → sender → connection → mqtt, and its batch's acknowledgement
    back to the outbox. ``prepare`` makes the folder before the outbox is opened in it. It may raise OSError.
    """

    def __init__(self, settings: Settings, prepare: Callable[[], None]) -> None:
        scan, self._settings = settings.scan, settings
        self._folder = Path(settings.state_dir)
        self._counters = Counters()
        self._intake = Intake(
            ScanSettings(scan.window_ms, scan.min_rssi, scan.rssi_offset, frozenset(scan.allow) or None),
            scan.unregistered == "publish",
        )
        self._clock = Clock(settings.clock.source)
        self._store = Store(self._folder, self._clock.boot, settings.outbox.max_mib << 20, prepare)
        self._clock_sync = ClockSync(self._clock, self._store)
        self._scan_supervisor = ScanSupervisor(
            self._intake,
            scan.adapter,
            Watchdog(scan.restart_after_s, scan.reset_after_s, time.monotonic()),
            self._counters,
            lambda used: reset_adapter(scan.adapter, used),
        )
        self._collector = Collector(self._intake, self._store, self._clock_sync, self._counters)
        self._reporter = Reporter(
            Topics.for_gateway(settings.id), self._clock_sync, self._store, self._intake, self._counters
        )
        self._sender = Sender(settings, self._store, self._clock_sync, self._counters, self._collector, self._reporter)

    async def run(self) -> None:
        """Work until cancelled. If the outbox cannot be opened, it is retried and windows wait in memory."""
        try:
            await self._clock_sync.start()  # checks the clock on a broken disk too: rights are probed with its time
            await self._collector.restore()
        except StoreError as error:
            log.error("%s; windows are held in memory, %d at most", error, UNSAVED_WINDOWS)  # noqa: TRY400
        try:
            systemd.notify("READY=1")
            log.info("gateway agent %s for %s is running", __version__, self._settings.id)
            async with asyncio.TaskGroup() as tasks:
                for work in (
                    self._collector.restore_when_possible(),
                    self._scan_supervisor.run(),
                    self._collector.run(),
                    self._sender.run(),
                    self._clock_sync.run(),
                    self._keep_outbox_small(),
                    self._report(),
                    self._notify_systemd(),
                ):
                    tasks.create_task(work)
        finally:
            systemd.notify("STOPPING=1")
            await self._collector.finish()
            await self._store.close()

    async def _keep_outbox_small(self) -> None:
        """Trim the outbox to its limits, and store what is to be remembered.

        Age goes by the boot clock; for batches of earlier boots by the wall clock, if it is right.
        """
        throttle = LogThrottle()
        max_age_ms = int(self._settings.outbox.max_age_h * 3_600_000)
        logged: dict[str, int] = {}
        while True:
            try:
                await self._store.persist_facts()
                oldest_boot_ms, now = self._clock.boot_ms() - max_age_ms, self._clock_sync.age_timestamp()
                oldest_ts = None if now is None else now - max_age_ms
                await self._store.run(partial(Outbox.trim, oldest_boot_ms=oldest_boot_ms, oldest_ts=oldest_ts))
                throttle.forget()
            except StoreError as error:
                if throttle.should_log(str(error), time.monotonic()):
                    log.warning("%s", error)
            lost = {reason: count for reason, count in self._store.dropped.items() if count}
            if lost != logged:
                log.warning("readings lost so far, by reason: %s", lost)
                logged = lost
            await self._store.wait_for_facts(TRIM_EVERY_S)

    async def _report(self) -> None:
        """Publish health every `health_s` and on connecting; write the state for `doctor` then and on changes."""
        throttle = LogThrottle()
        reported: dict[str, Any] = {}
        due = 0.0
        while True:
            now = self._state()
            if now != reported or time.monotonic() >= due:
                reported, due = now, time.monotonic() + self._settings.health_s
                payload = await self._reporter.health()
                if self._clock_sync.known:  # the platform would refuse a wrong time, or trust it
                    self._sender.publish_health(payload)
                try:
                    state.write(self._folder, {**now, "health": json.loads(payload)})
                except OSError as error:
                    if throttle.should_log(str(error), time.monotonic()):
                        log.warning("%s", error)
            await asyncio.sleep(REPORT_EVERY_S)

    def _state(self) -> dict[str, Any]:
        allow, sender, scan = self._intake.settings.allow, self._sender, self._scan_supervisor
        return {
            "online": sender.online,
            "fault": asdict(sender.fault) if sender.fault else None,
            "denied": sender.denied,
            "outbox_error": self._store.error,
            "scan_error": scan.error,
            "adapter": str(scan.adapter) if scan.adapter else None,
            "registered": None if allow is None else len(allow),
        }

    async def _notify_systemd(self) -> None:
        """Send systemd's watchdog notification and status while windows are closed."""
        interval_s = systemd.watchdog_interval_s() or NOTIFY_EVERY_S
        while True:
            window_s = self._intake.settings.window_ms / 1000
            if time.monotonic() - self._collector.closed_at < window_s + HANGS_AFTER_S:
                systemd.notify(f"WATCHDOG=1\nSTATUS={self._summary()}")
            await asyncio.sleep(interval_s)

    def _summary(self) -> str:
        fault = self._sender.fault
        broker = "connected" if self._sender.online else f"no broker ({fault.kind if fault else '…'})"
        disk = f", nothing can be stored ({self._store.error})" if self._store.error else ""
        return f"{self._intake.adverts} adverts heard, {broker}{disk}"
