"""Joins telemetry to beacons by device address: an Eddystone TLM is a separate advert. Pure."""

from typing import Any

from gateway_agent.decoders import Telemetry

LIMIT = 1024  # devices of wanted beacons; a beacon with changing addresses takes several
REPEAT_AFTER_S = 60.0  # unchanged values are sent once a minute ...
FORGET_AFTER_S = 3600.0  # ... until the device has not said them for so long
_NOTHING = Telemetry()


class DeviceTelemetry:
    """Latest telemetry per device address, and the telemetry last sent per beacon. ``now`` is in monotonic seconds."""

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
        if len(self._devices) > LIMIT:
            del self._devices[next(iter(self._devices))]

    def take(self, address: str, beacon: str, now: float) -> Telemetry | None:
        """Telemetry for the beacon's next reading: when it changed, else once a minute; otherwise None."""
        said = self._devices.get(address, {})
        fresh: dict[str, Any] = {name: value for name, (value, at) in said.items() if now - at < FORGET_AFTER_S}
        latest = _NOTHING._replace(**fresh)
        if latest == _NOTHING:
            return None
        sent, at = self._sent.pop(beacon, (None, now))
        if sent == latest and now - at < REPEAT_AFTER_S:
            self._sent[beacon] = (latest, at)
            return None
        self._sent[beacon] = (latest, now)
        if len(self._sent) > LIMIT:
            del self._sent[next(iter(self._sent))]
        return latest
