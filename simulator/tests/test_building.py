"""An invalid building file is refused with the place of its first fault."""

import json
from pathlib import Path
from typing import Any

import pytest
from simulator.building import BuildingError, Gateway, load, parse


def small() -> dict[str, Any]:
    return {
        "building": "Shed",
        "levels": [
            {"id": "L1", "rooms": [{"id": "hall", "name": "Hall", "polygon": [[0, 0], [4, 0], [4, 4], [0, 4]]}]}
        ],
        "beacons": [{"id": "C2A628384B08", "level": "L1", "room": "hall", "x_m": 1, "y_m": 1.5}],
        "gateways": [{"id": "gw-1", "level": "L1", "room": "hall", "x_m": 2, "y_m": 2, "rssi_offset": 1.5}],
        "staff": [{"id": "0"}, {"id": "1", "tags": ["D0A628384B00"]}, {"id": "2", "tags": []}],
    }


def test_reads_a_small_building() -> None:
    building = parse(small())
    assert building.rooms["hall"].polygon == ((0, 0), (4, 0), (4, 4), (0, 4))
    assert building.beacons[0].tx == -59
    assert not building.rooms["hall"].is_passage
    assert building.gateways == {"gw-1": Gateway("gw-1", "hall", 2, 2, 1.5)}
    assert building.staff == ("0", "1", "2")
    assert building.tags == {"1": ("D0A628384B00",)}
    assert building.registered == {"C2A628384B08", "D0A628384B00"}


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (("levels",), {}, "levels: is not a list"),
        (("levels", 0, "rooms"), [], "levels: there is no room in the building"),
        (("levels", 0, "rooms", 0, "id"), "a b", "levels[0].rooms[0].id: 'a b' is not a string of the form"),
        (("levels", 0, "rooms", 0, "kind"), "attic", "levels[0].rooms[0].kind: 'attic'"),
        (("levels", 0, "rooms", 0, "polygon"), [[0, 0], [1, 0], [2, 0]], "levels[0].rooms[0].polygon: is no area"),
        (("levels", 0, "rooms", 0, "polygon"), [[0, 0], [0, 0], [2, 0], [0, 3]], "polygon: repeats a corner"),
        (("levels", 0, "rooms", 0, "polygon", 1), [1], "levels[0].rooms[0].polygon[1]: is not [x, y]"),
        (("levels", 0, "rooms", 0, "polygon", 1, 0), "1", "levels[0].rooms[0].polygon[1][0]: '1' is not a number"),
        (("levels", 0, "rooms", 0, "polygon", 1, 0), True, "polygon[1][0]: True is not a number"),
        (("beacons", 0, "id"), "c2a628384b08", "beacons[0].id: 'c2a628384b08'"),
        (("beacons", 0, "room"), "attic", "beacons[0].room: there is no room 'attic'"),
        (("beacons", 0, "level"), "L2", "beacons[0].level: room 'hall' is on level 'L1'"),
        (("beacons", 0, "x_m"), None, "beacons[0].x_m: None is not a number"),
        (("gateways", 0, "room"), "attic", "gateways[0].room: there is no room 'attic'"),
        (("staff", 1, "tags", 0), "mine", "staff[1].tags[0]: 'mine'"),
        (("staff", 0), 7, "staff[0]: is not an object"),
    ],
)
def test_names_the_fault(place: tuple[str | int, ...], value: object, says: str) -> None:
    document: Any = small()
    node = document
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    with pytest.raises(BuildingError) as error:
        parse(document)
    assert says in str(error.value)


@pytest.mark.parametrize("key", ["building", "levels", "beacons", "gateways", "staff"])
def test_names_a_missing_key(key: str) -> None:
    document = small()
    del document[key]
    with pytest.raises(BuildingError, match=f"'{key}' is missing"):
        parse(document)


def test_room_ids_are_unique() -> None:
    document = small()
    document["levels"].append({"id": "L2", "rooms": document["levels"][0]["rooms"]})
    with pytest.raises(BuildingError, match=r"levels\[1\]\.rooms\[0\]\.id: 'hall' is used twice"):
        parse(document)


def test_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    with pytest.raises(BuildingError, match=r"b\.json: cannot be read: No such file"):
        load(file)
    file.write_text("{")
    with pytest.raises(BuildingError, match=r"b\.json: is not JSON: .*line 1"):
        load(file)
    file.write_text(json.dumps({}))
    with pytest.raises(BuildingError, match=r"b\.json: the document: 'levels' is missing"):
        load(file)
