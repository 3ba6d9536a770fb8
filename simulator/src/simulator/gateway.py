"""One gateway as played: the adverts of a window become readings where its settings allow it. Pure."""

from collections.abc import Iterable
from statistics import median

from simulator.building import Building, Gateway
from simulator.message import MAX_READINGS, RSSI, Reading
from simulator.radio import TAG_TX
from simulator.scan_settings import MIN_RSSI, ConfigError, ScanSettings, apply_config
from simulator.telemetry import Repeater, Sensors


class PlayedGateway:
    """One gateway: its settings, its scan window, its counters."""

    def __init__(self, gateway_id: str, base: ScanSettings, sensors: dict[str, Sensors]) -> None:
        self.id = gateway_id
        self.settings = base
        self.adverts = self.weak = self.unregistered = self.unmeasured = 0
        """Adverts since the start: received, left out as too weak, as of no registered beacon, as without an RSSI."""
        self.configs_refused = 0
        self._base, self._sensors = base, sensors
        self._repeater = Repeater()
        self._collected: dict[str, list[int]] = {}

    def configure(self, payload: bytes) -> str | None:
        """Apply a `config` message from the next advert on. Returns why it is invalid; the settings then stay."""
        try:
            self.settings = apply_config(self._base, payload)
        except ConfigError as error:
            self.configs_refused += 1
            return f"gateway {self.id}: config {error}"
        return None

    def add(self, beacon: str, rssi: int) -> None:
        """Add one advert; `rssi` in dBm."""
        self.adverts += 1
        if rssi not in RSSI:
            self.unmeasured += 1
        elif beacon in self.settings.allow:
            self._collected.setdefault(beacon, []).append(rssi)
        else:
            self.unregistered += 1

    def close(self, now_s: float) -> tuple[Reading, ...]:
        """The readings of the window that ends now: per beacon the median; the next window begins."""
        collected, self._collected = self._collected, {}
        readings = []
        for beacon, levels in collected.items():
            rssi = max(RSSI[0], min(RSSI[-1], round(median(levels)) + self.settings.rssi_offset))
            if rssi < self.settings.min_rssi:
                self.weak += len(levels)
                continue
            telemetry = self._repeater.due(beacon, self._sensors[beacon], now_s) if beacon in self._sensors else None
            readings.append(Reading(beacon, rssi, len(levels), TAG_TX, *(telemetry or ())))
        return tuple(readings[:MAX_READINGS])

    def figures(self) -> dict[str, float]:
        """The scan figures of its health message."""
        return {
            "adverts": self.adverts,
            "dropped_no_rssi": self.unmeasured,
            "dropped_unregistered": self.unregistered,
            "dropped_weak": self.weak,
            "registered": self.settings.registered,
            "window_ms": self.settings.window_ms,
            "min_rssi": self.settings.min_rssi,
            "rssi_offset": self.settings.rssi_offset,
            "config_refused": self.configs_refused,
        }


def gateways_of(building: Building, sensors: dict[str, Sensors]) -> list[PlayedGateway]:
    """The building's gateways, set as the flows would set them, so that nothing depends on when `config` arrives."""
    allow = building.registered
    return [PlayedGateway(one.id, _settings(one, allow), sensors) for one in building.gateways.values()]


def _settings(gateway: Gateway, allow: Iterable[str]) -> ScanSettings:
    min_rssi = MIN_RSSI[0] if gateway.min_rssi is None else _weakest(gateway.min_rssi, gateway.rssi_offset)
    return ScanSettings(gateway.window_ms, min_rssi, 0, frozenset(allow))


def _weakest(min_rssi: int, rssi_offset: float) -> int:
    """The weakest RSSI as measured that the locator uses, which adds the offset (docs/interfaces.md)."""
    possible = range(MIN_RSSI[0], MIN_RSSI[1] + 1)
    return next((rssi for rssi in possible if rssi + rssi_offset >= min_rssi), MIN_RSSI[1])
