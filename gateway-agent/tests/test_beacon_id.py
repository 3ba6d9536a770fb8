"""Beacon ids in the forms that people write."""

import pytest
from gateway_agent import beacon_id
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("c2:a6:28:38:4b:08", "C2A628384B08"),
        ("C2-A6-28-38-4B-08", "C2A628384B08"),
        (" c2a628384b08 ", "C2A628384B08"),
        ("e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-65535", "E2C56DB5DFFB48D2B060D0F5A71096E0-1-65535"),
        ("0102030405060708090a-010203040506", "0102030405060708090A-010203040506"),
        ("0f" * 20, "0F" * 20),
    ],
)
def test_ids_are_normalised(written: str, meant: str) -> None:
    assert beacon_id.normalise(written) == meant


@pytest.mark.parametrize("wrong", ["", "C2A628384B0", "C2A628384B0G", "a beacon", "0" * 65])
def test_invalid_ids_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="is not a beacon id"):
        beacon_id.normalise(wrong)


@given(
    st.binary(min_size=16, max_size=16), st.integers(0, 65535), st.integers(0, 65535), st.binary(min_size=6, max_size=6)
)
def test_generated_ids_are_normalised_already(uuid: bytes, major: int, minor: int, mac: bytes) -> None:
    for made in (
        beacon_id.ibeacon(uuid, major, minor),
        beacon_id.eddystone_uid(uuid[:10], uuid[10:]),
        beacon_id.from_mac(mac.hex(":")),
    ):
        assert beacon_id.normalise(made) == made
