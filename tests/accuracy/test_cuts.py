"""Cut and altered recordings are right, and a tuning never uses what is left out."""

import random
from dataclasses import replace

import pytest
from simulator.building import parse

from accuracy.altered import stronger, uneven, unmeasured
from accuracy.arguments import RECORDINGS
from accuracy.borders import away_from_borders
from accuracy.candidates import joined, single_steps
from accuracy.conditions import (
    STRONGEST,
    adverts_every,
    conditions,
    positions_missing,
    roles_swapped,
    room_without_device,
    strongest_only,
    weaker,
)
from accuracy.interval import interval, median, worst_decile
from accuracy.nested import Bench, Shares, nested
from accuracy.real import QUICK
from accuracy.recorded import Recording, load
from accuracy.recut import adverts_lost, backwards, device_left_out, drawn, lines_moved, other_start, variations
from accuracy.schematic import schematic
from accuracy.windows import batches, published


@pytest.fixture(scope="module")
def walk() -> Recording:
    (tetam,) = load([RECORDINGS / "tetam"])
    return tetam.recordings[-1]


def rng() -> random.Random:
    return random.Random(1)  # noqa: S311 - play, not secrets


def test_backwards_is_the_same_radio(walk: Recording) -> None:
    once = backwards(walk, rng())
    assert [one.rssi for one in once.adverts] == [one.rssi for one in reversed(walk.adverts)]
    assert [one.room for one in once.truth] == [one.room for one in reversed(walk.truth)]
    times = [one.ts_ms for one in once.adverts]
    assert times == sorted(times)
    assert backwards(once, rng()) == walk


def test_another_start_lost_adverts_and_a_device_left_out(walk: Recording) -> None:
    cut = other_start(walk, rng())
    assert walk.truth[0].ts_ms < cut.truth[0].ts_ms <= cut.adverts[0].ts_ms
    assert cut.truth == walk.truth[-len(cut.truth) :]
    assert 0.85 < len(adverts_lost(walk, rng()).adverts) / len(walk.adverts) < 0.95
    without = device_left_out(walk, rng())
    assert len(without.devices) == len(walk.devices) - 1
    assert {one.receiver for one in without.adverts} <= {one["id"] for one in without.devices}


def test_lines_move_and_truth_and_devices_with_them(walk: Recording) -> None:
    before = {room["id"]: room["polygon"] for room in walk.building["levels"][0]["rooms"]}
    cut = lines_moved(walk, rng())
    rooms = {room["id"]: room["polygon"] for room in cut.building["levels"][0]["rooms"]}
    (x, y), (old_x, old_y) = rooms["SW"][2], before["SW"][2]
    assert 0 < abs(x - old_x) <= 1.5
    assert 0 < abs(y - old_y) <= 1.5
    assert rooms["NE"][0] == [x, y]
    assert rooms["NE"][2] == before["NE"][2]
    assert walk.building["levels"][0]["rooms"][0]["polygon"][0] == [0, 0]
    for second in cut.scored:
        assert second.x_m is not None
        assert second.y_m is not None
        assert second.room == ("S" if second.y_m < y else "N") + ("W" if second.x_m < x else "E")
    for one in cut.devices:
        assert one["room"] == ("S" if one["y_m"] < y else "N") + ("W" if one["x_m"] < x else "E")


def test_every_variation_is_drawn_as_often_as_said(walk: Recording) -> None:
    for one in variations(2):
        cuts = drawn(walk, one)
        assert len(cuts) == one.times
        assert cuts == drawn(walk, one)
    assert len({cut.truth[0].ts_ms for cut in drawn(walk, variations(2)[2])}) == 2


def test_under_other_conditions_only_that_is_other_which_is_said(walk: Recording) -> None:
    rare = adverts_every(walk, rng(), 2000)
    seconds = (walk.adverts[-1].ts_ms - walk.adverts[0].ts_ms) / 1000
    assert len(rare.adverts) <= len(walk.devices) * (seconds / 2 + 2) < len(walk.adverts)
    phone = roles_swapped(walk, rng())
    parse(phone.building)
    assert (phone.mode, len(phone.devices)) == ("phone", len(walk.devices))
    assert [one.rssi for one in phone.adverts] == [one.rssi for one in walk.adverts]
    assert {one.receiver for one in phone.adverts} == {phone.walker}
    again = roles_swapped(phone, rng())
    parse(again.building)
    assert [one.rssi for one in batches(again, 0)[0].readings]
    assert max(len(one.readings) for one in batches(strongest_only(walk, rng()), 0)) == STRONGEST
    rooms = {one["room"] for one in room_without_device(walk, rng()).devices}
    assert len(rooms) == len({one["room"] for one in walk.devices}) - 1
    unknown = [one for one in positions_missing(walk, rng()).devices if one.get("approximate")]
    assert len(unknown) == len(walk.devices) / 2
    assert max(one.rssi for one in weaker(walk, rng()).adverts) == max(one.rssi for one in walk.adverts) - 15


def test_receivers_with_long_windows_publish_rarely(walk: Recording) -> None:
    (long,) = [drawn(walk, one)[0] for one in conditions() if one.name == "windows of 4 s"]
    gaps = {one["window_ms"] for one in long.devices}
    assert gaps == {4000}
    assert published(walk) is walk
    heard = {one.ts_ms for one in published(long).adverts if one.receiver == long.devices[0]["id"]}
    assert len({ms % 4000 for ms in heard}) == 1


def test_levels_are_shifted_as_said(walk: Recording) -> None:
    weaker = stronger(walk, -15)
    assert [one.rssi for one in weaker.adverts] == [one.rssi - 15 for one in walk.adverts]
    by = {
        device["id"]: {b.rssi - a.rssi for a, b in zip(walk.adverts, uneven(walk, 1).adverts, strict=True)
                       if a.receiver == device["id"]}
        for device in walk.devices
    }  # fmt: skip
    assert all(len(some) == 1 for some in by.values())
    assert set.union(*by.values()) == {-6, 6}
    assert all(one["approximate"] for one in unmeasured(walk).devices)


def test_of_a_listed_building_only_names_are_known(walk: Recording) -> None:
    first, again = schematic([walk, walk])
    assert first.building is again.building
    (level,) = first.building["levels"]
    listed = {one["room"] for one in walk.devices}
    assert [room["id"] for room in level["rooms"]] == [
        room["id"] for room in walk.building["levels"][0]["rooms"] if room["id"] in listed
    ]
    assert level["schematic"]
    assert all(one["approximate"] for one in first.devices)
    assert {one["id"] for one in first.devices} == {one["id"] for one in walk.devices}
    parse(first.building)


def test_seconds_away_from_borders(walk: Recording) -> None:
    away = away_from_borders(walk)
    assert 0 < len(away) < len(walk.scored)
    for second in walk.scored:
        assert second.x_m is not None
        assert second.y_m is not None
        assert (second in away) == (abs(second.x_m - 10.1) > 1 and abs(second.y_m - 9.2) > 1)
    nowhere = replace(walk, truth=tuple(one._replace(x_m=None) for one in walk.truth))
    assert away_from_borders(nowhere) == []


def test_steps_change_one_number_and_join_different_ones() -> None:
    singles = single_steps({"a": 2.0, "b": 0.0, "c": 1.0}, (0.5, 1.5))
    assert singles == [{"a": 1.0}, {"a": 3.0}, {"c": 0.5}, {"c": 1.5}]
    assert joined({"a": 1.0}, singles) == [{"a": 1.0, "c": 0.5}, {"a": 1.0, "c": 1.5}]


def test_what_is_left_out_has_no_say(walk: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the first number is best for one set and bad for the other; each fold is tuned on the other set."""
    monkeypatch.setattr("accuracy.nested.numbers", lambda: {"n": 1.0})
    here, there = replace(walk, of="here"), replace(walk, of="there")

    def made_up(bench: Bench, tunings: list[dict[str, float]]) -> None:
        for one in tunings:
            n = one.get("n", 1.0)
            good: dict[str, Shares] = {"here": (1 - n / 10, 1 - n / 10), "there": (n / 10, n / 10)}
            bench._known[tuple(one.items())] = [good[recording.of] for recording in bench.recordings]

    monkeypatch.setattr(Bench, "add", made_up)
    found = nested([here, there])
    assert [(one.name, dict(one.chosen)) for one in found.sets] == [("here", {"n": 1.4}), ("there", {"n": 0.7})]
    assert [one.outer[0] for one in found.sets] == pytest.approx([0.86, 0.07])
    assert found.gap[0] > 0


def test_intervals_hold_the_statistic() -> None:
    values = [float(value) for value in range(101)]
    low, high = interval(values, median)
    assert 30 < low < 50 < high < 70
    assert interval([3.0, 3.0], median) == (3.0, 3.0)
    assert worst_decile(values) == 10
    assert QUICK["gateway"] > 1
