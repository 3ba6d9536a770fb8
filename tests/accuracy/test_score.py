"""Scoring with hand-made cases."""

from accuracy.figures import Figure, Wanted, reached, worse
from accuracy.score import changes, delays, judge, quantile
from accuracy.truth import Truth

WALK = Truth.of([(0, "a"), (10_000, "a"), (20_000, "b"), (40_000, "a")], 60_000)


def test_truth_knows_rooms_and_changes() -> None:
    assert [WALK.room_at(ms) for ms in (0, 19_999, 20_000, 59_000)] == ["a", "a", "b", "a"]
    assert WALK.changes() == [(20_000, "b", 40_000), (40_000, "a", 60_000)]
    assert len(list(WALK.moments())) == 60
    assert Truth.of([(0, "a")], 5000).changes() == []


def test_seconds_changes_and_delays_are_counted() -> None:
    estimated = [(0.0, "a"), (22_000.0, "b"), (39_000.0, "a")]
    score = judge(WALK, lambda ms: [room for at, room in estimated if at <= ms][-1], estimated[1:], WALK.moments())
    assert (score.seconds, score.right, score.changes, score.true_changes) == (60, 57, 2, 2)
    assert score.delays_s == [2.0, -1.0]


def test_a_change_that_was_not_found_has_no_delay_and_a_wrong_one_is_not_taken_for_it() -> None:
    assert delays(WALK, [(21_000, "c"), (70_000, "b")]) == []
    assert delays(WALK, [(5000, "b"), (24_000, "b"), (30_000, "b")]) == [4.0]


def test_nowhere_is_no_change() -> None:
    assert changes([1, 2, 3, 4, 5], ["a", "", "a", "b", "b"]) == [(4, "b")]


def test_quantiles_are_values_that_occur() -> None:
    values = [float(value) for value in range(1, 101)]
    assert (quantile(values, 0.5), quantile(values, 0.95), quantile(values, 1), quantile([], 0.5)) == (
        50,
        95,
        100,
        None,
    )
    assert quantile([3.0], 0) == 3


def test_only_what_got_worse_by_more_than_it_may_is_reported() -> None:
    baseline = {"right %": 95.0, "delay s": 2.0}
    assert worse([Figure("right %", 93.1, 1, 2.0), Figure("delay s", 0.1, -1, 1.0)], baseline) == []
    estimated = worse(
        [Figure("right %", 92.9, 1, 2.0), Figure("delay s", 3.1, -1, 1.0), Figure("new", 1, 1, 1)], baseline
    )
    assert [sentence.split(":")[0] for sentence in estimated] == ["right %", "delay s", "new"]


def test_what_is_wanted_is_named_with_whether_it_is_reached() -> None:
    rows = reached(
        [Figure("right %", 95, 1, 2), Figure("delay s", 3, -1, 1)], [Wanted("right %", 95), Wanted("delay s", 2)]
    )
    assert [(row[1], row[3]) for row in rows] == [("≥ 95", "yes"), ("≤ 2", "NO")]
