"""A scenario file: a command and its options as TOML, so that a run can be kept and repeated. Pure.

Keys are the options' names with `_` for `-`; `people` is `-n`. The options' own checks apply."""

import tomllib
from typing import Any

COMMANDS = ("phones", "gateways", "mixed")
FLAGS = {"people": "-n"}


class ScenarioError(Exception):
    """The file is not a scenario; the message names the key."""


def arguments(text: str) -> list[str]:
    """The command line that a scenario stands for. Raises ScenarioError."""
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"is not TOML: {error}") from error
    command = values.pop("command", None)
    if command not in COMMANDS:
        raise ScenarioError(f"command is {command!r}; one of {', '.join(COMMANDS)} is needed")
    given = [str(command)]
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ScenarioError(f"{key} is {value!r}; a number or a text is needed")
        given += [f"{FLAGS.get(key, '--' + key.replace('_', '-'))}", str(value)]
    return given
