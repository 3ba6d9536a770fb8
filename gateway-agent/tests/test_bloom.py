"""The filter of registered beacons finds every member, whether made by the flows or by the test."""

import base64
import json
from hashlib import sha256
from typing import Any

import pytest
from gateway_agent.beacon_id import from_mac
from gateway_agent.decoders import Sighting
from gateway_agent.scan_settings import Bloom, ConfigMessageError, ScanSettings, apply_config
from gateway_agent.window import Window
from hypothesis import given
from hypothesis import strategies as st

# Made by the flows from these three ids.
IDS = ["C2A628384B08", "E2C56DB5DFFB48D2B060D0F5A71096E0-1-7", "00112233445566778899-AABBCCDDEEFF"]
MADE: dict[str, Any] = {"ids": 3, "k": 11, "bits": "JluHvHX2"}


def settings_of(said: object) -> ScanSettings:
    """The settings after a message with this filter."""
    return apply_config(ScanSettings(allow=frozenset(["AA" * 6])), json.dumps({"v": 1, "allow_bloom": said}).encode())


def make(ids: list[str], size: int, k: int) -> dict[str, Any]:
    """A filter of ``size`` bytes."""
    bits = [0] * (8 * size)
    for beacon in ids:
        number = int.from_bytes(sha256(beacon.encode()).digest()[:8], "big")
        for i in range(k):
            bits[((number >> 32) + i * (number % 2**32 | 1)) % len(bits)] = 1
    taken = bytes(sum(bit << place for place, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8))
    return {"ids": len(ids), "k": k, "bits": base64.b64encode(taken).decode()}


def test_a_filter_made_by_the_flows_is_read() -> None:
    allow = settings_of(MADE).allow
    assert isinstance(allow, Bloom)
    assert all(beacon in allow for beacon in IDS)
    assert len(allow) == 3
    assert sum(f"{number:012X}" in allow for number in range(10_000)) < 500  # the filter has 48 bits


@given(
    st.lists(st.from_regex(r"[0-9A-F-]{12,64}", fullmatch=True), max_size=50),
    st.integers(1, 200),
    st.integers(1, 32),
)
def test_every_member_is_found(ids: list[str], size: int, k: int) -> None:
    allow = settings_of(make(ids, size, k)).allow
    assert allow is not None
    assert all(beacon in allow for beacon in ids)


def test_an_empty_filter_has_no_members() -> None:
    allow = settings_of(make([], 4, 3)).allow
    assert allow is not None
    assert IDS[0] not in allow
    assert len(allow) == 0


def test_a_window_takes_members_and_counts_others() -> None:
    window = Window(settings_of(MADE))
    for address in ("C2:A6:28:38:4B:08", "00:00:00:00:00:01"):
        window.add(address, -60, Sighting({from_mac(address): None}, None), 0)
    assert [reading.beacon for reading in window.close(1)] == [IDS[0]]
    assert window.ignored["unregistered"] == 1


def test_a_list_overrides_a_filter() -> None:
    message = {"allow": ["aa:bb:cc:dd:ee:ff"], "allow_bloom": MADE}
    assert apply_config(ScanSettings(), json.dumps(message).encode()).allow == frozenset(["AABBCCDDEEFF"])


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (None, "not an object"),
        ([], "not an object"),
        ({}, "there are no bits"),
        ({**MADE, "bits": 7}, "there are no bits"),
        ({**MADE, "bits": "###"}, "not base64"),
        ({**MADE, "bits": "é"}, "not base64"),
        ({**MADE, "k": 0}, "k is 0"),
        ({**MADE, "k": 33}, "k is 33"),
        ({**MADE, "k": True}, "k is True"),
        ({**MADE, "ids": -1}, "ids is -1"),
        ({**MADE, "ids": 1.5}, "ids is 1.5"),
    ],
)
def test_invalid_filters_are_refused(said: object, says: str) -> None:
    with pytest.raises(ConfigMessageError, match=f"allow_bloom: .*{says}"):
        settings_of(said)
