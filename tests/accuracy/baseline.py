"""Reads and writes baseline.json: figures for the quick test, and further measurements for readers."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from accuracy.alterations import Altered
from accuracy.candidates import label
from accuracy.figures import Figure
from accuracy.interval import interval, median, worst_decile
from accuracy.nested import Nested, Outer
from accuracy.radios import MANNERS, Drawn
from accuracy.real import Result, of_sets
from accuracy.sensitivity import Sensitivity

Json = dict[str, Any]


def compared(figures: Iterable[Figure]) -> Json:
    return {one.name: round(one.value, 2) for one in figures}


def of_recordings(results: Sequence[Result]) -> Json:
    """With all phases: range of each recording, intervals of the sets, shares away from borders, the worst."""
    worst = min(results, key=lambda one: one.history.share)
    return {
        "worst recording": {worst.name: _percent(worst.history.share)},
        "history from to, over the phases": {one.name: [*map(_percent, one.history.span)] for one in results},
        "history, 95 % interval over recordings": {
            name: [*map(_percent, interval([one.history.share for one in some], fmean))]
            for name, some in of_sets(results).items()
            if len(some) > 1
        },
        "away from borders: share of seconds, history, live": {
            one.name: [
                _percent(one.history_away.seconds / one.history.seconds),
                _percent(one.history_away.share),
                _percent(one.live_away.share),
            ]
            for one in results
        },
        "history above the two-second mean, points": {
            one.name: _percent(one.history.share - one.mean.share) for one in results
        },
    }


def of_buildings(buildings: Sequence[Drawn]) -> Json:
    """All drawn buildings: median and worst decile of the histories, with intervals."""
    found = {}
    for manner in MANNERS:
        values = [one.history[manner] for one in buildings]
        for name, of in (("median", median), ("worst decile", worst_decile)):
            found[f"{manner}, {name}"] = [*map(_percent, (of(values), *interval(values, of)))]
    return {f"{len(buildings)} drawn buildings: history, and its 95 % interval": found}


def of_nested(nested: Nested) -> Json:
    """Outer scores: history, live, and their tuning."""
    return {
        "tuned minus left out, points: history, live": [*map(_percent, nested.gap)],
        "left out: history, live, chosen without it": _outer(nested.sets),
        "left out, one recording: history, live, chosen without it": _outer(nested.recordings),
    }


def _outer(found: Iterable[Outer]) -> Json:
    return {one.name: [*map(_percent, one.outer), label(one.chosen)] for one in found}


def of_altered(found: Iterable[Altered]) -> Json:
    return {f"{one.alteration}, {one.of}": [*map(_percent, (one.history, one.live, one.mean))] for one in found}


def of_levels(found: dict[str, dict[str, float]]) -> Json:
    return {shift: {name: _percent(share) for name, share in shares.items()} for shift, shares in found.items()}


def of_sensitivity(found: Sequence[Sensitivity]) -> Json:
    return {one.changed: [*map(_percent, (one.history, one.live, one.standing, one.patrol))] for one in found}


def update(path: Path, parts: Json) -> None:
    """Merge new measurements; other parts keep their values."""
    kept: Json = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(_text({**kept, **parts}) + "\n")


def _text(value: Any, indent: int = 0) -> str:
    """JSON with lists on one line."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    inner = " " * (indent + 1)
    lines = (f"{inner}{json.dumps(key, ensure_ascii=False)}: {_text(one, indent + 1)}" for key, one in value.items())
    return "{\n" + ",\n".join(lines) + f"\n{' ' * indent}}}"


def _percent(share: float) -> float:
    return round(share * 100, 2)
