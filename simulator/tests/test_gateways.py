"""A run of gateways is a function of building, people and seed, and of what each gateway is configured to report."""

import itertools
import json
from collections import Counter
from typing import Any

import pytest
from gateway_agent.scan_settings import ScanSettings
from simulator.building import Building
from simulator.gateways import PlayedGateway
from simulator.message import RSSI, ScheduledBatch
from simulator.play import Faults, People, Play
from simulator.telemetry import LOW_MV, Sensors, sensors_of
from simulator.truth import truth

from simulator import play

TAG, OTHER = "C2A628384B08", "D0A628384B00"


def sent(played: Play) -> list[ScheduledBatch]:
    return [item for item in played.batches if item.readings]


def test_the_same_seed_gives_the_same_messages(demo: Building) -> None:
    first, again, other = (sent(play.mixed(demo, People(50, seed=seed, duration_s=20))) for seed in (3, 3, 4))
    assert first == again != other
    assert [item.due_s for item in first] == sorted(item.due_s for item in first)


def test_staff_with_tags_are_heard_by_gateways_and_the_others_carry_phones(demo: Building) -> None:
    played = play.mixed(demo, People(50, duration_s=30))
    phones = {receiver.id for receiver in played.receivers if receiver.kind == "phone"}
    assert phones == set(demo.staff) - set(demo.tags)
    assert [receiver.id for receiver in played.receivers if receiver.kind == "gateway"] == list(demo.gateways)
    tags = {tag for carried in demo.tags.values() for tag in carried}
    heard = set()
    for item in sent(played):
        beacons = {reading.beacon for reading in item.readings}
        if played.receivers[item.sender].kind == "gateway":
            assert beacons <= tags
            assert all(reading.n and reading.tx == -59 for reading in item.readings)
            heard |= beacons
        else:
            assert beacons <= {beacon.id for beacon in demo.beacons}
    assert heard == tags


def test_somebody_walks_the_same_way_with_a_tag_and_with_a_phone(demo: Building) -> None:
    staff_id, (tag, *_) = next(iter(demo.tags.items()))
    entered = list(itertools.islice(truth(demo, [staff_id], 5), 8))
    played = play.gateways(demo, People(50, seed=5, duration_s=entered[-1].time_s))
    level = {gateway.id: demo.rooms[gateway.room].level for gateway in demo.gateways.values()}
    right = Counter[bool]()
    for item in sent(played):
        here = [one.room for one in entered if one.time_s <= item.due_s][-1]
        for reading in item.readings:
            if reading.beacon == tag and reading.rssi > -70:
                right[level[played.receivers[item.sender].id] == demo.rooms[here].level] += 1
    assert right[True] > 20
    assert right[False] <= right[True] / 50


def test_what_is_on_the_air_does_not_depend_on_settings(demo: Building) -> None:
    """A gateway that sends every two seconds counts the adverts that one with a second counts."""
    counts = []
    for window_ms in (500, 1000, 2000):
        played = play.gateways(demo, People(50, duration_s=20))
        for gateway in played.gateways.values():
            gateway.configure(json.dumps({"window_ms": window_ms, "min_rssi": -127}).encode())
        items = sent(played)
        gaps = {
            round(after.due_s - before.due_s, 3)
            for before, after in itertools.pairwise(i for i in items if not i.sender)
        }
        assert all(gap % (window_ms / 1000) == pytest.approx(0, abs=1e-3) for gap in gaps)
        counts.append([gateway.figures()["adverts"] for gateway in played.gateways.values()])
    assert counts[0] == counts[1] == counts[2]


def test_the_building_without_tags_or_gateways_is_refused(demo: Building) -> None:
    untagged = Building("B", demo.levels, demo.rooms, demo.beacons, demo.gateways, demo.staff)
    with pytest.raises(ValueError, match="B has no staff with tags"):
        play.gateways(untagged, People(50))
    mixed = play.mixed(untagged, People(5, duration_s=5))
    assert {mixed.receivers[item.sender].kind for item in sent(mixed)} == {"phone"}
    assert len(mixed.gateways) == 113
    gone = Building("B", demo.levels, demo.rooms, demo.beacons, {}, demo.staff, demo.tags)
    assert {receiver.kind for receiver in play.mixed(gone, People(50)).receivers} == {"phone"}
    assert len(play.mixed(gone, People(50)).receivers) == 50


def test_the_building_without_beacons_has_no_phones(demo: Building) -> None:
    bare = Building("B", demo.levels, demo.rooms, (), demo.gateways, demo.staff, demo.tags)
    assert {receiver.kind for receiver in play.mixed(bare, People(50)).receivers} == {"gateway"}
    with pytest.raises(ValueError, match="B has no beacons"):
        play.phones(bare, People(50))
    assert [play.playable(command, bare) for command in ("phones", "gateways", "mixed")] == [False, True, True]


def test_windows_of_which_everything_is_left_out_still_let_time_pass(demo: Building) -> None:
    played = play.gateways(demo, People(50, duration_s=None))
    for gateway in played.gateways.values():
        gateway.configure(b'{"allow":[]}')
    assert not any(item.readings for item in itertools.islice(played.batches, 1000))
    assert sum(gateway.figures()["dropped_unregistered"] for gateway in played.gateways.values()) > 100


def test_a_gateway_obeys_its_config_and_forgets_it_with_an_empty_one() -> None:
    gateway = PlayedGateway("gw", ScanSettings(allow=frozenset([TAG])), {})
    assert gateway.configure(json.dumps({"allow": [OTHER.lower()], "min_rssi": -80}).encode()) is None
    for rssi in (-70, -90):
        gateway.add(OTHER, rssi, 0)
        gateway.add(TAG, rssi, 0)
    assert [reading.beacon for reading in gateway.close(1)] == [OTHER]
    gateway.add(OTHER, -85, 1)
    assert gateway.close(2) == ()
    gateway.add(OTHER, 20, 2)
    figures = gateway.figures()
    assert [figures[f"dropped_{reason}"] for reason in ("weak", "unregistered", "no_rssi")] == [1, 2, 1]
    assert (figures["adverts"], figures["registered"]) == (6, 1)
    assert gateway.configure(b'{"window_ms":7}') == (
        "gateway gw: config window_ms is 7; it must lie between 100 and 60000"
    )
    assert gateway.settings.min_rssi == -80
    gateway.configure(b"")
    gateway.add(TAG, -90, 2)
    assert [reading.beacon for reading in gateway.close(3)] == [TAG]


def test_telemetry_goes_out_when_it_changes_and_once_a_minute() -> None:
    gateway = PlayedGateway("gw", ScanSettings(allow=frozenset([TAG])), sensors_of((), [TAG], 1))
    said = []
    for second in range(180):
        gateway.add(TAG, -60, second)
        (reading,) = gateway.close(second)
        if reading.battery_mv is not None:
            said.append((second, reading.battery_mv, reading.temperature_c))
    assert 3 <= len(said) <= 5
    assert said[0][0] == 0
    assert all(after - before <= 60 for (before, *_), (after, *_) in itertools.pairwise(said))


def test_batteries_drain_and_are_changed() -> None:
    sensors = Sensors(TAG, 1, worn=True)
    levels = [sensors.at(hour * 3600).battery_mv for hour in range(24 * 30)]
    assert all(2490 <= level <= 3000 for level in levels)
    steps = [after - before for before, after in itertools.pairwise(levels)]
    assert sum(step > 0 for step in steps) >= 1
    assert all(-3 <= step <= -1 or step > 400 for step in steps)


def test_so_many_batteries_are_low(demo: Building) -> None:
    tags = [tag for carried in demo.tags.values() for tag in carried]
    found = sensors_of([beacon.id for beacon in demo.beacons], tags, 1, low_batteries=2)
    low = [device for device, sensors in found.items() if sensors.at(0).battery_mv < 2400]
    assert len(low) == 2
    assert set(low) <= set(tags)
    assert {found[device].at(0).battery_mv for device in low} == {LOW_MV}


def test_gateways_fail_for_minutes_and_come_back(demo: Building) -> None:
    played = play.mixed(demo, People(50, failing=2))
    outages = list(itertools.islice(played.outages, 6))
    assert outages == sorted(outages)
    assert len({outage.sender for outage in outages}) == 2
    assert all(60 < outage.end_s - outage.start_s < 300 for outage in outages)
    assert list(itertools.islice(play.mixed(demo, People(50)).outages, 1)) == []


def test_faults_come_at_their_rates_and_change_nothing_else(demo: Building) -> None:
    faults = Faults(duplicates=0.1, late=0.2, malformed=0.05)
    clean = sent(play.mixed(demo, People(50, duration_s=40)))
    faulty, again = (sent(play.mixed(demo, People(50, duration_s=40, faults=faults))) for _ in range(2))
    assert faulty == again
    assert [item.due_s for item in faulty] == sorted(item.due_s for item in faulty)
    assert sorted((item.sender, item.offset_ms, item.readings) for item in faulty) == sorted(
        (item.sender, item.offset_ms, item.readings) for item in clean
    )
    for share, count in (
        (0.1, sum(item.copies - 1 for item in faulty)),
        (0.2, sum(item.late for item in faulty)),
        (0.05, sum(item.malformed for item in faulty)),
    ):
        assert count == pytest.approx(share * len(faulty), rel=0.2)
    end_s = faulty[-1].due_s
    late_s = [item.due_s - item.offset_ms / 1000 for item in faulty if item.late and item.due_s < end_s]
    assert late_s
    assert all(4.999 < one < 60.001 for one in late_s)


def test_clocks_are_wrong_each_in_its_own_way(demo: Building) -> None:
    played = play.mixed(demo, People(50, duration_s=10, faults=Faults(clock_skew_s=3)))
    skews: dict[int, set[int]] = {}
    for item in sent(played):
        skews.setdefault(item.sender, set()).add(item.offset_ms - round(item.due_s * 1000))
    assert all(len(one) == 1 and abs(min(one)) <= 3000 for one in skews.values())
    assert len({min(one) for one in skews.values()}) > len(skews) / 2


def test_phones_come_and_go(demo: Building) -> None:
    people = People(50, duration_s=1800, away=25)
    played = play.phones(demo, people)
    off: dict[int, list[play.Outage]] = {}
    for outage in itertools.takewhile(lambda one: one.start_s < 1800, played.outages):
        assert outage.switched_off
        off.setdefault(outage.sender, []).append(outage)
    away_s = sum(min(1800, one.end_s) - one.start_s for outages in off.values() for one in outages)
    assert away_s / (50 * 1800) == pytest.approx(0.25, abs=0.08)
    for item in sent(played):
        assert not any(one.start_s <= item.due_s < one.end_s for one in off.get(item.sender, ()))


def test_forgotten_tags_lie_where_they_are(demo: Building) -> None:
    carried, forgotten = (
        play.gateways(demo, People(50, duration_s=200, forgotten=count)) for count in (0, len(demo.tags))
    )
    rooms = [Counter[str](), Counter[str]()]
    for played, found in zip((carried, forgotten), rooms, strict=True):
        for item in sent(played):
            if max(reading.rssi for reading in item.readings) > -62:
                found[played.receivers[item.sender].id] += 1
    assert len(rooms[1]) < len(rooms[0]) * 0.8


def test_the_truth_is_each_change_of_room(demo: Building) -> None:
    entered = list(itertools.islice(truth(demo, ["0", "1"], 1), 40))
    assert [one.time_s for one in entered] == sorted(one.time_s for one in entered)
    assert [(one.time_s, one.staff_id) for one in entered[:2]] == [(0, "0"), (0, "1")]
    for staff_id in ("0", "1"):
        rooms = [one.room for one in entered if one.staff_id == staff_id]
        assert all(before != after for before, after in itertools.pairwise(rooms))


@pytest.mark.parametrize("min_rssi", [None, -85])
@pytest.mark.parametrize("rssi_offset", [0.0, 2.5, -3.0])
def test_what_a_gateway_leaves_out_is_what_the_locator_would_not_use(
    demo: Building, min_rssi: int | None, rssi_offset: float
) -> None:
    name, gateway = next(iter(demo.gateways.items()))
    changed: dict[str, Any] = {"min_rssi": min_rssi, "rssi_offset": rssi_offset}
    gateways = {name: type(gateway)(gateway.id, gateway.room, gateway.x_m, gateway.y_m, **changed)}
    building = Building("B", demo.levels, demo.rooms, demo.beacons, gateways, demo.staff, demo.tags)
    (played,) = play.gateways(building, People(50)).gateways.values()
    lowest = played.settings.min_rssi
    assert all((rssi >= lowest) == (min_rssi is None or rssi + rssi_offset >= min_rssi) for rssi in RSSI)
