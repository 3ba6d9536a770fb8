"""Scores, changes of recordings, and the choice of numbers, on hand-made cases."""

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
from simulator.building import parse
from simulator.geometry import covers

from accuracy import held_out
from accuracy.figures import Figure, worse
from accuracy.follow import Estimate, Tuning
from accuracy.held_out import Bench, Figures, joined, single_steps
from accuracy.measure import away_from_borders
from accuracy.perturbed import (
    dead,
    halved,
    lessons,
    misplaced,
    rare,
    skewed,
    uneven,
    weaker,
    without_devices_of,
)
from accuracy.recorded import PAUSE_MS, Recording, batches
from accuracy.replay import PEOPLE, differ, disturbed, together
from accuracy.score import Reliability, Second, changes, delays, interval, judge, quantile, standard_error

WALK = [Second(ms * 1000, "a" if ms < 20 or ms >= 40 else "b") for ms in range(60)]


def said(records: Sequence[tuple[int, str, float, float, str | None]]) -> Estimate:
    return Estimate({"history": list(records), "live": [], "sure": []})


def test_seconds_changes_and_delays_are_counted() -> None:
    estimated = [(0.0, "a"), (22_000.0, "b"), (39_000.0, "a")]
    score = judge(WALK, lambda ms: [room for at, room in estimated if at <= ms][-1], estimated[1:])
    assert (score.seconds, score.right, score.changes, score.true_changes) == (60, 57, 2, 2)
    assert score.delays_s == [2.0, -1.0]
    assert judge([], lambda _: "", []).share == 0


def test_a_change_in_a_gap_of_the_truth_is_not_late() -> None:
    seconds = [Second(0, "west"), Second(1000, "west"), Second(60_000, "east"), Second(61_000, "east")]
    for located_ms, late_s in ((30_000.0, 0.0), (62_000.0, 2.0), (500.0, None)):
        score = judge(seconds, lambda ms: "east" if ms > 20_000 else "west", [(located_ms, "east")])
        assert score.delays_s == ([] if late_s is None else [late_s])
    assert (score.seconds, score.right, score.changes, score.true_changes) == (4, 4, 1, 1)


def test_a_change_that_was_not_found_has_no_delay_and_a_wrong_one_is_not_taken_for_it() -> None:
    true = [(20_000.0, "b"), (40_000.0, "a")]
    assert delays(true, 60_000, [(21_000, "c"), (70_001, "a")]) == []
    assert delays(true, 60_000, [(5000, "b"), (24_000, "b"), (30_000, "b")]) == [4.0]


def test_nowhere_is_no_change() -> None:
    assert changes([1, 2, 3, 4, 5], ["a", "", "a", "b", "b"]) == [(4, "b")]


def test_quantiles_are_values_that_occur_and_intervals_hold_the_statistic() -> None:
    values = [float(value) for value in range(1, 101)]
    assert [quantile(values, share) for share in (0.5, 0.95, 1)] == [50, 95, 100]
    assert quantile([], 0.5) is None
    low, high = interval(values, lambda some: sum(some) / len(some))
    assert 40 < low < 50.5 < high < 61
    assert standard_error([1.0, 3.0]) == 1.0
    assert standard_error([1.0]) is None


def test_reliability_is_the_share_right_of_what_was_said() -> None:
    found = Reliability().add([(0.95, True)] * 9 + [(0.95, False)] + [(1.0, False)] * 2, 0.5).add([(0.55, True)], 6)
    assert [(round(share, 2), said, round(right, 2)) for share, said, right in found.rows()] == [
        (0.5, 0.55, 1.0),
        (0.5, pytest.approx(0.9583, abs=1e-4), 0.75),
    ]
    assert found.error == pytest.approx(0.5 * 0.45 + 0.5 * (0.9583 - 0.75), abs=1e-4)


def test_the_last_word_counts_in_history_and_who_polls_gets_what_was_said_by_then() -> None:
    """Polls at 10.5 and 20.5 s: second 10 belongs to both, what is said of second 8 after the first never arrives."""
    words: list[tuple[int, str, float, float, str | None]] = [
        (7, "a", 8000, 0.9, None), (8, "a", 9000, 0.9, "b"), (9, "a", 10_600, 0.5, "b"), (10, "a", 11_000, 0.9, None),
        (8, "b", 12_000, 0.6, "a"), (10, "b", 20_000, 0.7, "a"),
    ]  # fmt: skip
    one = said(words)
    assert [one.history_at(second * 1000) for second in (6, 7, 8, 9, 10, 70, 71)] == ["", "a", "b", "a", "b", "b", ""]
    assert one.answer_at(8000).probability == 0.6
    polled = one.polled(0.5)
    assert [polled.room_at(second * 1000) for second in (6, 7, 8, 9, 10, 11)] == ["", "a", "a", "a", "b", "b"]
    assert one.history_changes() == [(8000, "b"), (9000, "a"), (10_000, "b")]
    assert polled.changes() == [(10_000, "b")]


def test_only_what_got_worse_by_more_than_it_may_is_reported() -> None:
    baseline = {"right %": 95.0, "delay s": 2.0}
    assert worse([Figure("right %", 93.1, 1, 2.0), Figure("delay s", 0.1, -1, 1.0)], baseline) == []
    estimated = worse(
        [Figure("right %", 92.9, 1, 2.0), Figure("delay s", 3.1, -1, 1.0), Figure("new", 1, 1, 1)], baseline
    )
    assert [sentence.split(":")[0] for sentence in estimated] == ["right %", "delay s", "new"]


def test_devices_of_a_wrong_plan_stay_in_their_rooms(walk: Recording) -> None:
    moved = misplaced(walk, 1)
    outlines = {room.id: room.polygon for room in parse(moved.building).rooms.values()}
    off = []
    for before, after in zip(walk.devices, moved.devices, strict=True):
        off.append(math.dist((before["x_m"], before["y_m"]), (after["x_m"], after["y_m"])))
        assert covers(outlines[after["room"]], (after["x_m"], after["y_m"])) or off[-1] < 3
    assert max(off) == pytest.approx(3, abs=0.01)
    assert moved.adverts == walk.adverts
    assert misplaced(walk, 1) == moved != misplaced(walk, 2)


def test_levels_adverts_clocks_and_windows_change_as_said(walk: Recording) -> None:
    assert max(one.rssi for one in weaker(walk).adverts) == max(one.rssi for one in walk.adverts) - 15
    by = {
        device["id"]: {b.rssi - a.rssi for a, b in zip(walk.adverts, uneven(walk, 1).adverts, strict=True)
                       if a.receiver == device["id"]}
        for device in walk.devices
    }  # fmt: skip
    assert all(len(some) == 1 for some in by.values())
    assert set.union(*by.values()) == {-6, 6}
    assert 0.45 < len(halved(walk, 0).adverts) / len(walk.adverts) < 0.55
    gone = {one.receiver for one in walk.adverts} - {one.receiver for one in dead(walk, 0).adverts}
    assert len(gone) == 1
    assert len(dead(walk, 0).devices) == len(walk.devices)
    late = {
        one.receiver: one.ts - other.ts
        for one, other in zip(batches(skewed(walk, 0), 0), batches(walk, 0), strict=True)
    }
    assert len(set(late.values())) > 5
    assert max(map(abs, late.values())) <= 2000
    slow = batches(rare(walk), 0)
    assert {b.ts - a.ts for a, b in pairwise(slow) if a.receiver == b.receiver} <= {2000, 4000, 6000}
    assert {one["room"] for one in walk.devices} - {one["room"] for one in without_devices_of(walk, "SW").devices} == {
        "SW"
    }


def test_a_lesson_comes_before_what_is_scored_and_holds_nothing_of_it(walk: Recording) -> None:
    (half,) = lessons([walk])
    assert len(half.scored.adverts) + len(half.others[0].adverts) == len(walk.adverts)
    assert half.others[0].adverts[-1] < half.scored.adverts[0]
    warm = half.scored.after(half.others)
    assert [one.room for one in warm.truth] == [one.room for one in half.scored.truth]
    times = [one.ts_ms for one in warm.adverts]
    assert times == sorted(times)
    first = warm.adverts[len(half.others[0].adverts)]
    assert first.ts_ms - half.scored.adverts[0].ts_ms == warm.truth[0].ts_ms - half.scored.truth[0].ts_ms
    assert warm.truth[0].ts_ms - warm.adverts[len(half.others[0].adverts) - 1].ts_ms >= PAUSE_MS
    both = lessons([walk, walk.part("again", 0, math.inf)])
    assert [[other.name for other in one.others] for one in both] == [[f"{walk.name}, again"], [walk.name]]


def test_seconds_away_from_borders(walk: Recording) -> None:
    away = away_from_borders(walk)
    assert 0 < len(away) < len(walk.scored)
    for second in walk.scored:
        assert second.x_m is not None
        assert second.y_m is not None
        assert (second in away) == (abs(second.x_m - 10.1) > 1 and abs(second.y_m - 9.2) > 1)


def test_steps_change_one_number_and_join_different_ones() -> None:
    singles = single_steps({"a": 2.0, "b": 0.0, "c": 1.0})
    assert singles == [{"a": 1.4}, {"a": 2.8}, {"c": 0.7}, {"c": 1.4}]
    assert joined({"a": 1.4}, [{}, *singles]) == [{"a": 1.4, "c": 0.7}, {"a": 1.4, "c": 1.4}]


def test_what_is_left_out_has_no_say_and_what_changes_no_room_is_chosen_by_briers_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Less of `n` is best for one set and bad for the other; `t` changes only probabilities: less is better."""
    monkeypatch.setattr(held_out, "numbers", lambda: {"n": 1.0, "t": 1.0})

    def made_up(self: Bench, tunings: Sequence[Tuning]) -> None:
        for one in tunings:
            n, t = one.get("n", 1.0), one.get("t", 1.0)
            good = {"here": 1 - n / 10, "there": n / 10}
            self._known[tuple(sorted(one.items()))] = {
                name: Figures(share, share, share, t, t) for name, share in good.items()
            }

    monkeypatch.setattr(Bench, "add", made_up)
    bench = Bench([])
    assert bench.choose(["here"]) == {"n": 0.7, "t": 0.7}
    assert bench.choose(["there"]) == {"n": 1.4, "t": 0.7}
    assert bench.mean(bench.choose(["there"]), ["here"]).history == pytest.approx(0.86)


def test_people_of_one_building_walk_at_the_same_time(walk: Recording) -> None:
    copies = [walk.part(str(number), 0, math.inf) for number in range(2 * PEOPLE)]
    one = together(copies)
    assert len(one.adverts) == 2 * PEOPLE * len(walk.adverts)
    assert len({advert.beacon for advert in one.adverts}) == len(one.building["staff"]) == PEOPLE
    assert len(one.truth) == 2 * len(walk.truth)
    sent = batches(one, 0)
    late = disturbed(sent, 1)
    assert {each.ts for each in late} == {each.ts for each in sent}
    assert 1.03 < len(late) / len(sent) < 1.07
    for receiver in {each.receiver for each in sent}:
        times = [each.ts for each in late if each.receiver == receiver]
        first = list(dict.fromkeys(times))
        assert first == sorted(first)


def test_seconds_that_differ_are_counted() -> None:
    live = {"one": said([(1, "a", 0, 1, None), (2, "a", 0, 1, None), (2, "b", 5, 1, None)])}
    again = {"one": said([(2, "b", 0, 1, None), (3, "b", 0, 1, None)])}
    assert differ(live, again, 0) == (3, 2)
    assert differ(live, live, 0) == (2, 0)
    assert differ(live, again, 2) == (2, 1)
