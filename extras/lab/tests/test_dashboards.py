"""What is new in a snapshot of a page, and how old the oldest of it is."""

from typing import Any

from lab.dashboards import SIZE, Changes, SizedJson


def people(**ts: int) -> list[dict[str, Any]]:
    return [{"id": who.replace("_", "-"), "ts": at} for who, at in ts.items()]


def test_the_oldest_change_of_a_snapshot_counts() -> None:
    changes = Changes("lab-x-")
    assert changes.delay_ms(people(lab_x_1=1000, lab_x_2=1100), 5000) == -1  # all is new in the first one
    assert changes.delay_ms(people(lab_x_1=2000, lab_x_2=1900), 2150) == 250
    assert changes.delay_ms(people(lab_x_1=2000, lab_x_2=1900), 2350) == -1


def test_who_comes_is_a_change_and_who_goes_is_none() -> None:
    changes = Changes("lab-x-")
    changes.delay_ms(people(lab_x_1=1000), 1100)
    assert changes.delay_ms(people(lab_x_1=1000, lab_x_2=1150), 1200) == 50
    assert changes.delay_ms(people(lab_x_1=1000), 1400) == -1


def test_people_of_others_are_not_looked_at() -> None:
    changes = Changes("lab-x-")
    changes.delay_ms(people(lab_y_1=1000), 1100)
    assert changes.delay_ms(people(lab_y_1=2000), 2100) == -1


def test_a_frame_knows_its_size_and_is_parsed_once_for_all_pages() -> None:
    text = '["sda:snapshot", {"topic": "floor:L1", "people": []}]'
    first, second = SizedJson.loads(text), SizedJson.loads(text)
    assert first == second == ["sda:snapshot", {"topic": "floor:L1", "people": [], SIZE: len(text)}]
    assert first is not second
    assert first[1] is second[1]
    assert SizedJson.loads('{"sid": "x"}') == {"sid": "x"}
