"""Folders of recordings are read; errors name file and line."""

import json
from pathlib import Path

import pytest
from gateway_agent.decoders import Sighting
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.window import Window

from accuracy.__main__ import RECORDINGS
from accuracy.__main__ import parse as parse_arguments
from accuracy.recorded import WINDOW_MS, Advert, DataError, Recording, batches, load
from accuracy.rules import RULES, bermuda, espresense, mean, strongest
from accuracy.score import Second

TAG = "C2A628384B08"
SETS = ["flat", "sal", "tetam", "ujilib", "ujioffice", "vub", "waldo"]
BUILDING = {
    "building": "Two rooms",
    "levels": [
        {
            "id": "L1", "name": "Level 1", "width_m": 8, "height_m": 4,
            "rooms": [
                {"id": "west", "name": "West", "polygon": [[0, 0], [4, 0], [4, 4], [0, 4]]},
                {"id": "east", "name": "East", "polygon": [[4, 0], [8, 0], [8, 4], [4, 4]]},
            ],
        }
    ],
    "beacons": [],
    "gateways": [
        {"id": "gw-west", "level": "L1", "room": "west", "x_m": 2, "y_m": 2},
        {"id": "gw-east", "level": "L1", "room": "east", "x_m": 6, "y_m": 2},
    ],
    "staff": [{"id": "walker", "name": "Walker", "tags": [TAG]}],
}  # fmt: skip
ADVERTS = f"ts_ms,receiver,beacon,rssi\n1000,gw-west,{TAG},-60\n1400,gw-east,{TAG},-70\n"
TRUTH = "ts_ms,room,x_m,y_m\n1000,west,1,2\n2000,,,\n3000,east,7,2\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "house"
    found.mkdir()
    (found / "building.json").write_text(json.dumps(BUILDING))
    (found / "set.json").write_text('{"mode": "gateway"}')
    (found / "walk.csv").write_text(ADVERTS)
    (found / "walk.truth.csv").write_text(TRUTH)
    return found


def recording(adverts: list[Advert], seconds: int = 10) -> Recording:
    """Adverts in the two rooms, with a truth that is all west."""
    truth = tuple(Second(second * 1000, "west") for second in range(seconds))
    return Recording("house", "walk", "gateway", BUILDING, tuple(adverts), truth)


def test_a_set_is_read(folder: Path) -> None:
    ((one,),) = (some.recordings for some in load([folder]))
    assert (one.of, one.name, one.mode, one.walker) == ("house", "walk", "gateway", "walker")
    assert one.adverts == (Advert(1000, "gw-west", TAG, -60), Advert(1400, "gw-east", TAG, -70))
    assert one.truth[0] == Second(1000, "west", 1.0, 2.0)
    assert [second.room for second in one.scored] == ["west", "east"]


def test_folders_of_sets_and_several_folders_are_read(folder: Path) -> None:
    assert [some.name for some in load([folder.parent])] == ["house"]
    assert [some.name for some in load([folder, RECORDINGS])] == ["house", *SETS]
    arguments = parse_arguments(["--data", str(folder), "--data", str(RECORDINGS)])
    assert arguments.data == [folder, RECORDINGS]
    assert arguments.parts == ("recorded",)


def test_what_is_not_the_walkers_is_left_out_and_counted(folder: Path) -> None:
    others = f"1500,gw-west,FEEDFEEDFEED,-50\n1500,gw-north,{TAG},-50\n1500,gw-west,{TAG},42\n"
    (folder / "walk.csv").write_text(ADVERTS + others)
    ((one,),) = (some.recordings for some in load([folder]))
    assert (len(one.adverts), one.ignored) == (2, 3)


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("set.json", "{}", "set.json: mode is None"),
        ("set.json", "{", "set.json is not JSON"),
        ("building.json", "{}", "building.json: "),
        ("building.json", json.dumps({**BUILDING, "staff": []}), "building.json: staff has 0 entries"),
        ("walk.csv", "ts_ms,gateway,beacon,rssi\n", r"walk.csv, line 1: the column 'receiver' is missing"),
        ("walk.csv", ADVERTS + f"x,gw-west,{TAG},-60\n", r"walk.csv, line 4: ts_ms 'x' is not a whole number"),
        ("walk.csv", ADVERTS + "1,gw-west,tag,-60\n", r"walk.csv, line 4: beacon 'tag' is not an id"),
        ("walk.csv", ADVERTS + f"1,gw-west,{TAG},-60,7\n", r"walk.csv, line 4: has more fields than the header"),
        ("walk.csv", ADVERTS + f"1,gw-west,{TAG},loud\n", r"walk.csv, line 4: rssi 'loud' is not a whole number"),
        ("walk.csv", "ts_ms,receiver,beacon,rssi\n", "walk.csv: none of 0 adverts is of the walker's tags"),
        ("walk.truth.csv", TRUTH + "4000,north,1,1\n", r"walk.truth.csv, line 5: room 'north' is not in building.json"),
        ("walk.truth.csv", TRUTH + "3000,west,1,1\n", r"walk.truth.csv, line 5: ts_ms 3000 is not after"),
        (
            "walk.truth.csv",
            TRUTH + "4000,west,near,1\n",
            r"walk.truth.csv, line 5: x_m 'near' is not a number of metres",
        ),
    ],
)
def test_what_is_wrong_is_named(folder: Path, file: str, text: str, says: str) -> None:
    (folder / file).write_text(text)
    with pytest.raises(DataError, match=says):
        load([folder])


def test_what_is_missing_is_named(folder: Path) -> None:
    for missing in ("walk.csv", "set.json"):
        kept = (folder / missing).read_text()
        (folder / missing).unlink()
        with pytest.raises(DataError, match=f"{missing} cannot be read"):
            load([folder])
        (folder / missing).write_text(kept)
    (folder / "walk.truth.csv").unlink()
    with pytest.raises(DataError, match="holds no recording"):
        load([folder])
    (folder / "building.json").unlink()
    with pytest.raises(DataError, match=r"holds no building\.json"):
        load([folder.parent])
    with pytest.raises(DataError, match="is not a folder"):
        load([folder / "nowhere"])


def test_each_receiver_has_windows_of_its_own_and_the_agents_statistic() -> None:
    levels = {"gw-west": [-60, -63, -70, -41], "gw-east": [-80, -83]}
    adverts = [
        Advert(5000 + 230 * i, receiver, TAG, rssi) for receiver, some in levels.items() for i, rssi in enumerate(some)
    ]
    ends: dict[str, set[int]] = {"gw-west": set(), "gw-east": set()}
    for phases in range(20):
        for one in batches(recording(sorted(adverts)), phases):
            ends[one.receiver].add(one.ts % WINDOW_MS)
            assert 10 <= one.now_ms - one.ts <= 60
            heard = [
                advert.rssi
                for advert in adverts
                if advert.receiver == one.receiver and one.ts - WINDOW_MS <= advert.ts_ms < one.ts
            ]
            agent = Window(ScanSettings(allow=frozenset([TAG])))
            for rssi in heard:
                agent.add("C2:A6:28:38:4B:08", rssi, Sighting({TAG: None}, None), 0)
            assert [reading.rssi for reading in one.readings] == [reading.rssi for reading in agent.close(1)]
    assert min(map(len, ends.values())) > 15
    assert batches(recording(sorted(adverts)), 1) == batches(recording(sorted(adverts)), 1)


def test_the_strongest_reading_names_the_room() -> None:
    found = strongest(recording([Advert(500, "gw-west", TAG, -60), Advert(600, "gw-east", TAG, -50),
                                 Advert(2500, "gw-west", TAG, -90)], 5))  # fmt: skip
    assert found == {1000: "east", 2000: "east", 3000: "west", 4000: "west"}


def test_the_mean_changes_after_two_wins_and_forgets_after_five_seconds() -> None:
    adverts = [Advert(500, "gw-west", TAG, -60), Advert(1500, "gw-east", TAG, -50)]
    found = mean(recording(adverts))
    assert [found.get(second * 1000) for second in range(4)] == [None, "west", "west", "east"]
    found = mean(recording([*adverts[:1], Advert(3500, "gw-east", TAG, -70)]))
    assert [found[second * 1000] for second in range(5, 9)] == ["west", "west", "east", "east"]


def steady(west: int, east: int, from_s: int = 0, to_s: int = 30) -> list[Advert]:
    """Both gateways hear the tag once a second."""
    return [
        Advert(second * 1000 + 500 + number, gateway, TAG, rssi)
        for second in range(from_s, to_s)
        for number, (gateway, rssi) in enumerate((("gw-west", west), ("gw-east", east)))
    ]


def test_bermuda_changes_at_once_when_much_nearer_and_after_five_cycles_when_a_little() -> None:
    """3 dB are 23 % of the distance; 6 dB are 45 %."""
    for louder_db, within_s in ((1, None), (3, 8), (6, 2)):
        found = bermuda(recording([*steady(-60, -75), *steady(-60, -60 + louder_db, 30, 60)], 60))
        changed = next((second - 30 for second in range(60) if found.get(second * 1000) == "east"), None)
        assert changed is None if within_s is None else changed is not None and 0 < changed <= within_s, louder_db


def test_bermuda_ignores_a_retreat_that_is_too_fast_and_whoever_is_unheard() -> None:
    jump = bermuda(recording([*steady(-60, -70), *steady(-95, -70, 30, 31), *steady(-60, -70, 31, 35)], 35))
    assert set(jump.values()) == {"west"}
    assert max(bermuda(recording(steady(-60, -70, 0, 5), 60))) == 34_000  # 30 s after the last advert


def test_espresense_takes_fifteen_seconds_and_leaves_out_what_is_far_off() -> None:
    found = espresense(recording([*steady(-60, -75), *steady(-75, -60, 30, 60)], 60))
    changed = next(second for second in range(60) if found.get(second * 1000) == "east")
    assert 37 <= changed <= 42
    spike = [Advert(20_700, "gw-east", TAG, -30)]
    assert set(espresense(recording(sorted([*steady(-60, -70), *spike]), 30)).values()) == {"west"}


def test_rules_answer_nothing_before_the_first_advert() -> None:
    for rule in RULES.values():
        assert min(rule(recording(steady(-60, -70, 5, 9)))) == 6000
