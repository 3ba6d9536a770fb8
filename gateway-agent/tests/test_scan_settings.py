"""The live settings of the `config` topic."""

import json

import pytest
from gateway_agent.scan_settings import ConfigMessageError, ScanSettings, apply_config
from hypothesis import given
from hypothesis import strategies as st

BASE = ScanSettings(window_ms=500, min_rssi=-90, rssi_offset=2, allow=frozenset(["C2A628384B08"]))


def test_each_key_overrides_the_file() -> None:
    message = {"v": 1, "window_ms": 2000, "min_rssi": -95, "rssi_offset": -3, "allow": ["aa:bb:cc:dd:ee:ff"], "more": 1}
    assert apply_config(BASE, json.dumps(message).encode()) == ScanSettings(2000, -95, -3, frozenset(["AABBCCDDEEFF"]))
    assert apply_config(BASE, b'{"min_rssi":-70}') == ScanSettings(500, -70, 2, BASE.allow)


@pytest.mark.parametrize("payload", [b"", b"{}"])
def test_without_keys_the_file_applies(payload: bytes) -> None:
    assert apply_config(BASE, payload) == BASE


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"v":2}', "v is 2"),
        (b'{"window_ms":50}', "window_ms is 50"),
        (b'{"window_ms":"1000"}', "window_ms is '1000'"),
        (b'{"min_rssi":true}', "min_rssi is True"),
        (b'{"rssi_offset":1.5}', "rssi_offset is 1.5"),
        (b'{"allow":"C2A628384B08"}', "allow is not a list"),
        (b'{"allow":["nonsense"]}', "allow: 'nonsense'"),
        (b"\xff\xfe", "not JSON"),
        (b'{"window_ms":1e400}', "window_ms is inf"),
        (b'{"window_ms":NaN}', "window_ms is nan"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_errors_name_the_key(payload: bytes, says: str) -> None:
    with pytest.raises(ConfigMessageError, match=says.replace("[", r"\[")):
        apply_config(BASE, payload)


@given(
    st.binary()
    | st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.dictionaries(
            st.sampled_from(["v", "window_ms", "min_rssi", "rssi_offset", "allow", "allow_bloom", "ids", "k", "bits"]),
            inner | st.floats() | st.lists(inner),
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_payload_is_applied_or_refused(payload: bytes) -> None:
    try:
        applied = apply_config(BASE, payload)
    except ConfigMessageError:
        return
    assert 100 <= applied.window_ms <= 60_000
