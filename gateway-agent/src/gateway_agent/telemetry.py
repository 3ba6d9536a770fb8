"""Joins telemetry to beacons by device address: an Eddystone TLM is a separate advert. Pure."""

from gateway_agent.decoders import Telemetry
from gateway_agent.decoders.combine import join

LIMIT = 1024  # devices of wanted beacons; a beacon with changing addresses takes several
REPEAT_AFTER_S = 60.0  # unchanged values are sent once a minute


class DeviceTelemetry:
    """Latest telemetry per device address, and the telemetry last sent per beacon."""

    def __init__(self) -> None:
        self._devices: dict[str, Telemetry | None] = {}
        self._sent: dict[str, tuple[Telemetry, float]] = {}

    def __contains__(self, address: str) -> bool:
        return address in self._devices

    def update(self, address: str, latest: Telemetry | None) -> None:
        """Merge a device's new telemetry into its earlier values."""
        self._devices[address] = join(self._devices.pop(address, None), latest)
        if len(self._devices) > LIMIT:
            del self._devices[next(iter(self._devices))]

    def take(self, address: str, beacon: str, now: float) -> Telemetry | None:
        """Telemetry for the beacon's next reading: when it changed, else once a minute; otherwise None."""
        latest = self._devices.get(address)
        if latest is None:
            return None
        sent, at = self._sent.pop(beacon, (None, now))
        if sent == latest and now - at < REPEAT_AFTER_S:
            self._sent[beacon] = (latest, at)
            return None
        self._sent[beacon] = (latest, now)
        if len(self._sent) > LIMIT:
            del self._sent[next(iter(self._sent))]
        return latest
