"""A scenario file stands for a command line."""

import json
from pathlib import Path

import pytest
from cli import simulator
from real_broker import RealBroker
from simulator.arguments import ScenarioError, of_scenario

FILE = """
command = "mixed"
people = 12
seed = 7
duration = 60
low_batteries = 1
late = 1.5
"""


def test_keys_are_options() -> None:
    assert of_scenario(FILE) == [
        *("mixed", "-n", "12", "--seed", "7", "--duration", "60", "--low-batteries", "1", "--late", "1.5")
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seed = ", "is not TOML"),
        ("seed = 1", "command is None"),
        ('command = "hacs"', "command is 'hacs'"),
        ('command = "mixed"\nseed = [1]', "seed is [1]"),
        ('command = "mixed"\nseed = true', "seed is True"),
    ],
)
def test_what_is_no_scenario(text: str, says: str) -> None:
    with pytest.raises(ScenarioError) as error:
        of_scenario(text)
    assert says in str(error.value)


def test_a_scenario_runs_and_options_replace_its_own(broker: RealBroker, tmp_path: Path) -> None:
    file = tmp_path / "rush.toml"
    file.write_text(FILE)
    done = simulator("run", file, "--duration", 2, "--json", **broker.environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seed"] == 7
    assert json.loads(done.stdout)["seconds"] < 10
    assert "12 SDAs, 12 of them with phones, and 113 gateways" in done.stderr


def test_an_option_that_does_not_exist_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rush.toml"
    file.write_text('command = "mixed"\nspeed = 2')
    done = simulator("run", file)
    assert done.returncode == 2
    assert "unrecognized arguments: --speed 2" in done.stderr
