"""Decoders with known frames (of specifications and makers' apps) and with random bytes."""

import pytest
from gateway_agent.decoders import Frame, Telemetry, altbeacon, bthome, decode, describe, eddystone, ibeacon, moko
from hypothesis import given
from hypothesis import strategies as st

UUID = "E2C56DB5DFFB48D2B060D0F5A71096E0"

KNOWN = {
    "ibeacon": (ibeacon.decode, f"0215{UUID}00010002c5", Frame("ibeacon", f"{UUID}-1-2", -59)),
    "another of Apple's": (ibeacon.decode, "10054b1c", None),
    "ibeacon cut short": (ibeacon.decode, f"0215{UUID}00010002", None),
    "altbeacon": (altbeacon.decode, "beac" + "0f" * 20 + "c601", Frame("altbeacon", "0F" * 20, -58)),
    "altbeacon cut short": (altbeacon.decode, "beac" + "0f" * 20 + "c6", None),
    # Power is given at 0 m: 41 dB more than at 1 m.
    "uid": (
        eddystone.decode,
        "00ee0102030405060708090a0102030405060000",
        Frame("eddystone-uid", "0102030405060708090A-010203040506", -18 - 41),
    ),
    "uid without the reserved bytes": (
        eddystone.decode,
        "00ee0102030405060708090a010203040506",
        Frame("eddystone-uid", "0102030405060708090A-010203040506", -59),
    ),
    "url": (
        eddystone.decode,
        "10ee03" + b"goo.gl/S6zT6P".hex(),
        Frame("eddystone-url", None, -59, None, "https://goo.gl/S6zT6P"),
    ),
    "url with a forbidden byte": (eddystone.decode, "100c0141427f", None),
    "url of the maker": (
        eddystone.decode,
        "100c0141424344454609",
        Frame("eddystone-url", None, -29, None, "https://www.ABCDEF.edu"),
    ),
    "tlm": (
        eddystone.decode,
        "20000d18158000017eb20002e754",
        Frame("eddystone-tlm", telemetry=Telemetry(battery_mv=3352, temperature_c=21.5)),
    ),
    "tlm below zero": (
        eddystone.decode,
        "20000bb8ff800000000000000000",
        Frame("eddystone-tlm", telemetry=Telemetry(battery_mv=3000, temperature_c=-0.5)),
    ),
    "tlm of a beacon without sensors": (eddystone.decode, "200000008000000000000000ffff", Frame("eddystone-tlm")),
    "tlm encrypted": (eddystone.decode, "2001" + "00" * 16, None),
    "eid": (eddystone.decode, "30ee" + "01" * 8, None),
    # github.com/theengs/decoder's and the maker's own examples.
    "moko info": (
        moko.decode_bxp,
        "40000a0d0f0001ff02030405060c02",
        Frame("moko-info", None, -41, Telemetry(battery_mv=3343)),
    ),
    "moko ibeacon": (
        moko.decode_bxp,
        "50ee0c0102030405060708090a0b0c0d0e0f1000010002",
        Frame("moko-ibeacon", "0102030405060708090A0B0C0D0E0F10-1-2", -18),
    ),
    "moko climate": (
        moko.decode_bxp,
        "70000aff3801f40c8000",
        Frame("moko-climate", None, -41, Telemetry(3200, -20.0, 50.0)),
    ),
    "moko climate of an older firmware": (
        moko.decode_bxp,
        "70000a00f101f4",
        Frame("moko-climate", None, -41, Telemetry(None, 24.1, 50.0)),
    ),
    "moko motion": (
        moko.decode_bxp,
        "60000a0001000010002000300c80",
        Frame("moko-motion", None, -41, Telemetry(battery_mv=3200)),
    ),
    "moko sensor": (
        moko.decode_sensor,
        "801800000000000000000000" + "00b0" + "01f4" + "0b55" + "01" + "07",
        Frame("moko-sensor", telemetry=Telemetry(2901, 17.6, 50.0)),
    ),
    "moko sensor without climate": (
        moko.decode_sensor,
        "800000000000000000000000" + "00b0" + "01f4" + "0b55" + "01",
        Frame("moko-sensor", telemetry=Telemetry(battery_mv=2901)),
    ),
    "moko h": (moko.decode_h, "5b" + "00" * 12, Frame("moko-h", telemetry=Telemetry(battery_pct=91))),
    # bthome.io/format
    "bthome": (bthome.decode, "4002ca0903bf13", Frame("bthome", telemetry=Telemetry(None, 25.06, 50.55))),
    "bthome battery and volts": (
        bthome.decode,
        "4000090164 0cb80b".replace(" ", ""),
        Frame("bthome", telemetry=Telemetry(battery_mv=3000, battery_pct=100)),
    ),
    "bthome behind a text": (
        bthome.decode,
        "40530c48656c6c6f20576f726c6421" + "2e23",
        Frame("bthome", telemetry=Telemetry(humidity_pct=35.0)),
    ),
    "bthome with an unknown object": (
        bthome.decode,
        "402e23ee01",
        Frame("bthome", telemetry=Telemetry(humidity_pct=35.0)),
    ),
    "bthome encrypted": (bthome.decode, "41a47266c95f730011223378237214", None),
    "bthome version 1": (bthome.decode, "2002ca09", None),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_frames(name: str) -> None:
    decoder, frame, expected = KNOWN[name]
    assert decoder(bytes.fromhex(frame)) == expected


DECODERS = [
    ibeacon.decode,
    altbeacon.decode,
    eddystone.decode,
    moko.decode_bxp,
    moko.decode_sensor,
    moko.decode_h,
    bthome.decode,
]
HEADS = [b"\x02\x15", b"\xbe\xac", b"\x00", b"\x10", b"\x20\x00", b"\x40", b"\x50", b"\x60", b"\x70", b"\x80", b"\x44"]
anything = st.one_of(
    st.binary(max_size=64), st.builds(lambda head, tail: head + tail, st.sampled_from(HEADS), st.binary(max_size=40))
)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: f"{decoder.__module__}.{decoder.__name__}")
@given(data=anything)
def test_any_bytes_give_a_frame_or_none(decoder, data: bytes) -> None:  # type: ignore[no-untyped-def]
    frame = decoder(data)
    assert frame is None or isinstance(frame, Frame)
    if frame:
        check(frame)


def check(frame: Frame) -> None:
    """Check the invariants of a frame."""
    if frame.beacon is not None:
        assert 12 <= len(frame.beacon) <= 64
        assert set(frame.beacon) <= set("0123456789ABCDEF-")
    assert frame.tx is None or -128 - 41 <= frame.tx <= 127
    if frame.telemetry:
        battery_mv, temperature_c, humidity_pct, battery_pct = frame.telemetry
        assert battery_mv is None or 1 <= battery_mv <= 20_000
        assert temperature_c is None or -100 <= temperature_c <= 150
        assert humidity_pct is None or 0 <= humidity_pct <= 100
        assert battery_pct is None or 0 <= battery_pct <= 100


services = st.sampled_from([eddystone.UUID, bthome.UUID, moko.UUID_BXP, moko.UUID_SENSOR, moko.UUID_H, "0000180f-x"])


@given(
    manufacturer=st.dictionaries(st.integers(0, 0xFFFF) | st.just(0x004C), anything, max_size=4),
    service=st.dictionaries(services, anything, max_size=4),
)
def test_any_advert_decodes(manufacturer: dict[int, bytes], service: dict[str, bytes]) -> None:
    sighting = decode("C2:A6:28:38:4B:08", manufacturer, service)
    assert next(iter(sighting.ids)) == "C2A628384B08"
    assert all(tx is None or -127 <= tx <= 20 for tx in sighting.ids.values())
    assert len(list(describe(manufacturer, service))) <= len(manufacturer) + len(service)


@pytest.mark.parametrize(("power", "tx"), [("7f", None), ("80", None), ("81", -127), ("14", 20), ("15", None)])
def test_impossible_power_is_ignored(power: str, tx: int | None) -> None:
    sighting = decode("C2:A6:28:38:4B:08", {0x004C: bytes.fromhex(f"0215{UUID}00010002{power}")}, {})
    assert sighting.ids == {"C2A628384B08": tx, f"{UUID}-1-2": tx}


def test_one_advert_with_several_frames() -> None:
    service = {
        eddystone.UUID: bytes.fromhex("20000d18158000017eb20002e754"),
        moko.UUID_BXP: bytes.fromhex("70000a00f101f4"),
    }
    sighting = decode("C2:A6:28:38:4B:08", {0x004C: bytes.fromhex(f"0215{UUID}00010002c5")}, service)
    assert sighting.ids == {"C2A628384B08": -59, f"{UUID}-1-2": -59}
    assert sighting.telemetry is not None
    assert (sighting.telemetry.battery_mv, sighting.telemetry.humidity_pct) == (3352, 50.0)
