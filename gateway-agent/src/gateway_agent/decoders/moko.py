"""MokoSmart's own frames: BeaconX Pro (0xFEAB), MK Sensor and tags (0xEA01), H-series (0xFF01). Numbers are big endian.

Layouts as the maker's own apps parse them: github.com/BeaconX-Pro (01-Android-Nordic-SDK, BXP-Swift,
11-Android-MKSensor-SDK); battery in the sensor frames as in github.com/theengs/decoder (MBXPRO, Mokobeacon).
"""

import struct

from gateway_agent import beacon_id
from gateway_agent.decoders.types import LOSS_0M_TO_1M_DB, Frame, signed8, telemetry

UUID_BXP = "0000feab-0000-1000-8000-00805f9b34fb"
UUID_SENSOR = "0000ea01-0000-1000-8000-00805f9b34fb"
UUID_H = "0000ff01-0000-1000-8000-00805f9b34fb"

_INFO, _IBEACON, _MOTION, _CLIMATE, _SENSOR = 0x40, 0x50, 0x60, 0x70, 0x80
_U16 = struct.Struct(">H")
_S16 = struct.Struct(">h")
_HAS_TEMPERATURE, _HAS_HUMIDITY = 0x08, 0x10
_H_LENGTH = 13


def decode_bxp(data: bytes) -> Frame | None:
    """Service data of 0xFEAB -> Frame or None. All but the iBeacon frame give their power at 0 m."""
    if len(data) < 2:
        return None
    power, kind = signed8(data[1]), data[0]
    if kind == _IBEACON and len(data) >= 23:
        major, minor = _U16.unpack_from(data, 19)[0], _U16.unpack_from(data, 21)[0]
        return Frame("moko-ibeacon", beacon_id.ibeacon(data[3:19], major, minor), power)
    tx = power - LOSS_0M_TO_1M_DB
    if kind == _INFO and len(data) >= 13:
        return Frame("moko-info", None, tx, telemetry(battery_mv=_U16.unpack_from(data, 3)[0]))
    if kind == _MOTION and len(data) >= 12:
        battery_mv = _U16.unpack_from(data, 12)[0] if len(data) >= 14 else None
        return Frame("moko-motion", None, tx, telemetry(battery_mv=battery_mv))
    if kind == _CLIMATE and len(data) >= 7:
        battery_mv = _U16.unpack_from(data, 7)[0] if len(data) >= 9 else None
        temperature, humidity = _S16.unpack_from(data, 3)[0] / 10, _U16.unpack_from(data, 5)[0] / 10
        return Frame("moko-climate", None, tx, telemetry(battery_mv, temperature, humidity))
    return None


def decode_sensor(data: bytes) -> Frame | None:
    """Service data of 0xEA01 -> Frame with telemetry, or None. A flag byte says which sensors are there."""
    if len(data) < 18 or data[0] != _SENSOR:
        return None
    temperature = _S16.unpack_from(data, 12)[0] / 10 if data[1] & _HAS_TEMPERATURE else None
    humidity = _U16.unpack_from(data, 14)[0] / 10 if data[1] & _HAS_HUMIDITY else None
    return Frame("moko-sensor", telemetry=telemetry(_U16.unpack_from(data, 16)[0], temperature, humidity))


def decode_h(data: bytes) -> Frame | None:
    """Service data of 0xFF01 (battery percentage, then accelerations) -> Frame or None."""
    return Frame("moko-h", telemetry=telemetry(battery_pct=data[0])) if len(data) >= _H_LENGTH else None
