"""Reads a scenario, a TOML file, into the plan of one of its forms. Strict: an error names the key."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from simulator.lab.plan import KINDS, Load, Plan, Seed, Wanted, in_time

SHIPPED = Path(str(files("simulator.lab") / "scenarios"))
FORMS = ("short", "long")
TOP = {"title", "set", "about", "theirs", "retries", "seed", "wanted", "beside", "step", *FORMS}
FORM = {"seconds", "repeats", "steps", "counts", "rows", "rates"}
STEP = {"name", "seconds", "theirs", "load", "seconds_long"}


class ScenarioError(Exception):
    """The file cannot be used; the message names the key, what is wrong and what is possible."""


def names() -> dict[str, Path]:
    """The shipped scenarios by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def find(name: str) -> Path:
    """The file of a shipped scenario, or the file that `name` is the path of. Raises ScenarioError."""
    if name in (shipped := names()):
        return shipped[name]
    if Path(name).is_file():
        return Path(name)
    raise ScenarioError(f"there is no scenario {name!r}: give a TOML file, or one of {', '.join(shipped)}")


def load(path: Path, form: str) -> Plan:
    """The plan of a file's form, `short` or `long`. Raises ScenarioError."""
    try:
        return parse(path.stem, path.read_text(encoding="utf-8"), form)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(f"{path}: {error}") from error
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from error


def parse(name: str, text: str, form: str) -> Plan:
    """The plan of a scenario's text. Raises ScenarioError."""
    document = tomllib.loads(text)
    _only(document, TOP, "")
    chosen = document.get(form)
    if not isinstance(chosen, dict):
        raise ScenarioError(f"[{form}] is missing: how long its steps last")
    _only(chosen, FORM, f"{form}.")
    beside = tuple(_load(one, "beside") for one in document.get("beside", []))
    steps = []
    for number, one in enumerate(document.get("step", [])):
        place = f"step {number + 1}"
        _only(one, STEP, f"{place}: ")
        if "steps" in chosen and one.get("name") not in chosen["steps"]:
            continue
        seconds = one.get(f"seconds_{form}", one.get("seconds", chosen.get("seconds")))
        if not isinstance(seconds, int | float) or seconds <= 0:
            raise ScenarioError(f"{place}: seconds is missing: give it in the step or in [{form}]")
        loads = tuple(_load(load, place, seconds) for load in one.get("load", []))
        steps.append((str(one["name"]), float(seconds), loads + beside, str(one.get("theirs", ""))))
    if not steps:
        raise ScenarioError(f"there is no step in the {form} form")
    return Plan(
        name,
        str(document.get("title", name)),
        str(document.get("about", "")),
        form,
        in_time(steps, int(chosen.get("repeats", 1))),
        tuple(_record(Wanted, one, "wanted") for one in document.get("wanted", [])),
        _record(Seed, {**document.get("seed", {}), **({"rows": chosen["rows"]} if "rows" in chosen else {})}, "seed"),
        str(document.get("theirs", "")),
        int(document.get("retries", 3)),
    )


def _load(document: Mapping[str, Any], place: str, seconds: float = 0.0) -> Load:
    """One load; `total` is a number of calls in the whole step, instead of a rate."""
    if document.get("kind") not in KINDS:
        raise ScenarioError(f"{place}: kind {document.get('kind')!r} is none of {', '.join(KINDS)}")
    values: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in document.items()}
    if seconds and "total" in values:
        values["rate"] = values.pop("total") / seconds
    made: Load = _record(Load, values, place)
    return made


def _record(kind: Any, values: Mapping[str, Any], place: str) -> Any:
    _only(values, {one.name for one in fields(kind)}, f"{place}: ")
    try:
        return kind(**values)
    except TypeError as error:
        missing = re.sub(r".*__init__\(\) ", "", str(error))
        raise ScenarioError(f"{place}: {missing}") from error


def _only(document: Mapping[str, Any], known: set[str], place: str) -> None:
    if strange := sorted(document.keys() - known):
        raise ScenarioError(f"{place}there is no {strange[0]!r}; there are {', '.join(sorted(known))}")
