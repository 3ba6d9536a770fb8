"""Windows: medians, counts, registered beacons, telemetry and limits."""

from statistics import median

import pytest
from gateway_agent.decoders import Sighting, Telemetry
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.window import FORGET_AFTER_S, UNREGISTERED, Unregistered, Window
from hypothesis import given
from hypothesis import strategies as st

MAC = "C2:A6:28:38:4B:08"
BEACON = "C2A628384B08"
LISTED = ScanSettings(allow=frozenset([BEACON]))


def sighting(beacon: str = BEACON, tx: int | None = None, said: Telemetry | None = None) -> Sighting:
    """An advert of one id."""
    return Sighting({beacon: tx}, said)


@given(st.lists(st.integers(-126, -1), min_size=1, max_size=50))
def test_a_reading_is_the_median_and_the_count(levels: list[int]) -> None:
    window = Window(LISTED)
    for rssi in levels:
        window.add(MAC, rssi, sighting(tx=-59), 0)
    (reading,) = window.close(1)
    assert reading.n == len(levels)
    assert abs(reading.rssi - median(levels)) <= 0.5
    assert reading.tx == -59
    assert window.close(2) == []


@given(st.lists(st.sampled_from([-127, -128, 0, 1, 20, 21, 127, -60]), max_size=20))
def test_an_unknown_rssi_is_discarded(levels: list[int]) -> None:
    window = Window(LISTED)
    for rssi in levels:
        window.add(MAC, rssi, sighting(), 0)
    good = levels.count(-60)
    assert [(reading.rssi, reading.n) for reading in window.close(1)] == ([(-60, good)] if good else [])
    assert window.ignored["no_rssi"] == len(levels) - good
    assert window.adverts == len(levels)


def test_offset_then_minimum() -> None:
    window = Window(ScanSettings(allow=frozenset([BEACON]), min_rssi=-80, rssi_offset=-5))
    window.add(MAC, -75, sighting(), 0)
    assert window.close(1)[0].rssi == -80
    window.add(MAC, -76, sighting(), 1)
    window.add(MAC, -76, sighting(), 1)
    assert window.close(2) == []
    assert window.ignored["weak"] == 2


@given(st.integers(-126, -1), st.integers(-50, 50), st.integers(-127, 20))
def test_the_minimum_applies_to_the_sent_rssi(level: int, offset: int, min_rssi: int) -> None:
    window = Window(ScanSettings(min_rssi=min_rssi, rssi_offset=offset, allow=LISTED.allow))
    window.add(MAC, level, sighting(), 0)
    sent = max(-126, min(-1, level + offset))
    assert [reading.rssi for reading in window.close(1)] == ([sent] if sent >= min_rssi else [])


def test_an_rssi_stays_in_the_contracts_range() -> None:
    window = Window(ScanSettings(allow=frozenset([BEACON]), rssi_offset=50))
    window.add(MAC, -10, sighting(), 0)
    assert window.close(1)[0].rssi == -1


def test_telemetry_of_an_advert_without_an_rssi_goes_with_the_next_reading() -> None:
    window = Window(LISTED)
    window.add(MAC, 0, sighting(said=Telemetry(battery_mv=2950)), 0)
    assert window.close(1) == []
    window.add(MAC, -60, sighting(), 1)
    assert [(reading.rssi, reading.battery_mv) for reading in window.close(2)] == [(-60, 2950)]


def test_every_listed_id_of_an_advert_is_a_reading() -> None:
    window = Window(ScanSettings(allow=frozenset([BEACON, "AA" * 20])))
    window.add(MAC, -60, Sighting({BEACON: None, "BB" * 20: -50, "AA" * 20: -70}, None), 0)
    assert {(reading.beacon, reading.tx) for reading in window.close(1)} == {(BEACON, None), ("AA" * 20, -70)}
    assert window.ignored["unregistered"] == 0


@pytest.mark.parametrize("allow", [None, frozenset(["000000000000"])])
def test_unregistered_beacons_are_dropped_and_counted(allow: frozenset[str] | None) -> None:
    window = Window(ScanSettings(allow=allow))
    window.add(MAC, -60, sighting(), 0)
    assert window.close(1) == []
    assert window.ignored["unregistered"] == 1


def test_at_most_256_unregistered_beacons_are_tracked() -> None:
    window = Window(ScanSettings(), publish_unregistered=True)
    for number in range(10_000):
        window.add(MAC, -60, sighting(f"{number:012X}"), number / 1000)
    assert window.unregistered_distinct == UNREGISTERED
    assert len(window.close(10)) == UNREGISTERED
    assert window.ignored["unregistered"] == 10_000 - UNREGISTERED


@given(st.lists(st.tuples(st.integers(0, 600), st.floats(0, 400)), max_size=400))
def test_unregistered_beacons_are_always_bounded(pauses_by_number: list[tuple[int, float]]) -> None:
    unregistered, now = Unregistered(), 0.0
    for number, pause in pauses_by_number:
        now += pause
        held = unregistered.hold(str(number), now)
        assert held or len(unregistered) == UNREGISTERED
        assert len(unregistered) <= UNREGISTERED


def test_a_silent_unregistered_beacon_frees_its_place() -> None:
    unregistered = Unregistered()
    for number in range(UNREGISTERED):
        assert unregistered.hold(str(number), number)
    assert not unregistered.hold("new", FORGET_AFTER_S - 1)
    assert unregistered.hold("new", FORGET_AFTER_S + 1)


def test_telemetry_is_joined_by_device_address() -> None:
    window = Window(ScanSettings(allow=frozenset(["NAME"])))
    window.add(MAC, -60, Sighting({BEACON: None, "NAME": None}, None), 0)
    window.add(MAC, -60, Sighting({BEACON: None}, Telemetry(battery_mv=3000)), 0.5)
    (reading,) = window.close(1)
    assert (reading.battery_mv, reading.temperature_c) == (3000, None)
    window.add("00:00:00:00:00:01", -60, Sighting({"NAME": None}, None), 1)
    (reading,) = window.close(2)
    assert reading.battery_mv is None


def test_what_a_device_says_no_longer_is_not_repeated_for_ever() -> None:
    window, sent = Window(LISTED), []
    for second in range(0, 9000, 30):
        said = Telemetry(battery_mv=2000 if second == 0 else None, temperature_c=21.5)  # one wrong frame
        window.add(MAC, -60, sighting(said=said), second)
        (reading,) = window.close(second)
        if reading.temperature_c is not None:
            sent.append((second, reading.battery_mv))
    assert [battery for second, battery in sent if second < 3600] == [2000] * 60
    assert {battery for second, battery in sent if second >= 3600} == {None}
    assert sent[-1][0] > 8900, "what it goes on to say is repeated"


def test_telemetry_is_sent_on_change_and_once_a_minute() -> None:
    window, sent = Window(LISTED), []
    for second in range(130):
        volts = 3000 if second < 100 else 2990
        window.add(MAC, -60, sighting(said=Telemetry(battery_mv=volts)), second)
        (reading,) = window.close(second)
        if reading.battery_mv:
            sent.append((second, reading.battery_mv))
    assert sent == [(0, 3000), (60, 3000), (100, 2990)]


def test_settings_change_between_windows() -> None:
    window = Window(ScanSettings())
    window.add(MAC, -60, sighting(), 0)
    assert window.close(1) == []
    window.settings = LISTED
    window.add(MAC, -60, sighting(), 1)
    assert len(window.close(2)) == 1
