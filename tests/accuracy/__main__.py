"""`make accuracy`: how often the locator names the right room."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from stack.layout import ROOT

from accuracy import figures, table
from accuracy.demo import measure_demo
from accuracy.drawn import QUICK_SEEDS, SEEDS, measure_drawn
from accuracy.figures import Json
from accuracy.follow import FollowError
from accuracy.held_out import held_out
from accuracy.measure import FULL, QUICK, Result, measure
from accuracy.perturbed import learned, missing, perturbed
from accuracy.pictures import draw_recording, draw_reliability
from accuracy.recorded import DataError, Recording, load
from accuracy.replay import measure_replay

RECORDINGS = Path(__file__).with_name("recordings")
PICTURES = ROOT / ".accuracy"
BASELINE = Path(__file__).with_name("baseline.json")
OF_RECORDINGS = ("recorded", "held-out", "perturbed")
PARTS = (*OF_RECORDINGS, "drawn", "demo", "replay")
ABOUT = """How often the locator names the right room.

  recorded    recordings by others, with known rooms: each is played with 20 sets of phases of the receivers' windows;
              beside the locator four other rules (rules.py). The locator's numbers were chosen in sight of these sets
  held-out    the headline: each set with numbers that were chosen on the others; how far its probability is right
  perturbed   wrong plans, uneven or dead devices, lost adverts, clocks; cold and warm; rooms without a device
  drawn       buildings with a radio drawn at random, for comparison with before
  demo        simulated staff in the demo building, for comparison with before
  replay      whether a rebuilt history equals the one that was said live, second by second

History is what /extractbeacon serves, the last word on each second; live is what dashboard and retained topic show at
that moment; as HACS saw it: what /extractbeacon had said when somebody asked who asks every 10 s for the last 10 s.
Shares are of the seconds whose room is known. The last line is about the history of all recordings."""
EXAMPLES = """examples:
  make accuracy                                  everything; some minutes
  make accuracy DATA=/data/my-house              the recordings of one folder, or of all its folders; seconds
  make accuracy DATA='/data/a /data/b'           of several
  make accuracy DATA=/data/my-house ARGS='--only perturbed'
  make accuracy ARGS='--only replay'             one part
  make accuracy ARGS=--quick                     fewer phases and buildings: what the test compares
  make accuracy ARGS='--pictures /tmp/pictures'  pictures elsewhere
  make accuracy ARGS=--baseline                  writes baseline.json, of the parts that are measured: look at the
                                                 difference before you commit it

a folder of recordings:
  building.json      a building file (docs/interfaces.md) with one staff member, the walker
  set.json           {"mode": "gateway"} for fixed receivers and a tag, {"mode": "phone"} for a phone and fixed beacons
  NAME.csv           ts_ms,receiver,beacon,rssi: every advert; the receiver is a gateway's id, or the walker's
  NAME.truth.csv     ts_ms,room[,x_m,y_m]: one row a second; an empty room is not scored"""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """`data` (folders), `pictures`, `parts`, `quick`, `baseline`."""
    parser = argparse.ArgumentParser(
        prog="make accuracy", description=ABOUT, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = "folder of recordings, may be repeated (default: tests/accuracy/recordings)"
    parser.add_argument("--data", type=Path, action="append", help=data)
    parser.add_argument("--pictures", type=Path, default=PICTURES, help="folder for the pictures (default %(default)s)")
    only = "this part, may be repeated (default: all; with folders of recordings: recorded)"
    parser.add_argument("--only", choices=PARTS, action="append", help=only)
    parser.add_argument("--quick", action="store_true", help="fewer phases and buildings; recorded, drawn and demo")
    parser.add_argument("--baseline", action="store_true", help=f"write {BASELINE.name}")
    found = parser.parse_args(arguments)
    if found.only:
        found.parts = tuple(part for part in PARTS if part in found.only)
    elif found.data:
        found.parts = ("recorded",)
    else:
        found.parts = ("recorded", "drawn", "demo") if found.quick else PARTS
    if found.baseline and found.data:
        parser.error(f"{BASELINE.name} is of the recordings in this repository: --baseline does not go with --data")
    found.data = found.data or [RECORDINGS]
    return found


def main() -> int:
    """Measure, print and draw; returns 2 if a folder has no recordings."""
    asked = parse()
    results: list[Result] = []
    held: Json = {}
    try:
        recordings = _read(asked.data) if {*OF_RECORDINGS} & {*asked.parts} else []
        if "recorded" in asked.parts:
            results = _recorded(recordings, asked, held)
        if "held-out" in asked.parts:
            _held_out(recordings, asked.pictures, held)
        if "perturbed" in asked.parts:
            _perturbed(recordings, held)
        if "drawn" in asked.parts:
            found = measure_drawn(QUICK_SEEDS if asked.quick else SEEDS, _said)
            _print_table("DRAWN AT RANDOM: simulated, for comparison with before", table.DRAWN_HEAD,
                         table.drawn_rows(found))  # fmt: skip
            held["drawn"] = figures.compared(figures.of_drawn([one for one in found if one.seed in QUICK_SEEDS]))
        if "demo" in asked.parts:
            groups = measure_demo(_said)
            _print_table("SIMULATED, in the demo building: nothing of this was measured on people", table.DEMO_HEAD,
                         list(map(table.demo_row, groups)))  # fmt: skip
            held["demo"] = figures.compared(figure for group in groups for figure in figures.of_demo(group))
        if "replay" in asked.parts:
            _replay()
    except (DataError, FollowError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if asked.baseline:
        figures.update(BASELINE, held)
        print(f"{BASELINE} is written\n")
    if results:
        print(table.summary(results))
    return 0


def _read(folders: list[Path]) -> list[Recording]:
    found = [one for recordings in load(folders) for one in recordings.recordings]
    for one in found:
        if one.ignored:
            _said(f"{one.of}/{one.name}: {one.ignored} adverts left out (others' tags, unknown devices, no real level)")
        if not one.scored:
            raise DataError(f"{one.of}/{one.name}: no second of the truth has a room")
    return found


def _recorded(recordings: list[Recording], asked: argparse.Namespace, held: Json) -> list[Result]:
    results = measure(recordings, QUICK if asked.quick else FULL, _said)
    sight = " (numbers chosen in sight of these sets)" if asked.data == [RECORDINGS] else ""
    _print_table(f"RECORDED{sight}: mean and range over the phases of the receivers' windows; delays: median, 95th "
                 "percentile", table.RECORDED_HEAD, table.recorded_rows(results))  # fmt: skip
    _print_table("Means over the recordings of a set; borders: further than 1 m from any other room",
                 table.SET_HEAD, table.set_rows(results))  # fmt: skip
    _print_table(f"BESIDE OTHER RULES{sight}: means over the recordings of a set with standard errors; the locator "
                 "knows nothing at the start", table.BESIDE_HEAD, table.beside_rows(results))  # fmt: skip
    print(table.worst(results) + "\n")
    drawn = [file.name for one in results if (file := draw_recording(one, asked.pictures))]
    print(f"Pictures in {asked.pictures}: " + (", ".join(drawn) or "none, since no places are known") + "\n")
    held["recorded"] = figures.compared(figures.of_recorded([one.first(QUICK) for one in results]))
    return results


def _held_out(recordings: list[Recording], pictures: Path, held: Json) -> None:
    found = held_out(recordings, _said)
    if not found.folds:
        print("HELD OUT: of one set nothing can be left out\n")
        return
    print(table.headline(found) + "\n")
    _print_table("LEAVE ONE BUILDING OUT: numbers chosen on the other sets, scored on the one left out",
                 table.FOLD_HEAD, table.fold_rows(found))  # fmt: skip
    _print_table("HOW SURE: share right by what was said, left out; each set weighs the same",
                 table.RELIABILITY_HEAD, table.reliability_rows(found))  # fmt: skip
    print(f"Picture in {pictures}: {draw_reliability(found, pictures).name}\n")
    held["held out"] = figures.of_held_out(found)


def _perturbed(recordings: list[Recording], held: Json) -> None:
    changed = perturbed(recordings, _said)
    print(f"PERTURBED: what changes against as recorded\n\n{table.perturbed_table(changed)}\n")
    taught = learned(recordings, _said)
    _print_table("COLD AND WARM: nothing known, and the set's other recordings played before; with each device 6 dB "
                 "better or worse in all of them", table.LEARNED_HEAD, table.learned_rows(taught))  # fmt: skip
    gone = missing(recordings, _said)
    _print_table("ROOMS WITHOUT A DEVICE: each in turn; share of its seconds found, and what it costs the others",
                 table.MISSING_HEAD, table.missing_rows(gone))  # fmt: skip
    held["perturbed: history, live, mean"] = figures.of_perturbed(changed)
    held["cold, warm, 6 dB cold, 6 dB warm"] = figures.of_learned(taught)
    held["rooms without a device: found, others before, others; each history, live"] = figures.of_missing(gone)


def _replay() -> None:
    found = measure_replay(said=_said)
    _print_table("LIVE AND REBUILT: seconds of all people in drawn buildings", table.REPLAY_HEAD,
                 table.replay_rows(found))  # fmt: skip
    whole, both = sum(one.other == 0 for one in found), sum(one.strict for one in found)
    print(f"Live equals rebuilt in {whole} of {len(found)} buildings; also where the rebuild begins 15 minutes before, "
          f"without a saved state, in {both}\n")  # fmt: skip


def _print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"{title}\n\n{table.text(head, rows)}\n")


def _said(what: str) -> None:
    print(f"  {what} …", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
