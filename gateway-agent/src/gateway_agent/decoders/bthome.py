"""BTHome v2, in the service data of 0xFCD2: battery, voltage, temperature, humidity.

Layout (bthome.io/format): device information byte, then objects of an id byte and a value of the id's length, little
endian. Encrypted data is ignored: it needs a key that an installer would have to enter.
"""

from gateway_agent.decoders.types import Frame, telemetry

UUID = "0000fcd2-0000-1000-8000-00805f9b34fb"
_VERSION = 2
_BATTERY_PCT = 0x01
_TEMPERATURES = {0x02: 0.01, 0x45: 0.1, 0x57: 1.0, 0x58: 0.35}  # °C a step
_HUMIDITIES = {0x03: 0.01, 0x2E: 1.0}  # % a step
_VOLTAGES_MV = {0x0C: 1, 0x4A: 100}
# Length of each object's value in bytes, to skip to the next object. Commands, text and raw data carry their length.
_BY_LENGTH: dict[int, tuple[int, ...]] = {
    1: (0x00, 0x01, 0x09, 0x0F, 0x10, 0x11, *range(0x15, 0x30), 0x3A, 0x46, 0x57, 0x58, 0x59, 0x60, 0x64, 0x65),
    2: (
        *(0x02, 0x03, 0x06, 0x07, 0x08, 0x0C, 0x0D, 0x0E, 0x12, 0x13, 0x14, 0x3C, 0x3D, 0x3F, 0x40, 0x41, 0x43, 0x44),
        *(0x45, 0x47, 0x48, 0x49, 0x4A, 0x51, 0x52, 0x56, 0x5A, 0x5D, 0x5E, 0x5F, 0x61, 0xF0),
    ),
    3: (0x04, 0x05, 0x0A, 0x0B, 0x42, 0x4B, 0xF2),
    4: (0x3E, 0x4C, 0x4D, 0x4E, 0x4F, 0x50, 0x55, 0x5B, 0x5C, 0x62, 0x63, 0xF1),
}
LENGTHS = {kind: length for length, kinds in _BY_LENGTH.items() for kind in kinds}
_SIZED = (0x3B, 0x53, 0x54)
_COMMAND = 0x3B  # the low five bits of its size count the arguments after the operation


def decode(data: bytes) -> Frame | None:
    """Service data of 0xFCD2 -> Frame with telemetry, or None. Decoding stops at an unknown object."""
    if not data or data[0] >> 5 != _VERSION or data[0] & 0x01:
        return None
    battery_mv = battery_pct = None
    temperature_c = humidity_pct = None
    at = 1
    while at < len(data):
        kind = data[at]
        length = LENGTHS.get(kind)
        if length is None:
            if kind not in _SIZED or at + 1 >= len(data):
                break
            length = (data[at + 1] & 0x1F) + 2 if kind == _COMMAND else data[at + 1] + 1
        value = data[at + 1 : at + 1 + length]
        if len(value) < length:
            break
        if kind == _BATTERY_PCT:
            battery_pct = value[0]
        elif kind in _TEMPERATURES:
            temperature_c = int.from_bytes(value, "little", signed=True) * _TEMPERATURES[kind]
        elif kind in _HUMIDITIES:
            humidity_pct = int.from_bytes(value, "little") * _HUMIDITIES[kind]
        elif kind in _VOLTAGES_MV:
            battery_mv = int.from_bytes(value, "little") * _VOLTAGES_MV[kind]
        at += 1 + length
    return Frame("bthome", telemetry=telemetry(battery_mv, temperature_c, humidity_pct, battery_pct))
