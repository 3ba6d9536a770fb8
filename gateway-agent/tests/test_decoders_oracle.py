"""The decoders compared with other libraries: if both decode a frame, the results must be equal."""

import logging
import struct
from typing import Any

import pytest
from beacontools import parse_packet  # type: ignore[import-untyped]
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from bthome_ble import BTHomeBluetoothDeviceData
from bthome_ble.const import MEAS_TYPES
from gateway_agent.decoders import bthome, eddystone, ibeacon
from home_assistant_bluetooth import BluetoothServiceInfoBleak
from hypothesis import given
from hypothesis import strategies as st
from ibeacon_ble import BANNED_UUIDS, iBeaconParser


def service_info(manufacturer: dict[int, bytes], service: dict[str, bytes]) -> BluetoothServiceInfoBleak:
    """An advert as input of those libraries."""
    device = BLEDevice("", "name", None)
    advert = AdvertisementData("name", manufacturer, service, list(service), None, -60, ())
    return BluetoothServiceInfoBleak(
        "name", "", -60, manufacturer, service, list(service), "test", device, advert, False, 0.0, None
    )


@given(st.binary(min_size=2, max_size=30) | st.binary(min_size=21, max_size=26).map(lambda tail: b"\x02\x15" + tail))
def test_ibeacon(data: bytes) -> None:
    mine = ibeacon.decode(data)
    if data[2:18].hex().upper() in BANNED_UUIDS:
        return
    theirs = iBeaconParser().parse(service_info({0x004C: data}, {}))
    assert (mine is None) == (theirs is None)
    if mine and theirs:
        assert mine.beacon == f"{theirs.uuid.hex.upper()}-{theirs.major}-{theirs.minor}"
        assert mine.tx == theirs.power


def eddystone_packet(data: bytes) -> bytes:
    """Service data as the whole advert that beacontools takes."""
    return b"\x02\x01\x06\x03\x03\xaa\xfe" + bytes([len(data) + 3]) + b"\x16\xaa\xfe" + data


@given(power=st.integers(-128, 127), beacon=st.binary(min_size=16, max_size=16))
def test_eddystone_uid(power: int, beacon: bytes) -> None:
    data = b"\x00" + struct.pack("b", power) + beacon + b"\0\0"
    theirs: Any = parse_packet(eddystone_packet(data))
    mine = eddystone.decode(data)
    assert mine is not None
    assert mine.beacon == f"{theirs.namespace}-{theirs.instance}".upper()
    assert mine.tx == theirs.tx_power - 41


# beacontools reads the temperature as unsigned; the specification says signed (see test_decoders.py).
@given(battery=st.integers(1, 20_000), temperature=st.integers(0, 127 * 256), rest=st.binary(min_size=8, max_size=8))
def test_eddystone_tlm(battery: int, temperature: int, rest: bytes) -> None:
    data = b"\x20\x00" + struct.pack(">Hh", battery, temperature) + rest
    theirs: Any = parse_packet(eddystone_packet(data))
    mine = eddystone.decode(data)
    assert mine is not None
    assert mine.telemetry is not None
    assert mine.telemetry.battery_mv == theirs.voltage
    assert mine.telemetry.temperature_c == pytest.approx(theirs.temperature, abs=0.006)


@given(scheme=st.integers(0, 3), rest=st.text("abcdefghijklmnopqrstuvwxyz0123456789./-", min_size=1, max_size=14))
def test_eddystone_url(scheme: int, rest: str) -> None:
    data = b"\x10\xee" + bytes([scheme]) + rest.encode()
    theirs: Any = parse_packet(eddystone_packet(data))
    mine = eddystone.decode(data)
    assert mine is not None
    assert mine.detail == theirs.url


def test_bthome_lengths_are_complete() -> None:
    theirs = {kind: meas.data_length for kind, meas in MEAS_TYPES.items() if kind not in (0x3B, 0x53, 0x54)}
    assert theirs == bthome.LENGTHS


NAMES = {"Battery": "battery_pct", "Temperature": "temperature_c", "Humidity": "humidity_pct", "Voltage": "battery_mv"}
IN_RANGE = {
    "battery_mv": (1, 20_000),
    "temperature_c": (-100, 150),
    "humidity_pct": (0, 100),
    "battery_pct": (0, 100),
}


def bthome_object(kind: int) -> st.SearchStrategy[bytes]:
    """Objects of a kind with any value."""
    length = bthome.LENGTHS[kind]
    return st.binary(min_size=length, max_size=length).map(lambda value: bytes([kind]) + value)


objects = st.lists(
    st.sampled_from([0x01, 0x02, 0x45, 0x57, 0x58, 0x03, 0x2E, 0x0C, 0x4A, *sorted(bthome.LENGTHS)]).flatmap(
        bthome_object
    ),
    max_size=4,
    unique_by=lambda item: MEAS_TYPES[item[0]].meas_format,  # the library names repeated objects differently
)


commands = st.binary(max_size=4).map(lambda arguments: bytes([0x3B, len(arguments), 1]) + arguments)


@given(st.tuples(commands, objects).map(lambda both: [both[0], *both[1]]) | objects)
def test_bthome(parts: list[bytes]) -> None:
    data = b"\x40" + b"".join(parts)
    update = BTHomeBluetoothDeviceData().update(service_info({}, {bthome.UUID: data}))
    mine = bthome.decode(data)
    assert mine is not None
    said = mine.telemetry._asdict() if mine.telemetry else {}
    theirs: dict[str, Any] = {
        NAMES[str(value.name)]: value.native_value for value in update.entity_values.values() if value.name in NAMES
    }
    for name, value in theirs.items():
        expected = value * 1000 if name == "battery_mv" else value
        if said.get(name) is not None:
            # Object 0x58 has steps of 0.35 °C; the library rounds to tenths.
            assert said[name] == pytest.approx(expected, abs=0.051 if b"\x58" in data else 0.006)
        else:
            low, high = IN_RANGE[name]
            assert not low <= expected <= high
    assert {name for name, value in said.items() if value is not None} <= set(theirs)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Silence the libraries' logs of unknown data."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
