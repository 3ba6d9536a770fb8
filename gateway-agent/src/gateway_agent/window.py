"""Makes readings of the adverts of one scan window: median RSSI and number of adverts per beacon.

`Window` is pure; `Intake` decodes adverts into the present one, between the scanner's thread and the agent's.
"""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import Any

from gateway_agent.decoders import Sighting, Telemetry, decode
from gateway_agent.readings import RSSI_RANGE, Reading
from gateway_agent.scan_settings import ScanSettings

IGNORED = ("no_rssi", "unregistered", "weak")
UNREGISTERED = 256  # tracked beacons
# A phone changes its address about every 15 minutes; five minutes of silence count as gone.
FORGET_AFTER_S = 300.0
DEVICES = 1024  # of wanted beacons; a beacon with changing addresses takes several
REPEAT_AFTER_S = 60.0  # unchanged values are sent once a minute ...
UNSAID_AFTER_S = 3600.0  # ... until the device has not said them for so long


class Intake:
    """The present window. The Scanner's thread calls `on_advert`, which decodes one; the agent's calls the rest."""

    def __init__(self, settings: ScanSettings, publish_unregistered: bool) -> None:
        self._window = Window(settings, publish_unregistered)
        self._lock = threading.Lock()
        self.publishes_unregistered = publish_unregistered
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


class Window:
    """Collects adverts and returns them as readings. Not thread-safe; ``now`` is in monotonic seconds."""

    def __init__(self, settings: ScanSettings, publish_unregistered: bool = False) -> None:
        self.settings = settings
        self.adverts = 0
        self.ignored: Counter[str] = Counter(dict.fromkeys(IGNORED, 0))
        self._publish_unregistered = publish_unregistered
        self._unregistered = Unregistered()
        self._telemetry = DeviceTelemetry()
        self._collected: dict[str, tuple[str, list[int], list[int | None]]] = {}

    @property
    def unregistered_distinct(self) -> int:
        """Number of tracked unregistered beacons, at most `UNREGISTERED`."""
        return len(self._unregistered)

    def add(self, address: str, rssi: int, sighting: Sighting, now: float) -> None:
        """Add one advert of device ``address``."""
        self.adverts += 1
        allow = self.settings.allow
        wanted = [beacon for beacon in sighting.ids if allow is not None and beacon in allow]
        if wanted or address in self._telemetry:
            self._telemetry.update(address, sighting.telemetry, now)
        if not RSSI_RANGE[0] <= rssi <= RSSI_RANGE[1]:  # what the device says of itself is known all the same
            self.ignored["no_rssi"] += 1
            return
        if not wanted:
            beacon = next(reversed(sighting.ids))  # the most specific id: a frame's own before the MAC
            if not (self._unregistered.hold(beacon, now) and self._publish_unregistered):
                self.ignored["unregistered"] += 1
                return
            self._telemetry.update(address, sighting.telemetry, now)
            wanted = [beacon]
        for beacon in wanted:
            _, rssis, power = self._collected.setdefault(beacon, (address, [], [None]))
            rssis.append(rssi)
            power[0] = sighting.ids[beacon]

    def close(self, now: float) -> list[Reading]:
        """Close the window at ``now`` and return its readings; the next window begins."""
        collected, self._collected = self._collected, {}
        readings = []
        for beacon, (address, rssis, power) in collected.items():
            rssi = max(RSSI_RANGE[0], min(RSSI_RANGE[1], round(median(rssis)) + self.settings.rssi_offset))
            if rssi < self.settings.min_rssi:
                self.ignored["weak"] += len(rssis)
                continue
            latest = self._telemetry.take(address, beacon, now) or Telemetry()
            readings.append(
                Reading(
                    beacon,
                    rssi,
                    n=len(rssis),
                    tx=power[0],
                    battery_mv=latest.battery_mv,
                    temperature_c=latest.temperature_c,
                    humidity_pct=latest.humidity_pct,
                )
            )
        return readings


class Unregistered:
    """The unregistered beacons, however many random addresses are received: ids with the time of their last advert,
    oldest first."""

    def __init__(self) -> None:
        self._last_heard: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._last_heard)

    def hold(self, beacon: str, now: float) -> bool:
        """Track ``beacon`` if there is room; returns whether it is tracked."""
        if self._last_heard.pop(beacon, None) is None:
            self._forget(now)
            if len(self._last_heard) >= UNREGISTERED:
                return False
        self._last_heard[beacon] = now
        return True

    def _forget(self, now: float) -> None:
        while self._last_heard:
            beacon = next(iter(self._last_heard))
            if now - self._last_heard[beacon] < FORGET_AFTER_S:
                return
            del self._last_heard[beacon]


class DeviceTelemetry:
    """Joins telemetry to beacons by device address, since an Eddystone TLM is a separate advert: the latest of each
    device, and the last sent of each beacon. ``now`` is in monotonic seconds."""

    def __init__(self) -> None:
        self._devices: dict[str, dict[str, tuple[float, float]]] = {}  # by value: what it is, and when it was said last
        self._sent: dict[str, tuple[Telemetry, float]] = {}

    def __contains__(self, address: str) -> bool:
        return address in self._devices

    def update(self, address: str, latest: Telemetry | None, now: float) -> None:
        """Merge a device's new telemetry into its earlier values."""
        said = self._devices[address] = self._devices.pop(address, {})
        if latest is not None:
            said.update((name, (value, now)) for name, value in latest._asdict().items() if value is not None)
        if len(self._devices) > DEVICES:
            del self._devices[next(iter(self._devices))]

    def take(self, address: str, beacon: str, now: float) -> Telemetry | None:
        """Telemetry for the beacon's next reading: when it changed, else once a minute; otherwise None."""
        said = self._devices.get(address)
        if not said:
            return None
        known: dict[str, Any] = {name: value for name, (value, at) in said.items() if now - at < UNSAID_AFTER_S}
        if not known:
            return None
        latest = Telemetry(**known)
        sent, at = self._sent.pop(beacon, (None, now))
        if sent == latest and now - at < REPEAT_AFTER_S:
            self._sent[beacon] = (latest, at)
            return None
        self._sent[beacon] = (latest, now)
        if len(self._sent) > DEVICES:
            del self._sent[next(iter(self._sent))]
        return latest
