"""With a stopped, frozen or slow InfluxDB callers get answers in time; recent history and the live path continue."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from support.building import Building
from support.callers import Answer, Caller, calling
from support.influx_writer import Stored, store_locations
from support.running import RunningStack
from support.stack_client import batch, connect, end, eventually, get, history

PHONES = [f"slow-db-{number}" for number in range(20)]
IN_TIME_S = 1.0
OWN_DELAY_S = 0.5
"""Additional delay of answers on a machine that is busy with other tests; a few may take longer."""
FEW = 0.02
NEVER_S = 4.0
BACK_WITHIN_S = 5.0
AWAY_S = 5.0
"""The circuit breaker's pause; the heartbeat retries meanwhile."""


@contextmanager
def _moving(stack: RunningStack, demo: Building) -> Iterator[None]:
    """Twenty phones, each with a message per second."""
    beacon = demo.beacons_of_two_rooms()[0]
    client = connect(stack)

    def parameters() -> dict[str, Any]:
        for phone in PHONES:
            message = batch((beacon.id, -50))
            client.publish(f"sda/v1/phone/{phone}/readings", str(message).replace("'", '"'), qos=1)
        return {}

    pulse = Caller(stack, "/health", parameters, 1.0)
    with calling(pulse):
        yield
    end(client)


def _recent() -> dict[str, Any]:
    now_s = int(time.time())
    return {"staff_id": PHONES[now_s % len(PHONES)], "start_time": now_s - 10, "end_time": now_s}


@pytest.fixture
def callers(stack: RunningStack, demo: Building) -> Iterator[tuple[Caller, Caller, Caller]]:
    """Callers for the last 10 s and for an hour ago, of one person and of everybody; all have been answered once."""
    then_s = int(time.time()) - 3600
    store_locations(stack, [Stored("slow-db-then", (then_s + n) * 1000, "L1", "l1-lobby") for n in range(60)])

    def older(staff: str) -> Callable[[], dict[str, Any]]:
        return lambda: {"staff_id": staff, "start_time": then_s, "end_time": then_s + 60}

    recent, one, everybody = (
        Caller(stack, "/extractbeacon", _recent, 0.05),
        Caller(stack, "/extractbeacon", older("slow-db-then"), 0.05),
        Caller(stack, "/extractbeacon", older("*"), 0.2),
    )
    with _moving(stack, demo):
        _memory_reaches(stack)
        with calling(recent, one, everybody):
            eventually(lambda: len(one.answers) >= 20 and len(everybody.answers) >= 5)
            yield recent, one, everybody


@pytest.mark.parametrize("how", ["stopped", "killed", "frozen"])
def test_an_outage_of_influxdb_under_load(
    stack: RunningStack, callers: tuple[Caller, Caller, Caller], how: str
) -> None:
    recent, *older = callers
    began_s = time.monotonic()
    {"stopped": stack.stop, "killed": stack.kill, "frozen": stack.freeze}[how]("influxd")
    away_s = time.monotonic()
    eventually(lambda: all(any(a.status == 503 for a in caller.since(away_s)) for caller in older), 5, "503")
    eventually(lambda: time.monotonic() > away_s + AWAY_S)
    away_until_s = time.monotonic()
    back_s = _come_back(stack, how)
    for caller in older:
        eventually(partial(_served, caller, back_s), BACK_WITHIN_S + OWN_DELAY_S, "older history is back")
    eventually(lambda: get(stack, "/health").json()["parts"]["influxdb"]["status"] == "up", 10)
    _recent_went_on(recent.since(began_s))
    for caller in older:
        meanwhile = [answer for answer in caller.since(away_s) if answer.at_s + answer.took_s < away_until_s]
        assert {answer.status for answer in meanwhile} == {503}
        assert all(int(answer.retry_after or 0) > 0 for answer in meanwhile)
        assert all(answer.body["location"] == [] for answer in meanwhile)
        _in_time(caller.since(began_s))


def test_a_slow_influxdb_delays_no_caller(stack: RunningStack, callers: tuple[Caller, Caller, Caller]) -> None:
    """InfluxDB runs a tenth of the time."""
    recent, *older = callers
    began_s = time.monotonic()
    for _ in range(6):
        stack.freeze("influxd")
        time.sleep(0.9)
        stack.thaw("influxd")
        time.sleep(0.1)
    back_s = time.monotonic()
    for caller in older:
        eventually(partial(_served, caller, back_s), BACK_WITHIN_S + OWN_DELAY_S, "older history is back")
        assert {answer.status for answer in caller.since(began_s)} <= {200, 503}
        _in_time(caller.since(began_s))
    _recent_went_on(recent.since(began_s))


def test_too_many_concurrent_callers_get_503(stack: RunningStack, demo: Building) -> None:
    """A hundred callers of long windows: each gets the complete answer or 503, in time."""
    end_s = int(time.time()) - 3600
    store_locations(stack, (Stored("crowd", (end_s - n) * 1000, "L1", f"room-{n % 7}") for n in range(40_000)))
    asked = {"staff_id": "crowd", "start_time": end_s - 50_000, "end_time": end_s}
    many = [Caller(stack, "/extractbeacon", lambda: asked, 0.01) for _ in range(30)]
    recent = Caller(stack, "/extractbeacon", _recent, 0.05)
    with _moving(stack, demo):
        _memory_reaches(stack)
        began_s = time.monotonic()
        with calling(recent, *many):
            eventually(lambda: sum(len(caller.answers) for caller in many) >= 100, 60)
    answers = [answer for caller in many for answer in caller.answers]
    statuses = Counter(answer.status for answer in answers)
    errors = {answer.content for answer in answers if answer.status == 0}
    assert set(statuses) == {200, 503}, f"some are answered, some get 503: {statuses} {errors}"
    assert all(len(answer.body["location"]) == 40_000 for answer in answers if answer.status == 200)
    assert all(int(answer.retry_after or 0) > 0 for answer in answers if answer.status == 503)
    _in_time([answer for answer in answers if answer.status == 503])
    _recent_went_on(recent.since(began_s))


def _memory_reaches(stack: RunningStack) -> None:
    """Wait until everybody is located and the flows have run for longer than the windows."""
    eventually(lambda: get(stack, "/health").json()["uptime_s"] > 15, 30)
    for phone in PHONES:
        eventually(partial(_here, stack, phone))


def _here(stack: RunningStack, phone: str) -> list[dict[str, Any]]:
    return history(stack, phone, time.time() - 5, time.time())


def _come_back(stack: RunningStack, how: str) -> float:
    if how == "frozen":
        stack.thaw("influxd")
    else:
        stack.start("influxd")
    return time.monotonic()


def _served(caller: Caller, since_s: float) -> bool:
    return any(answer.status == 200 and answer.body["location"] for answer in caller.since(since_s))


def _in_time(answers: list[Answer]) -> None:
    late = [round(answer.took_s, 2) for answer in answers if answer.took_s > IN_TIME_S + OWN_DELAY_S]
    assert len(late) <= FEW * len(answers), f"{len(late)} of {len(answers)} took longer: {late[:10]}"
    assert not any(took_s > NEVER_S for took_s in late), late


def _recent_went_on(answers: list[Answer]) -> None:
    """Each answer is in time and has present data."""
    assert answers
    assert {answer.status for answer in answers} == {200}
    _in_time(answers)
    assert all(answer.body["location"] for answer in answers)
