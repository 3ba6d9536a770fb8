"""Every shipped scenario can be planned in both forms; a faulty file says what is wrong with it."""

import json
import re
from itertools import pairwise

import pytest
from simulator.lab import plan as plans
from simulator.lab import scenario_file
from simulator.lab.catalogue import CALLS
from simulator.lab.scenario_file import ScenarioError

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
    assert stack_s + sum(one.planned_s + beside_s for one in plans_) < MINUTES_OF_ALL_SHORT_FORMS * 60


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
