"""Figures of a run."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulator.report import FAILED, OK, REFUSED, UNREACHABLE, Latencies, PollStats, SendStats, table


@given(st.lists(st.floats(1e-6, 1e4), min_size=1), st.floats(0, 1))
def test_quantiles_are_right_to_a_bucket(durations_s: list[float], share: float) -> None:
    latencies = Latencies()
    for seconds in durations_s:
        latencies.add(seconds)
    exact = sorted(durations_s)[max(1, math.ceil(share * len(durations_s))) - 1]
    quantile = latencies.quantile(share)
    assert quantile is not None
    assert quantile == pytest.approx(exact, rel=0.021)
    assert quantile <= max(durations_s)


def test_no_latency_is_no_number() -> None:
    assert Latencies().quantile(0.5) is None
    assert Latencies().summary() == {"p50": None, "p99": None, "max": None}


def test_sending() -> None:
    tally = SendStats(receivers=2, made=10, acknowledged=7, dropped=1, readings=40, readings_acknowledged=28)
    tally.latencies.add(0.002)
    assert (tally.waiting, tally.failed, tally.exit_code) == (2, 3, FAILED)
    summary = tally.summary(4.0)
    assert (summary["sent"], summary["failed"], summary["messages_per_s"]) == (10, 3, 2.5)
    assert summary["puback_ms"]["p50"] == pytest.approx(2.0, rel=0.02)
    assert json.loads(json.dumps(summary)) == summary
    assert "sent 10" in tally.progress(3661)
    assert tally.progress(3661).startswith("01:01:01")
    lines = table(summary).splitlines()
    assert len(lines) == len(summary)
    assert any(line.split() == ["failed", "3"] for line in lines)


def test_exit_codes() -> None:
    assert SendStats(made=3, acknowledged=3).exit_code == OK
    assert SendStats(made=3, acknowledged=3, refused_rows=1).exit_code == FAILED
    assert PollStats(polls=2, answered=2).exit_code == OK
    assert PollStats(polls=2, answered=1, errors={"HTTP 401: no key": 1}).exit_code == FAILED
    assert PollStats(polls=2, errors={"HTTP 401: no key": 2}).exit_code == REFUSED
    assert PollStats(polls=2, errors={"no connection: Connection refused": 2}).exit_code == UNREACHABLE
    assert PollStats(polls=2, errors={"no connection: Connection refused": 1, "HTTP 500": 1}).exit_code == FAILED
    assert SendStats().exit_code == OK
    assert SendStats().summary(0.0)["messages_per_s"] == 0
