"""What devices say of themselves, joined to beacons by device address: a TLM comes in an advert of its own. Pure."""

from gateway_agent.decoders import Telemetry
from gateway_agent.decoders.combine import join

LIMIT = 1024  # devices; only those of wanted beacons are kept, a beacon with changing addresses takes several
REPEAT_AFTER_S = 60.0  # unchanged values go out once a minute: enough for a curve, few bytes


class DeviceTelemetry:
    """Latest telemetry per device address, and when it last went out with which beacon's reading."""

    def __init__(self) -> None:
        self._devices: dict[str, Telemetry | None] = {}
        self._sent: dict[str, tuple[Telemetry, float]] = {}

    def __contains__(self, address: str) -> bool:
        return address in self._devices

    def heard(self, address: str, said: Telemetry | None) -> None:
        """Remember the device, and what it said in place of what it said before."""
        self._devices[address] = join(self._devices.pop(address, None), said)
        if len(self._devices) > LIMIT:
            del self._devices[next(iter(self._devices))]

    def take(self, address: str, beacon: str, now: float) -> Telemetry | None:
        """What goes out with the beacon's next reading: what changed, or a repetition once a minute; else None."""
        said = self._devices.get(address)
        if said is None:
            return None
        sent, at = self._sent.pop(beacon, (None, now))
        if sent == said and now - at < REPEAT_AFTER_S:
            self._sent[beacon] = (said, at)
            return None
        self._sent[beacon] = (said, now)
        if len(self._sent) > LIMIT:
            del self._sent[next(iter(self._sent))]
        return said
