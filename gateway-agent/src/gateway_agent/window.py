"""Adverts of one scan window become readings: per beacon the median RSSI and the count of adverts. Pure."""

from collections import Counter
from statistics import median

from gateway_agent.decoders import Sighting, Telemetry
from gateway_agent.reception import Reception
from gateway_agent.record import RSSI_RANGE, Reading
from gateway_agent.telemetry import DeviceTelemetry
from gateway_agent.unregistered import Unregistered

UNKNOWN_RSSI = -127  # what bleak says when BlueZ gave none
IGNORED = ("no_rssi", "unregistered", "weak")


class Window:
    """Collects adverts and gives them away as readings. Not thread-safe; ``now`` is in monotonic seconds."""

    def __init__(self, reception: Reception, publish_unregistered: bool = False) -> None:
        self.reception = reception
        self.adverts = 0
        self.ignored: Counter[str] = Counter(dict.fromkeys(IGNORED, 0))
        self._publish_unregistered = publish_unregistered
        self._unregistered = Unregistered()
        self._telemetry = DeviceTelemetry()
        self._heard: dict[str, tuple[str, list[int], list[int | None]]] = {}

    @property
    def unregistered_distinct(self) -> int:
        """Distinct unknown beacons held at present: never more than `unregistered.LIMIT`."""
        return len(self._unregistered)

    def add(self, address: str, rssi: int, sighting: Sighting, now: float) -> None:
        """One advert from device ``address``."""
        self.adverts += 1
        if rssi == UNKNOWN_RSSI or not RSSI_RANGE[0] <= rssi <= RSSI_RANGE[1]:
            self.ignored["no_rssi"] += 1
            return
        allow = self.reception.allow
        wanted = [beacon for beacon in sighting.ids if allow is not None and beacon in allow]
        if wanted or address in self._telemetry:
            self._telemetry.heard(address, sighting.telemetry)
        if not wanted:
            beacon = next(reversed(sighting.ids))  # the most telling id: a frame's own before the MAC
            if not (self._unregistered.hold(beacon, now) and self._publish_unregistered):
                self.ignored["unregistered"] += 1
                return
            self._telemetry.heard(address, sighting.telemetry)
            wanted = [beacon]
        for beacon in wanted:
            _, levels, power = self._heard.setdefault(beacon, (address, [], [None]))
            levels.append(rssi)
            power[0] = sighting.ids[beacon]

    def close(self, now: float) -> list[Reading]:
        """The readings of the window that ends at ``now``; the next one begins."""
        heard, self._heard = self._heard, {}
        readings = []
        for beacon, (address, levels, power) in heard.items():
            rssi = max(RSSI_RANGE[0], min(RSSI_RANGE[1], round(median(levels)) + self.reception.rssi_offset))
            if rssi < self.reception.min_rssi:
                self.ignored["weak"] += len(levels)
                continue
            said = self._telemetry.take(address, beacon, now) or Telemetry()
            readings.append(
                Reading(
                    beacon,
                    rssi,
                    len(levels),
                    power[0],
                    said.battery_mv,
                    said.temperature_c,
                    said.humidity_pct,
                )
            )
        return readings
