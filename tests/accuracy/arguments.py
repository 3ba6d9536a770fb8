"""The command line of `make accuracy`."""

import argparse
from pathlib import Path

from stack.layout import ROOT

RECORDINGS = Path(__file__).with_name("recordings")
PICTURES = ROOT / ".accuracy"
BASELINE = Path(__file__).with_name("baseline.json")
PARTS = ("recorded", "drawn", "simulated", "validation")
ABOUT = """How often the locator names the right room. Four parts:

  recorded    recordings by others, with known rooms: each is played with 20 sets of phases of the receivers' windows
  validation  numbers chosen on other sets; recordings cut anew; levels shifted; positions taken away; sensitivity
  drawn       40 buildings with a radio drawn at random: median and worst decile
  simulated   the demo building with staff who stand or patrol, by phone and by tag

History is what /extractbeacon serves; live is what dashboard and retained topic show at that moment. Beside them two
simple ways: `strongest`, the room of the strongest reading of the second; `mean`, the exponential mean of two seconds,
powers summed by room, two wins for a change. Shares are of the seconds whose room is known. The last line is about the
history of all recordings."""
EXAMPLES = """examples:
  make accuracy                                  everything; some minutes
  make accuracy DATA=/data/my-house              the recordings of one folder, or of all its folders; seconds
  make accuracy DATA='/data/a /data/b'           of several
  make accuracy DATA=/data/my-house ARGS='--only validation'
  make accuracy ARGS='--only drawn'              one part
  make accuracy ARGS=--quick                     fewer phases, buildings, hours: what the test compares
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
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        help="folder of recordings, may be repeated (default: tests/accuracy/recordings)",
    )
    parser.add_argument("--pictures", type=Path, default=PICTURES, help="folder for the pictures (default %(default)s)")
    parser.add_argument(
        "--only",
        choices=PARTS,
        action="append",
        help="this part, may be repeated (default: all; with folders of recordings: recorded)",
    )
    parser.add_argument("--quick", action="store_true", help="fewer phases, buildings and hours; no validation")
    parser.add_argument("--baseline", action="store_true", help=f"write {BASELINE.name}")
    found = parser.parse_args(arguments)
    if found.only:
        found.parts = tuple(part for part in PARTS if part in found.only)
    elif found.data:
        found.parts = ("recorded",)
    else:
        found.parts = tuple(part for part in PARTS if not (found.quick and part == "validation"))
    if found.baseline and found.data:
        parser.error(f"{BASELINE.name} is of the recordings in this repository: --baseline does not go with --data")
    found.data = found.data or [RECORDINGS]
    return found
