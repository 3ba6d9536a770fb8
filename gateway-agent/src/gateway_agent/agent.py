"""The running agent: what hears, what keeps, what sends and what watches, put together."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from gateway_agent import __version__, reception, systemd
from gateway_agent.clock import Clock
from gateway_agent.collector import UNSAVED_WINDOWS, Collector
from gateway_agent.delivery import Delivery
from gateway_agent.health import Counters
from gateway_agent.intake import Intake
from gateway_agent.keeper import Keeper
from gateway_agent.listening import Listening
from gateway_agent.reception import ConfigMessageError, Reception
from gateway_agent.reporter import Reporter, pulse
from gateway_agent.reset import reset_adapter
from gateway_agent.session import Session
from gateway_agent.settings import Settings
from gateway_agent.store import Store, StoreError
from gateway_agent.tasks import together
from gateway_agent.timekeeper import Timekeeper
from gateway_agent.topics import Topics
from gateway_agent.watchdog import Watchdog

log = logging.getLogger(__name__)

# A window that was not closed for so long means that we hang: systemd is to start us anew.
HANGS_AFTER_S = 60.0
RESTORE_AGAIN_AFTER_S = 5.0
_CONFIG = "config"  # under which the outbox remembers the last `config` message


class Agent:
    """One gateway. ``run`` works until it is cancelled; what was collected is then on disk.

    ``prepare`` makes the folder ready before the outbox is opened there; may raise OSError.
    """

    def __init__(self, settings: Settings, prepare: Callable[[], None]) -> None:
        scan, self._settings = settings.scan, settings
        self._base = Reception(scan.window_ms, scan.min_rssi, scan.rssi_offset, frozenset(scan.allow) or None)
        self._folder = Path(settings.state_dir)
        self._clock = Clock(settings.clock.source)
        self._counters = Counters()
        self._store = Store(self._folder, self._clock.boot, settings.outbox.max_mib << 20, prepare)
        self._restored = False
        self._time = Timekeeper(self._clock, self._store)
        self._intake = Intake(self._base, scan.unregistered == "publish")
        self._reporter = Reporter(Topics.of(settings.id), self._time, self._store, self._intake, self._counters)
        self._delivery = Delivery(
            settings,
            self._clock,
            self._counters,
            self._new_session,
            self._reporter.samples,
            self._reporter.status,
            self._configured,
        )
        self._collector = Collector(self._intake, self._store, self._clock, self._time, self._delivery.live)
        watchdog = Watchdog(scan.restart_after_s, scan.reset_after_s, time.monotonic())
        self._listening = Listening(
            self._intake, scan.adapter, watchdog, self._counters, lambda used: reset_adapter(scan.adapter, used)
        )
        self._keeper = Keeper(self._store, self._clock, self._time, settings.outbox.max_age_h)

    async def run(self) -> None:
        """Work until cancelled, also where the outbox cannot be opened: that is tried again, windows wait in memory."""
        try:
            await self._store.open()
            await self._time.begin()
            await self._restore_configuration()
        except StoreError as error:
            log.error("%s; windows are held in memory, %d at most", error, UNSAVED_WINDOWS)  # noqa: TRY400 - a sentence
        try:
            systemd.notify("READY=1")
            log.info("gateway agent %s for %s is running", __version__, self._settings.id)
            await together(
                self._restore_when_possible(),
                self._listening.run(),
                self._collector.run(),
                self._delivery.run(),
                self._time.run(self._delivery.look_again),
                self._keeper.run(),
                self._reporter.run(self._folder, self._settings.health_s, self._delivery, self._listening),
                pulse(self._alive, self._summary),
            )
        finally:
            systemd.notify("STOPPING=1")
            await self._collector.finish()
            await self._keeper.finish()
            await self._store.close()

    def _new_session(self, publish: Callable[[bytes], int], receive_maximum: int) -> Session:
        outbox = self._settings.outbox
        rate = outbox.backlog_rate
        return Session(self._store, self._clock, self._counters, publish, outbox.replay_s, rate, receive_maximum)

    async def _restore_configuration(self) -> None:
        """The broker may be away at start: the last `config` message is in force until a newer one comes."""
        remembered = await self._store.do(lambda outbox: outbox.fact(_CONFIG))
        if self._restored:
            return
        self._restored = True
        if remembered:
            self._apply(remembered.encode())
        elif self._base.allow is None and self._settings.scan.unregistered == "drop":
            log.warning(
                "no beacon is registered yet: nothing is sent until a `config` message or scan.allow names some"
            )

    async def _restore_when_possible(self) -> None:
        while not self._restored:
            try:
                await self._restore_configuration()
            except StoreError:  # the collector says so
                await asyncio.sleep(RESTORE_AGAIN_AFTER_S)

    def _configured(self, payload: bytes) -> None:
        restored, self._restored = self._restored, True  # what came is newer than what is remembered
        if restored and not payload and self._intake.reception == self._base:
            return  # no `config` is in force anyway
        if self._apply(payload):
            self._keeper.remember(_CONFIG, payload.decode())

    def _apply(self, payload: bytes) -> bool:
        try:
            self._intake.reception = now = reception.apply(self._base, payload)
        except ConfigMessageError as error:
            self._counters.config_refused += 1
            # Cut off: it may quote any part of 64 KiB.
            log.error("a config message is refused, the settings in force stay: %.300s", error)  # noqa: TRY400
            return False
        listed = "no" if now.allow is None else len(now.allow)
        log.info(
            "listening with windows of %d ms, RSSI from %d dBm after an offset of %d dB, %s registered beacons",
            now.window_ms,
            now.min_rssi,
            now.rssi_offset,
            listed,
        )
        return True

    def _alive(self) -> bool:
        window_s = self._intake.reception.window_ms / 1000
        return time.monotonic() - self._collector.closed_at < window_s + HANGS_AFTER_S

    def _summary(self) -> str:
        broker = (
            "connected"
            if self._delivery.online
            else f"no broker ({fault.kind if (fault := self._delivery.fault) else '…'})"
        )
        disk = f", nothing can be kept ({self._store.error})" if self._store.error else ""
        return f"{self._intake.adverts} adverts heard, {broker}{disk}"
