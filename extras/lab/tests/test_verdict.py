"""When a run is void, what a lost message does to the counts, where a ladder saturates."""

import pytest
from lab.plan import Wanted
from lab.statistics import Figures
from lab.verdict import Rung, differences, reached, saturation, void_reasons

QUIET = [1.0] * 1000


def test_a_punctual_run_is_not_void() -> None:
    assert void_reasons(QUIET, QUIET, 60.2, 60.0) == []


@pytest.mark.parametrize(
    ("late", "lag", "took_s", "why"),
    [
        ([*QUIET, *[51.0] * 20], QUIET, 60.0, "requests were sent 51 ms late"),
        (QUIET, [*QUIET, *[80.0] * 20], 60.0, "the generator's timer came 80 ms late"),
        (QUIET, QUIET, 61.0, "lasted 61.0 s instead of 60.0 s"),
    ],
)
def test_a_late_generator_makes_its_run_void(late: list[float], lag: list[float], took_s: float, why: str) -> None:
    (reason,) = void_reasons(late, lag, took_s, 60.0)
    assert why in reason


def test_one_lost_reading_is_found_with_its_receiver() -> None:
    sent = {"lab-0": 100, "lab-1": 100}
    assert differences(sent, {}, sent) == []
    (found,) = differences(sent, {}, {"lab-0": 100, "lab-1": 99})
    assert (found.receiver, found.sent, found.stored) == ("lab-1", 100, 99)


def test_one_reading_too_many_is_found_too() -> None:
    assert len(differences({"lab-0": 1}, {}, {"lab-0": 2})) == 1
    assert len(differences({}, {}, {"lab-7": 1})) == 1


def test_a_reading_that_was_never_acknowledged_may_be_stored_or_not() -> None:
    for stored in (5, 6):
        assert differences({"lab-0": 5}, {"lab-0": 1}, {"lab-0": stored}) == []
    assert differences({"lab-0": 5}, {"lab-0": 1}, {"lab-0": 4})


def test_targets_count_faults_as_late() -> None:
    latencies = {"insert": [1.0] * 98 + [5000.0, float("inf")]}
    ((target, share),) = reached([Wanted("insert", 1000), Wanted("never asked", 1)], latencies)
    assert (target.call, share) == ("insert", 0.98)


def rung(offered: float, per_s: float, p50: float, faults: int = 0, **busy: float) -> Rung:
    figures = Figures("call", 1000, per_s, p50, p50, p50, p50, p50, p50, p50, faults, 0, 0, 0.0)
    return Rung(f"{offered:g}", offered, figures, {name.replace("_", "-"): cores for name, cores in busy.items()}, 2)


def test_a_closed_ladder_saturates_where_more_users_bring_nothing() -> None:
    ladder = [rung(1, 100, 10), rung(50, 700, 70), rung(100, 705, 140, node_red=0.98)]
    found = saturation(ladder, closed=True)
    assert found is not None
    assert (found.carried, found.beyond) == ("50", "100")
    assert "node-red uses 0.98" in found.cause


def test_an_open_ladder_saturates_where_the_offered_rate_is_not_answered() -> None:
    ladder = [rung(35, 35, 10), rung(60, 40, 900, machine=1.95, generator=0.2, influxd=1.4)]
    found = saturation(ladder, closed=False)
    assert found is not None
    assert "machine is full" in found.cause
    assert saturation([rung(35, 35, 10), rung(60, 60, 10)], closed=False) is None


def test_other_programs_are_named_when_they_fill_the_machine() -> None:
    found = saturation([rung(35, 35, 10), rung(60, 40, 900, machine=2.0, node_red=0.3)], closed=False)
    assert found is not None
    assert "other programs fill the machine (1.70 of 2 cores" in found.cause


def test_the_generator_is_named_when_it_is_the_limit() -> None:
    ladder = [rung(1, 100, 10), rung(50, 101, 500, generator=0.97, node_red=0.95)]
    found = saturation(ladder, closed=True)
    assert found is not None
    assert "the generator itself" in found.cause
