"""Decodes adverts in the scanner's thread and adds them to the window under a lock."""

import threading
import time
from collections.abc import Mapping

from gateway_agent.decoders import decode
from gateway_agent.readings import Reading
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.window import Window


class Intake:
    """The Scanner calls `on_advert`; the agent's thread calls the rest."""

    def __init__(self, settings: ScanSettings, publish_unregistered: bool) -> None:
        self._window = Window(settings, publish_unregistered)
        self._lock = threading.Lock()
        self.last_advert_at = time.monotonic()

    def on_advert(
        self, address: str, rssi: int, manufacturer: Mapping[int, bytes], service: Mapping[str, bytes]
    ) -> None:
        """Add one advert."""
        sighting = decode(address, manufacturer, service)
        now = time.monotonic()
        with self._lock:
            self.last_advert_at = now
            self._window.add(address, rssi, sighting, now)

    def close(self) -> list[Reading]:
        """Close the window; returns its readings."""
        with self._lock:
            return self._window.close(time.monotonic())

    @property
    def settings(self) -> ScanSettings:
        """The settings in force."""
        return self._window.settings

    @settings.setter
    def settings(self, settings: ScanSettings) -> None:
        with self._lock:
            self._window.settings = settings

    @property
    def adverts(self) -> int:
        """Adverts received since the start."""
        return self._window.adverts

    @property
    def ignored(self) -> Mapping[str, int]:
        """Ignored adverts by reason."""
        return self._window.ignored

    @property
    def unregistered_distinct(self) -> int:
        """Number of unregistered beacons currently tracked."""
        return self._window.unregistered_distinct
