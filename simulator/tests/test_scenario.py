"""A run of phones is a function of numbers and seed."""

import itertools
from collections import Counter, defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st
from simulator.building import Building
from simulator.message import ScheduledBatch
from simulator.phones import INTERVAL_S, Phones


def by_sender(items: list[ScheduledBatch]) -> dict[int, list[ScheduledBatch]]:
    lists = defaultdict(list)
    for item in items:
        lists[item.sender].append(item)
    return lists


@settings(max_examples=25)  # each example is two whole runs
@given(st.integers(1, 8), st.integers(0, 1000), st.sampled_from([None, 1.0, 2.5]))
def test_every_phone_sends_at_its_interval(demo: Building, count: int, seed: int, interval_s: float | None) -> None:
    phones = Phones(count, interval_s=interval_s, seed=seed, duration_s=30)
    items = list(phones.scheduled_batches(demo))
    assert items == list(phones.scheduled_batches(demo))
    assert [item.due_s for item in items] == sorted(item.due_s for item in items)
    assert all(0 <= item.due_s < 30 and item.offset_ms == round(item.due_s * 1000) for item in items)
    lists = by_sender(items)
    assert set(lists) == set(range(count))
    for batches in lists.values():
        for before, after in itertools.pairwise(batches):
            gap_s = after.due_s - before.due_s  # a phone without readings skips a batch
            if interval_s is None:
                assert gap_s > INTERVAL_S[0] - 1e-9
            else:
                assert abs(gap_s / interval_s - round(gap_s / interval_s)) < 1e-6


def test_phones_send_every_second_while_moving_and_less_often_at_rest(demo: Building) -> None:
    for batches in by_sender(list(Phones(6, duration_s=900).scheduled_batches(demo))).values():
        gaps = Counter(round(after.due_s - before.due_s, 6) for before, after in itertools.pairwise(batches))
        (one, frequent), (other, rare), *_ = gaps.most_common()
        short_s, long_s = sorted((one, other))
        assert short_s == INTERVAL_S[0] < long_s <= INTERVAL_S[1]
        assert frequent + rare > 0.8 * len(batches)  # the others ended early or had no readings


def test_a_walk_does_not_depend_on_the_number_of_phones(demo: Building) -> None:
    few = by_sender(list(Phones(2, duration_s=60).scheduled_batches(demo)))
    many = by_sender(list(Phones(6, duration_s=60).scheduled_batches(demo)))
    later = by_sender(list(Phones(4, first=2, duration_s=60).scheduled_batches(demo)))
    assert few[1] == many[1]
    assert [item.readings for item in many[5]] == [item.readings for item in later[3]]


def test_another_seed_gives_other_readings(demo: Building) -> None:
    assert list(Phones(1, seed=1, duration_s=20).scheduled_batches(demo)) != list(
        Phones(1, seed=2, duration_s=20).scheduled_batches(demo)
    )


def test_a_fixed_interval_gives_the_expected_number(demo: Building) -> None:
    items = list(Phones(50, interval_s=4, duration_s=120).scheduled_batches(demo))
    assert 0.99 * 50 * 30 <= len(items) <= 50 * 30


def test_phones_are_the_buildings_staff_and_then_unused_numbers(demo: Building) -> None:
    ids = [receiver.id for receiver in Phones(53).receivers(demo)]
    assert ids == [str(number) for number in range(53)]
    named = Building("B", demo.levels, demo.rooms, demo.beacons, demo.gateways, ("anna", "1"))
    assert [receiver.id for receiver in Phones(4).receivers(named)] == ["anna", "1", "0", "2"]
    assert [receiver.id for receiver in Phones(2, first=1).receivers(named)] == ["1", "0"]
    assert {receiver.kind for receiver in Phones(4).receivers(named)} == {"phone"}
