"""Beacon ids in the forms that people write."""

import json
from pathlib import Path

import pytest
from gateway_agent import beacon_id
from hypothesis import given
from hypothesis import strategies as st

CASES = json.loads((Path(__file__).parents[2] / "tests" / "beacon_ids.json").read_text(encoding="utf-8"))
"""As people write them, with the canonical form or a part of the reason; the tests of the other parts read the same."""


@pytest.mark.parametrize("case", [case for case in CASES if "id" in case], ids=lambda case: case["written"])
def test_ids_are_normalised(case: dict[str, str]) -> None:
    assert beacon_id.normalise(case["written"]) == case["id"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if "reason" in case], ids=lambda case: str(case["written"])[:40]
)
def test_invalid_ids_are_refused_with_the_reason(case: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=f"is not a beacon id: .*{case['reason']}"):
        beacon_id.normalise(case["written"])


MACS = st.binary(min_size=6, max_size=6).filter(lambda mac: mac not in (bytes(6), b"\xff" * 6))  # these stand for none


@given(st.binary(min_size=16, max_size=16), st.integers(0, 65535), st.integers(0, 65535), MACS)
def test_generated_ids_are_normalised_already(uuid: bytes, major: int, minor: int, mac: bytes) -> None:
    for made in (
        beacon_id.ibeacon(uuid, major, minor),
        beacon_id.eddystone_uid(uuid[:10], uuid[10:]),
        beacon_id.from_mac(mac.hex(":")),
    ):
        assert beacon_id.normalise(made) == made
