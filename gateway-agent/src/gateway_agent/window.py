"""Makes readings of the adverts of one scan window: median RSSI and number of adverts per beacon. Pure."""

from collections import Counter
from statistics import median

from gateway_agent.decoders import Sighting, Telemetry
from gateway_agent.readings import RSSI_RANGE, Reading
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.telemetry import DeviceTelemetry
from gateway_agent.unregistered import Unregistered

IGNORED = ("no_rssi", "unregistered", "weak")


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
        """Number of tracked unregistered beacons, at most `unregistered.LIMIT`."""
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
                    len(rssis),
                    power[0],
                    latest.battery_mv,
                    latest.temperature_c,
                    latest.humidity_pct,
                )
            )
        return readings
