"""`make accuracy`: how often the locator names the right room (arguments.py says what is measured)."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from accuracy import arguments, baseline, figures, table, targets
from accuracy.alterations import changed_by_levels, cut_anew, only_listed, positions_taken, under_conditions
from accuracy.baseline import Json
from accuracy.drawn import draw
from accuracy.follow import FollowError
from accuracy.nested import nested
from accuracy.pictures import draw_recording
from accuracy.radios import LEVEL_SEEDS, ONE, QUICK_SEEDS, SEEDS, calibrated, measure_drawn
from accuracy.radios import recordings as recordings_of
from accuracy.real import FULL, QUICK, Result, measure
from accuracy.recorded import DataError, Recording, load
from accuracy.scenes import Size, groups
from accuracy.sensitivity import sensitivity
from accuracy.simulated import measure as measure_simulated

TIMES = 3  # repetitions of each random cut
PICTURES_OF_DRAWN = 2


def main() -> int:
    """Measure, print and draw; returns 2 if a folder has no recordings."""
    asked = arguments.parse()
    results: list[Result] = []
    held: Json = {}
    try:
        recordings = _read(asked) if {"recorded", "validation"} & {*asked.parts} else []
        if "recorded" in asked.parts:
            results = _recorded(recordings, asked, held)
        if "validation" in asked.parts:
            _validation(recordings, held)
        if "drawn" in asked.parts:
            _drawn(asked, held)
        if "simulated" in asked.parts:
            _simulated(asked, held)
    except (DataError, FollowError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if asked.baseline:
        baseline.update(arguments.BASELINE, held)
        print(f"{arguments.BASELINE} is written\n")
    if results:
        print(table.summary(results))
    return 0


def _read(asked: Namespace) -> list[Recording]:
    found = [one for recordings in load(asked.data) for one in recordings.recordings]
    for one in found:
        if one.ignored:
            _said(f"{one.of}/{one.name}: {one.ignored} adverts left out (others' tags, unknown devices, no real level)")
        if not one.scored:
            raise DataError(f"{one.of}/{one.name}: no second of the truth has a room")
    return found


def _recorded(recordings: list[Recording], asked: Namespace, held: Json) -> list[Result]:
    results = measure(recordings, QUICK if asked.quick else FULL, None, _said)
    _print_table("RECORDED: mean and range over the phases of the receivers' windows; delays: median, 95th percentile",
                 table.RECORDED_HEAD, table.recorded_rows(results))  # fmt: skip
    _print_table("Means over the recordings of a set; borders: further than 1 m from any other room",
                 table.SET_HEAD, table.set_rows(results))  # fmt: skip
    print(table.worst(results) + "\n")
    _draw(results, asked.pictures)
    held["recorded"] = baseline.compared(figures.of_recorded([one.first(QUICK) for one in results]))
    held["recordings, all phases"] = baseline.of_recordings(results)
    return results


def _validation(recordings: list[Recording], held: Json) -> None:
    folds = nested(recordings, _said)
    held["nested"] = baseline.of_nested(folds)
    if folds.sets:
        print(table.headline(folds) + "\n")
        _print_table("LEAVE ONE SET OUT: numbers chosen on the other sets, scored on the one left out",
                     table.OUTER_HEAD, table.nested_rows(folds.sets))  # fmt: skip
    if folds.recordings:
        _print_table("Leave one recording out", table.OUTER_HEAD, table.nested_rows(folds.recordings))
    _said("taking positions away")
    taken = [*positions_taken(recordings), *only_listed(recordings)]
    cut = cut_anew(recordings, TIMES, _said)
    held["altered: history, live, mean"] = baseline.of_altered([*taken, *cut])
    _print_table("CUT ANEW, and without positions", table.ALTERED_HEAD, table.altered_rows([*taken, *cut]))
    other = under_conditions(recordings, TIMES, _said)
    held["under other conditions: history, live, mean"] = baseline.of_altered(other)
    _print_table(
        "UNDER OTHER CONDITIONS: receivers, phones, tags, plans", table.ALTERED_HEAD, table.altered_rows(other)
    )
    _said("shifting levels")
    shifted = changed_by_levels(recordings)
    drawn = changed_by_levels([one for seed in LEVEL_SEEDS for one in calibrated(draw(seed))], ONE)
    for shift, shares in drawn.items():
        shifted[shift]["drawn"] = fmean(shares.values())
    held["seconds with another room when levels are shifted, %"] = baseline.of_levels(shifted)
    print("LEVELS SHIFTED: share of seconds whose room in history is another one\n")
    print(table.level_table(shifted) + "\n")
    found = sensitivity(recordings, _said)
    held["sensitivity: history, live, drawn standing, drawn patrol"] = baseline.of_sensitivity(found)
    _print_table("SENSITIVITY: each number halved, and half as much again; points", table.SENSITIVITY_HEAD,
                 table.sensitivity_rows(found))  # fmt: skip


def _drawn(asked: Namespace, held: Json) -> None:
    found = measure_drawn(QUICK_SEEDS if asked.quick else SEEDS, _said)
    _print_table("DRAWN AT RANDOM: median and worst decile over buildings, % of the seconds",
                 table.DRAWN_HEAD, table.drawn_rows(found))  # fmt: skip
    print(table.drawn_intervals(found) + "\n")
    held["drawn"] = baseline.compared(figures.of_drawn([one for one in found if one.seed in QUICK_SEEDS]))
    if not asked.quick:
        held["drawn, all"] = baseline.of_buildings(found)
    worst = sorted(found, key=lambda one: one.history["patrol"])[:PICTURES_OF_DRAWN]
    _draw([measure(recordings_of(draw(one.seed))[-1:], ONE)[0] for one in worst], asked.pictures)


def _simulated(asked: Namespace, held: Json) -> None:
    size: Size = "quick" if asked.quick or asked.baseline else "full"
    found = measure_simulated(groups(size), None, lambda name: _said(f"playing: {name}"))
    print("SIMULATED, in the demo building (docs/accuracy.md says how): nothing of this was measured on people\n")
    print(table.text(table.SIMULATED_HEAD, [table.simulated_row(one) for one in found]))
    by_name = [figure for group in found for figure in figures.of_simulated(group)]
    print("\nWhat is wanted of the simulated building\n")
    print(table.text(("figure", "wanted", "measured", "reached"), figures.reached(by_name, targets.WANTED)) + "\n")
    held["simulated"] = baseline.compared(by_name)


def _print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"{title}\n\n{table.text(head, rows)}\n")


def _draw(results: list[Result], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [file.name for one in results if (file := draw_recording(one, folder))]
    print(f"Pictures in {folder}: " + (", ".join(drawn) or "none, since no places are known") + "\n")


def _said(what: str) -> None:
    print(f"  {what} …", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
