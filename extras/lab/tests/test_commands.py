"""The commands that help and docs show can be given, and lead to plans."""

import argparse
import re
import shlex
from pathlib import Path

import pytest
from lab import command
from lab import run as runs
from lab.scenario_file import ScenarioError

DOCS = Path(__file__).parents[1] / "load-tests.md"


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())
    return parser.parse_args(["lab", *words])


def shown() -> list[list[str]]:
    """The runs of help and docs, as arguments of `simulator lab`."""
    lines = [line.strip().removeprefix("simulator lab ") for line in command.EXAMPLES.splitlines()]
    found = [re.split(r"\s{3,}", line)[0] for line in lines if line.startswith("run ")]
    for line in DOCS.read_text().splitlines():
        if made := re.match(r"make lab SCENARIO=('[^']*'|\S+)( FORM=(\S+))?( ARGS='([^']*)')?", line):
            scenario, _, form, _, rest = made.groups()
            found.append(f"run {scenario.strip(chr(39))} --form {form or 'short'} {rest or ''}")
    return [shlex.split(line) for line in found]


@pytest.mark.parametrize("words", shown(), ids=" ".join)
def test_a_documented_run_can_be_planned(words: list[str], tmp_path: Path) -> None:
    options = parse(*words, "--to", str(tmp_path))
    assert command.plans(options)


def test_steps_and_sizes_reach_the_plan(tmp_path: Path) -> None:
    options = parse(
        "run", "e-clients", "--form", "long", "--size", "requests=3", "--step", "64 workers", "--to", str(tmp_path)
    )
    (plan,) = command.plans(options)
    assert [(step.name, step.loads[0].requests) for step in plan.steps] == [("64 workers", 3)]


@pytest.mark.parametrize("text", ["5557", "10.0.0.1", "10.0.0.1:", "10.0.0.1:http", ":5557"])
def test_where_workers_join_is_an_address_and_a_port(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("worker", text, "--target", "far.toml")
    assert "is no ADDRESS:PORT, as 10.0.0.1:5557 is" in capsys.readouterr().err


def test_workers_of_this_machine_join_where_the_coordinator_listens() -> None:
    assert runs.reached("10.0.0.1:5557") == "10.0.0.1:5557"
    assert runs.reached("0.0.0.0:5557") == "127.0.0.1:5557"


def test_a_size_without_a_number_says_how_it_is_given(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="--size phones=2000"):
        command.plans(parse("run", "campus", "--size", "phones", "--to", str(tmp_path)))
