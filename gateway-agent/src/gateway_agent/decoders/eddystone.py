"""Eddystone UID, URL and TLM, in the service data of 0xFEAA.

Layouts: github.com/google/eddystone. UID and URL give their power at 0 m. Encrypted TLM and EID frames are ignored.
"""

import struct

from gateway_agent import beacon_id
from gateway_agent.decoders.types import LOSS_0M_TO_1M_DB, Frame, signed8, telemetry

UUID = "0000feaa-0000-1000-8000-00805f9b34fb"
_UID, _URL, _TLM = 0x00, 0x10, 0x20
_UID_LENGTH = 18  # the specification adds two reserved bytes that many beacons leave out
_TLM_HEAD = struct.Struct(">HhII")
_TLM_LENGTH = 14
_NO_TEMPERATURE = -0x8000
_SCHEMES = ("http://www.", "https://www.", "http://", "https://")
_ENDINGS = (".com", ".org", ".edu", ".net", ".info", ".biz", ".gov")
_EXPANSIONS = (*(ending + "/" for ending in _ENDINGS), *_ENDINGS)


def decode(data: bytes) -> Frame | None:
    """Service data of 0xFEAA -> Frame or None."""
    if not data:
        return None
    if data[0] == _UID:
        return _uid(data)
    if data[0] == _URL:
        return _url(data)
    return _tlm(data) if data[0] == _TLM else None


def _uid(data: bytes) -> Frame | None:
    if len(data) < _UID_LENGTH:
        return None
    tx = signed8(data[1]) - LOSS_0M_TO_1M_DB
    return Frame("eddystone-uid", beacon_id.eddystone_uid(data[2:12], data[12:18]), tx)


def _url(data: bytes) -> Frame | None:
    if len(data) < 3 or data[2] >= len(_SCHEMES):
        return None
    parts = [_SCHEMES[data[2]]]
    for byte in data[3:]:
        if byte < len(_EXPANSIONS):
            parts.append(_EXPANSIONS[byte])
        elif 0x20 < byte < 0x7F:  # the printable range; the specification forbids the rest
            parts.append(chr(byte))
        else:
            return None
    return Frame("eddystone-url", None, signed8(data[1]) - LOSS_0M_TO_1M_DB, detail="".join(parts))


def _tlm(data: bytes) -> Frame | None:
    if len(data) < _TLM_LENGTH or data[1] != 0x00:
        return None
    battery_mv, temperature, _adverts, _uptime = _TLM_HEAD.unpack_from(data, 2)
    return Frame(
        "eddystone-tlm",
        telemetry=telemetry(
            battery_mv=battery_mv,  # 0 means "not measured" and is out of range
            temperature_c=None if temperature == _NO_TEMPERATURE else temperature / 256,
        ),
    )
