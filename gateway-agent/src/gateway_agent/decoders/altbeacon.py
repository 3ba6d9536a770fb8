"""AltBeacon, in the manufacturer data of any company.

Layout (github.com/AltBeacon/spec): BE AC, id (20), reference power at 1 m, one reserved byte.
"""

from gateway_agent.decoders.types import Frame, signed8

_LENGTH = 24


def decode(data: bytes) -> Frame | None:
    """Manufacturer data of any company -> Frame or None."""
    if len(data) < _LENGTH or data[0] != 0xBE or data[1] != 0xAC:
        return None
    return Frame("altbeacon", data[2:22].hex().upper(), signed8(data[22]))
