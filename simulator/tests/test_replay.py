"""Recordings: invalid rows are reported and skipped; valid rows keep their spacing and get acceptable times."""

from collections import defaultdict
from itertools import pairwise

import pytest
from gateway_agent.decoders import Sighting
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.window import Window
from hypothesis import given
from hypothesis import strategies as st
from simulator.replay import LONGEST_MS, WINDOW_MS, Recording, RecordingError, Row, duration_s, parse, scheduled_batches

HEADER = "ts_ms,gateway,beacon,rssi,x_m,y_m"
GOOD = "1581249601408,b827eb4521b4,E78F135624CE,-87,18.031,8.465"

rows = st.builds(
    Row,
    ts_ms=st.integers(1_500_000_000_000, 1_500_000_030_000),
    gateway=st.sampled_from(["gw-a", "gw-b", "gw-c"]),
    beacon=st.sampled_from(["E78F135624CE", "E78F135624CF"]),
    rssi=st.integers(-126, -1),
)
recordings = st.lists(rows, min_size=1, max_size=60).map(lambda some: Recording(tuple(some), ()))
speeds = st.one_of(st.just(1.0), st.floats(1, 1000))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("", None),  # an empty line is no row
        ("x,gw,E78F135624CE,-87,0,0", "ts_ms 'x' is not a whole number of milliseconds"),
        ("-5,gw,E78F135624CE,-87,0,0", "ts_ms '-5' is not a whole number of milliseconds"),
        ("1.5,gw,E78F135624CE,-87,0,0", "ts_ms '1.5' is not a whole number of milliseconds"),
        ("1,,E78F135624CE,-87,0,0", "gateway is empty"),
        ("1,a/b,E78F135624CE,-87,0,0", "gateway 'a/b' is not an id"),
        ("1,gw,E78F135624C,-87,0,0", "beacon 'E78F135624C' is not a beacon id"),
        ("1,gw,e78f135624ce,-87,0,0", "beacon 'e78f135624ce' is not a beacon id"),
        ("1,gw,E7:8F:13:56:24:CE,-87,0,0", "beacon 'E7:8F:13:56:24:CE' is not a beacon id"),
        ("1,gw,E78F135624CE,loud,0,0", "rssi 'loud' is not a whole number of dBm from -126 to -1"),
        ("1,gw,E78F135624CE,-128,0,0", "rssi '-128' is not a whole number of dBm from -126 to -1"),
        ("1,gw,E78F135624CE,0,0,0", "rssi '0' is not a whole number of dBm from -126 to -1"),
        ("1,gw,E78F135624CE,-127,0,0", "rssi '-127' is not a whole number of dBm from -126 to -1"),
        ("1,gw,E78F135624CE,21,0,0", "rssi '21' is not a whole number of dBm from -126 to -1"),
        ("1,gw,E78F135624CE,-60.5,0,0", "rssi '-60.5' is not a whole number"),
        ("1,gw", "beacon is empty"),
        ("1,gw,E78F135624CE,-87,0,0,7", "has more fields than the header"),
    ],
)
def test_faulty_rows_are_refused_by_line(row: str, reason: str | None) -> None:
    recording = parse([HEADER, GOOD, row, GOOD])
    assert [good.rssi for good in recording.rows] == [-87, -87]
    if reason is None:
        assert recording.refused == ()
    else:
        ((line, said),) = recording.refused
        assert line == 3
        assert said.startswith(reason)


def test_columns_may_stand_in_any_order() -> None:
    (row,) = parse(["rssi,beacon,note,ts_ms,gateway", "-60,E78F135624CE,hello,12,gw"]).rows
    assert row == Row(12, "gw", "E78F135624CE", -60)


def test_a_gateway_may_be_called_a_receiver() -> None:
    (row,) = parse(["ts_ms,receiver,beacon,rssi", "12,gw,E78F135624CE,-60"]).rows
    assert row == Row(12, "gw", "E78F135624CE", -60)
    (row,) = parse(["ts_ms,receiver,gateway,beacon,rssi", "12,somebody,gw,E78F135624CE,-60"]).rows
    assert row.gateway == "gw"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "the column 'ts_ms' is missing"),
        (["ts_ms,gateway,rssi"], "the column 'beacon' is missing"),
        ([HEADER], "there is no valid row"),
        ([HEADER, "x,gw,E78F135624CE,-87,0,0"], r"there is no valid row \(line 2: ts_ms 'x'"),
        (
            [HEADER, f"0,gw,E78F135624CE,-87,0,0\n{LONGEST_MS + 1000},gw,E78F135624CE,-87,0,0"],
            "at most 6.5 can be played",
        ),
        ([HEADER, '1,"gw,E78F135624CE,-87,0,0'], "is not CSV"),
    ],
)
def test_a_file_that_is_not_a_recording(lines: list[str], says: str) -> None:
    with pytest.raises(RecordingError, match=says):
        parse("\n".join(lines).splitlines())


def _agents_rssi(beacon: str, levels: list[int]) -> int:
    """The RSSI that a gateway agent sends for these adverts in one window."""
    window = Window(ScanSettings(allow=frozenset([beacon])))
    for level in levels:
        window.add("C2:A6:28:38:4B:08", level, Sighting({beacon: None}, None), 0)
    (reading,) = window.close(1)
    return reading.rssi


@given(recordings)
def test_every_window_is_sent_once_with_its_medians(recording: Recording) -> None:
    first = min(row.ts_ms for row in recording.rows)
    wanted = defaultdict(list)
    for row in recording.rows:
        wanted[(row.ts_ms - first) // WINDOW_MS, row.gateway, row.beacon].append(row.rssi)
    gateways = recording.gateways()
    got = {
        (item.offset_ms // WINDOW_MS - 1, gateways[item.sender].id, beacon): rssi
        for item in scheduled_batches(recording, 1)
        for beacon, rssi, *_ in item.readings
    }
    assert got == {key: _agents_rssi(key[2], values) for key, values in wanted.items()}
    assert sum(len(item.readings) for item in scheduled_batches(recording, 1)) == len(wanted)


@given(recordings, speeds)
def test_times(recording: Recording, speed: float) -> None:
    plain, faster = list(scheduled_batches(recording, 1)), list(scheduled_batches(recording, speed))
    assert [item[2:] for item in plain] == [item[2:] for item in faster]
    assert all(one.due_s <= other.due_s for one, other in pairwise(faster))
    # Real time: each batch has the time at which it is sent.
    assert all(abs(item.due_s * 1000 - item.offset_ms) < 1 for item in plain)
    # Faster: time stamps keep their spacing, none is in the future, the last has the time of its sending.
    spacing = [after.offset_ms - before.offset_ms for before, after in pairwise(plain)]
    assert [after.offset_ms - before.offset_ms for before, after in pairwise(faster)] == spacing
    assert all(item.offset_ms <= item.due_s * 1000 + 1 for item in faster)
    assert abs(faster[-1].offset_ms - faster[-1].due_s * 1000) < 1
    assert faster[-1].due_s == pytest.approx(duration_s(recording, speed))
    assert all(item.due_s * 1000 - item.offset_ms <= LONGEST_MS + WINDOW_MS for item in faster)


def test_a_window_of_many_beacons_is_split() -> None:
    many = tuple(Row(5, "gw", f"{number:012X}", -60) for number in range(1100))
    parts = list(scheduled_batches(Recording(many, ()), 1))
    assert [len(part.readings) for part in parts] == [500, 500, 100]
    assert len({part.offset_ms for part in parts}) == 1
    assert len({reading.beacon for part in parts for reading in part.readings}) == 1100
