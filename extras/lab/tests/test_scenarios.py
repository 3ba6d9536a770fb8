"""Every shipped scenario can be planned in both forms; a faulty file says what is wrong with it."""

import json
import re
from itertools import pairwise

import pytest
from lab import command, scenario_file
from lab import plan as plans
from lab.catalogue import CALLS
from lab.scenario_file import Own, ScenarioError

MINUTES_OF_ALL_SHORT_FORMS = 25


@pytest.mark.parametrize("form", scenario_file.FORMS)
@pytest.mark.parametrize("name", scenario_file.names())
def test_a_shipped_scenario_is_a_plan_that_travels_as_json(name: str, form: str) -> None:
    plan = scenario_file.load(scenario_file.find(name), form)
    assert plans.from_json(json.loads(json.dumps(plan.to_json()))) == plan
    asked = {call for step in plan.steps for load in step.loads for call in (load.call, *load.mix) if call}
    assert asked <= CALLS.keys()
    assert plan.about
    assert plan.title


def test_all_short_forms_together_take_less_than_25_minutes() -> None:
    plans_ = [scenario_file.load(path, "short") for path in scenario_file.names().values()]
    stack_s, beside_s = 30.0, 10.0  # one stack for all; seeding, counting and the report of each
    assert stack_s + sum(one.expected_s + beside_s for one in plans_) < MINUTES_OF_ALL_SHORT_FORMS * 60


def test_the_list_has_each_scenario_with_both_durations_and_its_title() -> None:
    rows = {name: rest for name, *rest in command.listing()}
    assert rows.keys() == scenario_file.names().keys()
    assert rows["a-tp-1"] == ["32 s", "2 min", "Inserts at the peak rate and at ten times that"]
    assert rows["soak"][1] == "24.0 h"
    assert [row for row in rows.values() if not all(re.fullmatch(r"[\d.]+ (s|min|h)", time) for time in row[:2])] == []


GOOD = """
title = "t"
about = "a"
[short]
seconds = 2
repeats = 2
[long]
seconds = 60
[[beside]]
kind = "calls"
call = "hacs"
rate = 1.0
[[step]]
name = "one"
load = [{ kind = "calls", call = "insert", rate = 3.5 }]
[[step]]
name = "two"
seconds_long = 90
load = [{ kind = "users", count = 5, think_s = [0.5, 1.5], mix = { hacs = 1.0 } }]
"""


def test_steps_follow_each_other_in_each_repeat_with_what_goes_on_beside() -> None:
    plan = scenario_file.parse("x", GOOD, "short")
    assert [(step.name, step.repeat) for step in plan.steps] == [("one", 0), ("two", 0), ("one", 1), ("two", 1)]
    assert [load.call for load in plan.steps[0].loads] == ["insert", "hacs"]
    assert all(b.start_s >= a.end_s + plans.PAUSE_S for a, b in pairwise(plan.steps))
    assert [step.seconds for step in scenario_file.parse("x", GOOD, "long").steps] == [60, 90]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[short]", "[brief]"), "there is no 'brief'"),
        (('kind = "users"', 'kind = "robots"'), "kind 'robots' is none of calls, users"),
        (("rate = 3.5", "speed = 3.5"), "step 1: there is no 'speed'"),
        (("seconds = 2\n", ""), "seconds is missing"),
    ],
)
def test_a_faulty_file_is_refused_with_the_key(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)):
        scenario_file.parse("x", GOOD.replace(*change), "short")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ScenarioError, match="a-tp-1"):
        scenario_file.find("nothing")


SIZED = """
about = "a"
[sizes]
phones = { short = 10, long = 1000 }
[short]
seconds = 2
[long]
seconds = 60
[[step]]
name = "one"
load = [{ kind = "devices", count = "phones" }]
[[step]]
name = "two"
load = [{ kind = "batches", count = 4, requests = 500 }]
"""


def test_a_size_has_a_number_for_each_form_and_a_run_may_give_another() -> None:
    counts = [scenario_file.parse("x", SIZED, form).steps[0].loads[0].count for form in scenario_file.FORMS]
    assert counts == [10, 1000]
    own = scenario_file.parse("x", SIZED, "long", Own(sizes={"phones": 7}))
    assert own.steps[0].loads[0].count == 7
    assert own.own == "phones = 7"


def test_a_run_may_change_seconds_and_repeats_and_choose_steps() -> None:
    own = scenario_file.parse("x", GOOD, "long", Own(5, 3, ("two",)))
    assert [(step.name, step.repeat, step.seconds) for step in own.steps] == [("two", n, 5) for n in range(3)]
    assert own.own == "5 s a step, repeats: 3"


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (Own(sizes={"people": 7}), "there is no size 'people'; there are phones"),
        (Own(steps=("three",)), "there is no step 'three'; there are one; two"),
    ],
)
def test_an_unknown_size_or_step_lists_the_known_ones(own: Own, message: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)):
        scenario_file.parse("x", SIZED, "short", own)


def test_a_step_that_ends_itself_is_expected_to_take_what_its_requests_take() -> None:
    plan = scenario_file.parse("x", SIZED, "long")
    assert plan.planned_s == 60 + plans.PAUSE_S + 60
    assert plan.expected_s == 60 + plans.PAUSE_S + 2000 / plans.BATCHES_PER_S + plans.DRAIN_S
