"""`config` messages are read as the gateway agent reads them, filters included."""

import base64
import json
from hashlib import sha256
from typing import Any

import pytest
from gateway_agent.scan_settings import ScanSettings as AgentSettings
from gateway_agent.scan_settings import apply_config as agents_apply
from hypothesis import given
from hypothesis import strategies as st
from simulator.scan_settings import ConfigError, ScanSettings, apply_config

# As flows/lib/devices/gateway-config.js makes it of these three; gateway-agent/tests/test_bloom.py has the same.
IDS = ["C2A628384B08", "E2C56DB5DFFB48D2B060D0F5A71096E0-1-7", "00112233445566778899-AABBCCDDEEFF"]
MADE: dict[str, Any] = {"ids": 3, "k": 11, "bits": "JluHvHX2"}
BASE = ScanSettings(allow=frozenset(["A" * 12]))


def given_by(body: object) -> ScanSettings:
    return apply_config(BASE, json.dumps(body).encode())


def test_a_filter_that_the_flows_made() -> None:
    settings = given_by({"v": 1, "allow_bloom": MADE})
    assert all(beacon in settings.allow for beacon in IDS)
    assert settings.registered == 3
    assert sum(f"{number:012X}" in settings.allow for number in range(10_000)) < 500  # it has 48 bits


@given(
    st.lists(st.from_regex(r"[0-9A-F-]{12,64}", fullmatch=True), max_size=20), st.integers(1, 100), st.integers(1, 32)
)
def test_a_filter_lets_in_what_the_agent_lets_in(ids: list[str], size: int, k: int) -> None:
    bits = [0] * (8 * size)
    for beacon in ids:
        number = int.from_bytes(sha256(beacon.encode()).digest()[:8], "big")
        for i in range(k):
            bits[((number >> 32) + i * (number % 2**32 | 1)) % len(bits)] = 1
    packed = bytes(sum(bit << place for place, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8))
    body = {"allow_bloom": {"ids": len(ids), "k": k, "bits": base64.b64encode(packed).decode()}}
    ours = given_by(body).allow
    theirs = agents_apply(AgentSettings(), json.dumps(body).encode()).allow
    assert theirs is not None
    assert all(beacon in ours for beacon in ids)
    others = [f"{number:012X}" for number in range(200)]
    assert [beacon in ours for beacon in others] == [beacon in theirs for beacon in others]


def test_a_list_goes_before_a_filter_and_is_normalised() -> None:
    assert given_by({"allow": ["aa:bb:cc:dd:ee:ff"], "allow_bloom": MADE}).allow == frozenset(["AABBCCDDEEFF"])


def test_what_is_not_said_stays_as_it_is() -> None:
    assert given_by({"window_ms": 2000.0, "more": 1}) == ScanSettings(window_ms=2000, allow=BASE.allow)
    assert apply_config(BASE, b"") is BASE


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (b"{", "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b'{"v":2}', "v is 2"),
        (b'{"window_ms":99}', "window_ms is 99"),
        (b'{"window_ms":"1"}', "window_ms is '1'"),
        (b'{"min_rssi":-61.5}', "min_rssi is -61.5"),
        (b'{"rssi_offset":true}', "rssi_offset is True"),
        (b'{"min_rssi":1e999}', "min_rssi is inf"),
        (b'{"allow":["x"]}', "allow: 'X' is not a beacon id"),
        (b'{"allow":"all"}', "allow is not a list"),
        (b'{"allow_bloom":[]}', "allow_bloom is not an object"),
        (b'{"allow_bloom":{"ids":1,"k":1,"bits":""}}', "allow_bloom has no bits"),
        (b'{"allow_bloom":{"ids":1,"k":1,"bits":"###"}}', "allow_bloom bits are not base64"),
        (b'{"allow_bloom":{"ids":1,"k":33,"bits":"JluH"}}', "allow_bloom k is 33"),
        (b'{"allow_bloom":{"ids":-1,"k":3,"bits":"JluH"}}', "allow_bloom ids is -1"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_key(payload: bytes, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        apply_config(BASE, payload)
    assert says in str(error.value)
