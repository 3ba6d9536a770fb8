"""Files as people have them: other encodings, other spellings of ids, names with line ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from gateway_agent import beacon_id
from gateway_agent.text_file import EncodingError, decode

from simulator import building, replay

CASES = json.loads((Path(__file__).parents[2] / "tests" / "beacon_ids.json").read_text(encoding="utf-8"))
DEMO = Path(__file__).parents[2] / "flows" / "building" / "demo.json"
UUID = "E2C56DB5DFFB48D2B060D0F5A71096E0"


def row(beacon: str) -> list[str]:
    return [
        "ts_ms,gateway,beacon,rssi\n",
        "1637396919123,gw-1,C2A628384B08,-60\n",
        f"1637396919123,gw-1,{beacon},-61\n",
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["written"][:40])
def test_a_recording_takes_canonical_ids_only(case: dict[str, str]) -> None:
    if "," in case["written"]:
        return
    refused = replay.parse(row(case["written"])).refused
    is_canonical = case.get("id") == case["written"].strip()
    assert (refused == ()) is is_canonical
    if not is_canonical and case["written"].strip():
        assert "is not a beacon id (12 hex digits, UUID-MAJOR-MINOR" in refused[0][1]


def test_the_form_of_an_id_is_that_of_the_other_parts() -> None:
    assert all(beacon_id.is_canonical(case["id"]) for case in CASES if "id" in case)
    assert not any(beacon_id.is_canonical(case["written"]) for case in CASES if "reason" in case)


def demo(change: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(DEMO.read_text(encoding="utf-8"))
    data["beacons"][0] |= change
    return data


def test_a_building_of_an_earlier_version_is_played(tmp_path: Path) -> None:
    """The flows warn of its ids and names, and so it is in use."""
    data = demo({"id": f"{UUID}-001-2"})
    data["levels"][0]["rooms"][0]["name"] = "two\nlines"
    file = tmp_path / "building.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    assert f"{UUID}-001-2" in building.load(file).registered


@pytest.mark.parametrize(
    ("encoding", "why"),
    [
        ("utf-8-sig", None),
        ("utf-16", r"is UTF-16 \(little-endian\), not UTF-8"),
        ("latin-1", r"is Latin-1 or Windows-1252, not UTF-8"),
    ],
)
def test_the_encoding_of_a_building_is_named(encoding: str, why: str | None, tmp_path: Path) -> None:
    file = tmp_path / "building.json"
    file.write_bytes(json.dumps(demo({}) | {"building": "Büro"}, ensure_ascii=False).encode(encoding, "replace"))
    if why is None:
        assert building.load(file).name == "Büro"
        return
    with pytest.raises(building.BuildingError, match=why):
        building.load(file)
    with pytest.raises(EncodingError, match=why):
        decode(file.read_bytes())


def test_a_building_that_is_nested_deep_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "building.json"
    file.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(building.BuildingError, match="is not JSON"):
        building.load(file)
