"""Apple iBeacon, in the manufacturer data of company 0x004C.

Layout (Proximity Beacon Specification R1): 02 15, UUID (16), major (2, big endian), minor (2), measured power at 1 m.
"""

import struct

from gateway_agent import beacon_id
from gateway_agent.decoders.types import Frame

COMPANY = 0x004C
_TAIL = struct.Struct(">HHb")
_LENGTH = 23


def decode(data: bytes) -> Frame | None:
    """Manufacturer data of company 0x004C -> Frame, or None when it is another of Apple's messages."""
    if len(data) < _LENGTH or data[0] != 0x02 or data[1] != 0x15:
        return None
    major, minor, power = _TAIL.unpack_from(data, 18)
    return Frame("ibeacon", beacon_id.ibeacon(data[2:18], major, minor), power)
