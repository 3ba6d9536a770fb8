"""Reads a scenario, a TOML file, into the plan of one of its forms. Strict: an error names the key."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from gateway_agent.text_file import EncodingError, read_text

from lab.plan import KINDS, Load, Plan, Seed, Wanted, in_time
from lab.synthetic_building import SyntheticBuilding

SHIPPED = Path(str(files("lab") / "scenarios"))
FORMS = ("short", "long")
TOP = {"title", "set", "about", "theirs", "retries", "seed", "wanted", "beside", "sizes", "building", "step", *FORMS}
FORM = {"seconds", "repeats", "steps", "rows"}
STEP = {"name", "seconds", "theirs", "load", "seconds_long"}


class ScenarioError(Exception):
    """The file cannot be used; the message names the key, what is wrong and what is possible."""


@dataclass(frozen=True, slots=True)
class Own:
    """What a run changes of a form: seconds of each step, repeats, which steps, sizes by name."""

    seconds: float = 0.0
    repeats: int = 0
    steps: Sequence[str] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        said = [
            f"{self.seconds:g} s a step" if self.seconds else "",
            f"repeats: {self.repeats}" if self.repeats else "",
            *(f"{name} = {count:,}" for name, count in self.sizes.items()),
        ]
        return ", ".join(one for one in said if one)


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


def load(path: Path, form: str, own: Own | None = None) -> Plan:
    """The plan of a file's form, `short` or `long`, with what a run changes of it. Raises ScenarioError."""
    try:
        return parse(path.stem, read_text(path), form, own or Own())
    except (OSError, EncodingError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(f"{path}: {error}") from error
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from error


def parse(name: str, text: str, form: str, own: Own = Own()) -> Plan:
    """The plan of a scenario's text. Raises ScenarioError."""
    document = tomllib.loads(text)
    _only(document, TOP, "")
    chosen = document.get(form)
    if not isinstance(chosen, dict):
        raise ScenarioError(f"[{form}] is missing: how long its steps last")
    _only(chosen, FORM, f"{form}.")
    sizes = _sizes(document.get("sizes", {}), form, own)
    beside = tuple(_load(one, "beside", sizes) for one in document.get("beside", []))
    chosen_steps = own.steps or chosen.get("steps")
    _known_steps(own.steps, [str(one.get("name")) for one in document.get("step", [])])
    steps = []
    for number, one in enumerate(document.get("step", [])):
        place = f"step {number + 1}"
        _only(one, STEP, f"{place}: ")
        if chosen_steps and one.get("name") not in chosen_steps:
            continue
        ends_itself = any(load.get("kind") == "batches" for load in one.get("load", []))
        changed = 0.0 if ends_itself else own.seconds
        seconds = changed or one.get(f"seconds_{form}", one.get("seconds", chosen.get("seconds")))
        if not isinstance(seconds, int | float) or seconds <= 0:
            raise ScenarioError(f"{place}: seconds is missing: give it in the step or in [{form}]")
        loads = tuple(_load(load, place, sizes, seconds) for load in one.get("load", []))
        steps.append((str(one["name"]), float(seconds), loads + beside, str(one.get("theirs", ""))))
    if not steps:
        raise ScenarioError(f"there is no step in the {form} form")
    return Plan(
        name,
        str(document.get("title", name)),
        str(document.get("about", "")),
        form,
        in_time(steps, own.repeats or int(chosen.get("repeats", 1))),
        tuple(_record(Wanted, one, "wanted") for one in document.get("wanted", [])),
        _record(Seed, {**document.get("seed", {}), **({"rows": chosen["rows"]} if "rows" in chosen else {})}, "seed"),
        str(document.get("theirs", "")),
        int(document.get("retries", 3)),
        str(own),
        _drawn(document["building"], sizes) if "building" in document else None,
    )


def _sizes(document: Mapping[str, Any], form: str, own: Own) -> dict[str, int]:
    """Numbers that loads name instead of writing them: `pages = { short = 10, long = 100 }`; a run may give others."""
    found = {}
    for name, values in document.items():
        if not isinstance(values, dict) or values.keys() != set(FORMS):
            raise ScenarioError(f"sizes: {name} needs a number for each form: {name} = {{ short = 1, long = 10 }}")
        found[name] = int(values[form])
    if strange := sorted(own.sizes.keys() - found.keys()):
        there = f"there are {', '.join(sorted(found))}" if found else "this scenario has none"
        raise ScenarioError(f"there is no size {strange[0]!r}; {there}")
    return found | dict(own.sizes)


def _drawn(document: Mapping[str, Any], sizes: Mapping[str, int]) -> SyntheticBuilding:
    """The building that the run's own stack gets; a number may be a size's name."""
    values = {key: _number(one, f"building: {key}", sizes) for key, one in document.items()}
    made: SyntheticBuilding = _record(SyntheticBuilding, values, "building")
    if not made.fits:
        raise ScenarioError("building: levels, rooms, gateways, beacons and staff are at least 1")
    return made


def _number(value: Any, place: str, sizes: Mapping[str, int]) -> Any:
    """The value, or the size of that name."""
    if not isinstance(value, str):
        return value
    if value not in sizes:
        raise ScenarioError(f"{place} {value!r} is no number, and not in [sizes]")
    return sizes[value]


def _known_steps(wanted: Sequence[str], there: Sequence[str]) -> None:
    if strange := [one for one in wanted if one not in there]:
        raise ScenarioError(f"there is no step {strange[0]!r}; there are {'; '.join(there)}")


def _load(document: Mapping[str, Any], place: str, sizes: Mapping[str, int], seconds: float = 0.0) -> Load:
    """One load; `total` is a number of calls in the whole step, instead of a rate; a number may be a size's name."""
    if document.get("kind") not in KINDS:
        raise ScenarioError(f"{place}: kind {document.get('kind')!r} is none of {', '.join(KINDS)}")
    values: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in document.items()}
    for key in ("count", "rate", "staff", "window_rows", "requests"):
        if key in values:
            values[key] = _number(values[key], f"{place}: {key}", sizes)
    if seconds and "total" in values:
        values["rate"] = values.pop("total") / seconds
    made: Load = _record(Load, values, place)
    return made


def _record(kind: Any, values: Mapping[str, Any], place: str) -> Any:
    _only(values, {one.name for one in fields(kind)}, f"{place}: ")
    try:
        return kind(**values)
    except TypeError as error:
        missing = str(error).rpartition("__init__() ")[2]
        raise ScenarioError(f"{place}: {missing}") from error


def _only(document: Mapping[str, Any], known: set[str], place: str) -> None:
    if strange := sorted(document.keys() - known):
        raise ScenarioError(f"{place}there is no {strange[0]!r}; there are {', '.join(sorted(known))}")
