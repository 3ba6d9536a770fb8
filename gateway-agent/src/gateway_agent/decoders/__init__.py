"""Decoders of beacon adverts: bytes in, a frame or None out, never an exception. One file per format, all pure.

`decode` runs one advert (manufacturer and service data from bleak) through all of them.

BlueZ gives a device's latest frame of every company and service together, so one advert can carry several.
"""

from collections.abc import Iterator, Mapping

from gateway_agent import beacon_id
from gateway_agent.decoders import altbeacon, bthome, eddystone, ibeacon, moko
from gateway_agent.decoders.types import TX_RANGE, Frame, Sighting, Telemetry

__all__ = ["Frame", "Sighting", "Telemetry", "decode", "describe", "join"]

_BY_SERVICE = {
    eddystone.UUID: eddystone.decode,
    bthome.UUID: bthome.decode,
    moko.UUID_BXP: moko.decode_bxp,
    moko.UUID_SENSOR: moko.decode_sensor,
    moko.UUID_H: moko.decode_h,
}


def describe(manufacturer: Mapping[int, bytes], service: Mapping[str, bytes]) -> Iterator[Frame]:
    """All decoded frames, in no particular order."""
    for company, data in manufacturer.items():
        frame = altbeacon.decode(data) or (ibeacon.decode(data) if company == ibeacon.COMPANY else None)
        if frame:
            yield frame
    for uuid, data in service.items():
        decoder = _BY_SERVICE.get(uuid)
        frame = decoder(data) if decoder else None
        if frame:
            yield frame


def decode(address: str, manufacturer: Mapping[int, bytes], service: Mapping[str, bytes]) -> Sighting:
    """All ids of the advert (always its MAC) with their power at 1 m, and its joined telemetry."""
    mac = beacon_id.from_mac(address)
    ids: dict[str, int | None] = {mac: None}
    telemetry: Telemetry | None = None
    for frame in describe(manufacturer, service):
        tx = frame.tx if frame.tx is not None and TX_RANGE[0] <= frame.tx <= TX_RANGE[1] else None
        if frame.beacon:
            ids[frame.beacon] = tx
        if ids[mac] is None:  # the device's own power, from any of its frames
            ids[mac] = tx
        if frame.telemetry:
            telemetry = join(telemetry, frame.telemetry)
    return Sighting(ids, telemetry)


def join(older: Telemetry | None, newer: Telemetry | None) -> Telemetry | None:
    """``newer`` with its unknown values filled from ``older``."""
    if older is None or newer is None:
        return newer or older
    return newer._replace(**{name: value for name, value in older._asdict().items() if getattr(newer, name) is None})
