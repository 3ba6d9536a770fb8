"""`make accuracy`: how often the locator names the right room, on recorded and on simulated walks.

Recorded: BLE readings of real walks with the true position (DATA=<folder>: gateways.csv and one CSV for each walk).
Simulated: the demo building with staff who stand or patrol, by phone and by tag. History is what /extractbeacon serves,
live is what dashboard and retained topic show at that moment. The last line is about the history of all recorded walks.
"""

import argparse
import json
import sys
from pathlib import Path

from stack.layout import ROOT

from accuracy import figures, table, targets
from accuracy.follow import FollowError
from accuracy.pictures import draw
from accuracy.real import Real
from accuracy.real import measure as measure_real
from accuracy.recorded import DataError
from accuracy.scenes import Size, groups
from accuracy.simulated import Figures
from accuracy.simulated import measure as measure_simulated

SHARED = ROOT.parent / "shared" / "data" / "tetam"
PICTURES = ROOT / ".accuracy"
BASELINE = Path(__file__).with_name("baseline.json")
EXAMPLES = """examples:
  make accuracy                                  everything, with the walks in ../shared/data/tetam; some minutes
  make accuracy DATA=/data/other-walks           other recorded walks through the same area
  make accuracy ARGS=--quick                     fewer hours simulated: what the test holds against baseline.json
  make accuracy ARGS='--only recorded'           without the simulated part: seconds
  make accuracy ARGS='--pictures /tmp/pictures'  pictures elsewhere
  make accuracy ARGS=--baseline                  like --quick, and writes baseline.json: look at the difference before
                                                 you commit it"""


def main() -> int:
    """Measure, print, draw; 2 when a folder was named that holds no walks."""
    arguments = _parser().parse_args()
    folder: Path = arguments.data or SHARED
    size: Size = "quick" if arguments.quick or arguments.baseline else "full"
    try:
        simulated = [] if arguments.only == "recorded" else _simulated(size)
        real = None
        if arguments.only != "simulated" and (arguments.data or folder.is_dir()):
            real = _recorded(folder, arguments.pictures)
    except (DataError, FollowError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.baseline:
        _write_baseline(real, simulated)
    if real:
        print(table.summary(real.total("history")))
    elif arguments.only != "simulated":
        print(f"The recorded walks were left out: {folder} is not there (DATA=<folder> names another).")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make accuracy", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help=f"folder of recorded walks (default {SHARED})")
    parser.add_argument("--pictures", type=Path, default=PICTURES, help="folder for the pictures (default %(default)s)")
    parser.add_argument("--only", choices=("recorded", "simulated"), help="leave the other part out")
    parser.add_argument("--quick", action="store_true", help="simulate fewer hours")
    parser.add_argument("--baseline", action="store_true", help=f"write {BASELINE.name}")
    return parser


def _recorded(folder: Path, pictures: Path) -> Real:
    real = measure_real(folder)
    print(f"Recorded walks ({folder}): history is what /extractbeacon serves, live what is shown at that moment\n")
    print(table.text(table.REAL_HEAD, table.real_rows(real)))
    pictures.mkdir(parents=True, exist_ok=True)
    for one in real.walks:
        title = (
            f"{one.walk.name}: history right in {table.percent(one.history.share)} of {one.history.seconds} s,"
            f" live in {table.percent(one.live.share)}"
        )
        draw(one.walk, one.told, real.building, title, pictures / f"{one.walk.name}.svg")
    print(f"\nPictures of the walks: {pictures}\n")
    return real


def _simulated(size: Size) -> list[Figures]:
    def said(name: str) -> None:
        print(f"  playing: {name} …", file=sys.stderr, flush=True)

    found = measure_simulated(groups(size), None, said)
    print("SIMULATED, in the demo building (docs/accuracy.md says how): nothing of this was measured on people\n")
    print(table.text(table.SIMULATED_HEAD, [table.simulated_row(one) for one in found]))
    by_name = [figure for group in found for figure in figures.of_simulated(group)]
    print("\nWhat is wanted of the simulated building\n")
    print(table.text(("figure", "wanted", "measured", "reached"), figures.reached(by_name, targets.WANTED)) + "\n")
    return found


def _write_baseline(real: Real | None, simulated: list[Figures]) -> None:
    """Parts that were not measured keep their values."""
    kept: dict[str, dict[str, float]] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    if real:
        kept["recorded"] = {one.name: round(one.value, 2) for one in figures.of_real(real)}
    if simulated:
        kept["simulated"] = {
            one.name: round(one.value, 2) for group in simulated for one in figures.of_simulated(group)
        }
    BASELINE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    print(f"{BASELINE} is written\n")


if __name__ == "__main__":
    sys.exit(main())
