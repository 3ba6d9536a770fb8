"""The command line, with examples in its help."""

import argparse
import math
import re
import tomllib
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypedDict

from simulator.message import PLAIN_ID
from simulator.report import EXIT_CODES


class _Help(TypedDict):
    description: str
    epilog: str
    formatter_class: type[argparse.HelpFormatter]
    allow_abbrev: bool


COMMANDS = "simulator.commands"
"""Entry points of other packages that add a command: modules with `add(commands)` and `main(options)`, which is the
option `main` of what they add."""
MAX_PHONES = 1_000_000  # guards against a typing error; the limit of open files is much lower
ENVIRONMENT = """
environment (or .env in the working folder; the environment wins):
  MQTT_HOST (localhost), MQTT_PORT (1883), MQTT_SIMULATOR_PASSWORD   the broker, account 'simulator'
  MQTTS_PORT (8883)                                                  the same with --ca, over TLS
  HTTP_PORT (1880), SDA_API_KEY                                      the platform, for 'hacs' and 'record'
  SDA_BUILDING                                                       the building file
"""
CODES = "exit codes:\n" + "\n".join(f"  {code}  {meaning}" for code, meaning in EXIT_CODES.items())
EXAMPLES = """
examples:
  simulator phones -n 50                      50 SDAs walk the demo building until Ctrl-C
  simulator phones -n 2000 --interval 4 --duration 120 --json
  simulator mixed                             SDAs with tags for gateways, and SDAs with phones
  simulator run rush.toml                     the command and options of a scenario file
  simulator replay walk.csv                   a recorded walk, sent by gateways, in real time
  simulator replay walk.csv --speed 20        the same in a twentieth of the time, ending now
  simulator hacs --staff 0,2                  polls the locations of SDA 0 and 2 every 10 s, as HACS does
  simulator record start 7                    records the readings of SDA 7, with the rooms that you tap
"""
PHONES = """
Each SDA is a phone with its own MQTT connection. It walks through rooms, corridors and lifts of the building, stays a
while, and publishes the strongest beacons: one batch at QoS 1 every second while it walks and for 4 s after that, every
1 to 4 s (each phone its own) while it stands, or always every --interval. The same seed gives the same walks and
readings, even if the broker is down meanwhile.

Batches wait during an outage of the broker (see --queue) and are sent after the reconnect. Ctrl-C or SIGTERM stops the
walks and waits some seconds for outstanding acknowledgements; a second one exits at once.
"""
PHONES_EXAMPLES = """
examples:
  simulator phones                            50 SDAs, no end, about 35 msg/s
  simulator phones -n 10 --first 50           ten more, beside the demo: its ids are 0 to 49
  simulator phones -n 2000 --interval 4 --duration 120
      expect 60,000 batches sent and acknowledged, 500 msg/s, exit code 0
  simulator phones -n 10000 --interval 4 --duration 60
      2,500 msg/s; connecting takes 5 s or more (--ramp), and first batches wait so long
"""
GATEWAYS = """
Plays every gateway of the building, each with its own MQTT connection, and those SDAs of the building file that have
tags (the first -n of them). A tag sends two adverts a second. The place where it is carried decides which gateways
receive it, and how strongly. A gateway sends a batch for each window (1 s) with readings: per registered tag the median
RSSI, `n` and `tx`, and battery and temperature when they change and once a minute. It publishes `status` (retained, and
as its last will) and `health`, and obeys `config`: window_ms, min_rssi, rssi_offset, allow or allow_bloom.

The same seed gives the same adverts. A gateway starts with the settings that the building file gives it.
"""
GATEWAYS_EXAMPLES = """
examples:
  simulator gateways                          all SDAs with tags in the demo building, about 100 msg/s
  simulator gateways --failing 1 --low-batteries 1 --truth rooms.csv
      something for the alerts page; rooms.csv has ts_ms,staff_id,level,room of each change of room
  simulator gateways --accounts accounts.tsv --ca .data/broker/tls/ca.crt
      over TLS, each gateway with its own account
"""
MIXED = """
SDAs with tags are received by the building's gateways (see 'gateways'), the others carry phones (see 'phones').
"""
MIXED_EXAMPLES = """
examples:
  simulator mixed                             the demo: 24 SDAs with tags, 26 with phones, 113 gateways
"""
RUN = """
FILE is TOML: `command` (phones, gateways or mixed) and its options, with '_' for '-' in their names; `people` is -n.
The same file gives the same messages. Options after FILE replace those in it.
"""
RUN_EXAMPLES = """
example, in rush.toml:
  command = "mixed"
  people = 50
  seed = 7
  duration = 600
  failing = 2
  late = 1.5
  truth = "rooms.csv"

  simulator run rush.toml --duration 60 --json
"""
REPLAY = """
FILE is a CSV with at least the columns ts_ms, gateway (or receiver), beacon, rssi; others are ignored. Every gateway
in it gets its own connection, publishes 'online', and sends a batch for each second with readings: the median RSSI per
beacon, as a gateway agent does.

Time stamps are moved to today and keep their spacing. At --speed 1 the first second is sent now. At a higher speed the
time stamps start in the past and the last reading has the time at which it is sent.

Invalid rows are refused with their line and reason. The others are sent, and the exit code is 1.
"""
REPLAY_EXAMPLES = """
examples:
  simulator replay straight_01.csv
      sent = acknowledged, exit code 0; /extractbeacon then returns the walk of the beacon's carrier
  simulator replay straight_01.csv --building tests/buildings/tetam.json --speed 10
      warns about gateways and beacons that the building does not list
"""
HACS = """
Calls GET /extractbeacon?staff_id=…&start_time=…&end_time=… for the last --window seconds and prints one line for each
answer. Calls from another host need a key (--key or SDA_API_KEY).
"""
HACS_EXAMPLES = """
examples:
  simulator hacs                              12:00:10 staff 0: 10 records, newest L3 Canteen
  simulator hacs --staff 0-49 --duration 60   the 50 SDAs of the demo, six times each
  simulator hacs --staff 0-9999 --rate 1000 --quiet --duration 60
      10,000 SDAs every 10 s; prints totals with p50 and p99 of the response times at the end
  simulator hacs --staff 0-49 --bulk          the 50 SDAs of the demo in one call
  simulator hacs --staff '*'                  all staff known to the platform, in one call
"""
RECORD = """
Records the readings of one person together with the rooms where that person is. 'make accuracy DATA=FOLDER' measures
your own building with these data (docs/measure-your-building.md). The platform records; this command starts, shows,
taps, stops and fetches. The dashboard's page /dashboard/record does the same on a phone, with a button for each room.
Limits: an hour, one person at a time, kept for 30 days. Needs a key with the right 'admin'.
"""
RECORD_EXAMPLES = """
examples:
  simulator record start 7 --name monday      monday: records staff 7; tap a room now
  simulator record tap l1-lobby               from now on the person is in this room ('': in none)
  simulator record undo                       removes the last tap
  simulator record show                       monday is running: staff 7, 0:04:10, 2,480 readings, 9 taps
  simulator record stop
  simulator record get monday --to my-walks   writes building.json, set.json, monday.csv and monday.truth.csv
  simulator record delete monday
"""

IN_ONE_CALL = 200
"""Even the longest ids fit into a URL."""


def parser() -> argparse.ArgumentParser:
    """The whole command line. Wrong arguments exit with code 2 and a message."""
    about = "Plays virtual SDAs, gateways, recorded walks and the HACS poller."
    main = argparse.ArgumentParser("simulator", **_help(EXAMPLES + ENVIRONMENT, about))
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")

    phones = commands.add_parser(
        "phones", help="virtual SDAs that walk the building with phones", **_help(PHONES_EXAMPLES, PHONES)
    )
    gateways = commands.add_parser(
        "gateways", help="the building's gateways, which receive SDAs' tags", **_help(GATEWAYS_EXAMPLES, GATEWAYS)
    )
    mixed = commands.add_parser(
        "mixed", help="both: SDAs with tags for gateways, and SDAs with phones", **_help(MIXED_EXAMPLES, MIXED)
    )
    for people in (phones, gateways, mixed):
        _add_people(people)
        if people is not gateways:
            _add_phones(people)
        if people is not phones:
            _add_gateways(people)
        _add_building(people)
        _add_sending(people)

    run = commands.add_parser("run", help="a scenario file: a command and its options", **_help(RUN_EXAMPLES, RUN))
    run.add_argument("file", metavar="FILE", type=Path, help="scenario as TOML")
    run.add_argument("rest", metavar="OPTION", nargs=argparse.REMAINDER, help="options that replace those of the file")

    replay = commands.add_parser("replay", help="a recorded walk, sent by gateways", **_help(REPLAY_EXAMPLES, REPLAY))
    replay.add_argument("file", metavar="FILE", type=Path, help="CSV of readings")
    replay.add_argument("--speed", metavar="X", type=_real(1, 1e6), default=1.0, help="times faster, 1 or more (1)")
    _add_building(replay)
    _add_sending(replay)

    hacs = commands.add_parser("hacs", help="polls locations as HACS does", **_help(HACS_EXAMPLES, HACS))
    add = hacs.add_argument
    add(
        "--staff",
        metavar="LIST",
        default="0,2",
        help="ids, ranges or 'all' of the building: 0,2,10-19; * is everybody (0,2)",
    )
    add("--bulk", action="store_true", help=f"up to {IN_ONE_CALL} staff in one call")
    add("--every", metavar="S", type=_real(0.01, 86400), default=10.0, help="poll each one every S seconds (10)")
    add("--rate", metavar="R", type=_real(0.001, 1e6), help="poll one after the other, R per second in total")
    add("--window", metavar="S", type=_real(0, 31 * 86400), default=10.0, help="query the last S seconds (10)")
    _add_platform(hacs)
    add("--duration", metavar="S", type=_real(0.001, math.inf), help="stop after S seconds (no end)")
    add("--quiet", action="store_true", help="no line for each answer")
    add("--json", action="store_true", help="the totals as JSON on standard output")
    _add_building(hacs)
    _add_record(commands)
    for point in entry_points(group=COMMANDS):
        point.load().add(commands)
    return main


def _add_people(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-n", dest="count", metavar="N", type=_whole(1, MAX_PHONES), default=50, help="how many SDAs (50)")
    add("--first", metavar="K", type=_whole(0, MAX_PHONES), default=0, help="leave out the first K SDAs (0)")
    add("--duration", metavar="S", type=_real(0.001, math.inf), help="stop after S seconds (no end)")
    add("--seed", type=_whole(0, 2**63), default=1, help="another seed gives other walks (1)")
    add(
        "--when-changed",
        choices=("stay", "leave", "follow"),
        default="stay",
        help="when the building file changes: continue in the old building (stay), disconnect until the file is as "
        "before (leave), or walk in the new building (follow)",
    )
    add(
        "--journal",
        metavar="FILE",
        type=Path,
        help="write each acknowledged batch as CSV: acked_ms,kind,receiver,ts_ms,readings",
    )
    add("--truth", metavar="FILE", type=Path, help="write everybody's true rooms as CSV: ts_ms,staff_id,level,room")
    add(
        "--accounts",
        metavar="FILE",
        type=Path,
        help="each receiver under its own account: lines of id<tab>password, as `make account` prints them",
    )
    for fault, meaning in {
        "duplicates": "of the batches are sent twice",
        "late": "of the batches are sent 5 to 60 s late",
        "malformed": "of the batches are no JSON",
    }.items():
        add(f"--{fault}", metavar="PCT", type=_real(0, 100), default=0.0, help=f"PCT %% {meaning} (0)")
    add("--clock-skew", metavar="S", type=_real(0, 600), default=0.0, help="clocks are wrong by up to S seconds (0)")
    add("--ca", metavar="FILE", type=Path, help="over TLS, to MQTTS_PORT, trusting this CA alone")


def _add_phones(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--interval",
        dest="interval_s",
        metavar="S",
        type=_real(0.05, 3600),
        help="a phone's batch every S seconds, walking or not",
    )
    add("--readings", metavar="R", type=_whole(1, 100), default=4, help="at most R beacons in a phone's batch (4)")
    add(
        "--away",
        metavar="PCT",
        type=_real(0, 90),
        default=0.0,
        help="phones come and go: each is switched off PCT %% of the time, for minutes (0)",
    )


def _add_gateways(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--health", metavar="S", type=_real(0.5, 3600), default=15.0, help="each gateway's health every S seconds (15)")
    add("--low-batteries", metavar="N", type=_whole(0, 10_000), default=0, help="N tags have a low battery (0)")
    add(
        "--failing",
        metavar="N",
        type=_whole(0, 10_000),
        default=0,
        help="N gateways lose their network for minutes, soon after the start and then every few hours (0)",
    )
    add("--forgotten", metavar="N", type=_whole(0, 10_000), default=0, help="N SDAs left their tags in a drawer (0)")
    add(
        "--final-status",
        choices=("offline", "removed"),
        default="offline",
        help="the gateways' retained status at the end: 'removed' lets the platform forget them (offline)",
    )


def _add_record(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    record = commands.add_parser(
        "record", help="a walk with known rooms, to measure accuracy", **_help(RECORD_EXAMPLES, RECORD)
    )
    actions = record.add_subparsers(dest="action", required=True, metavar="ACTION")
    subjects = {"start": ("STAFF_ID", "who walks"), "tap": ("ROOM", "id of the room; '' is none")}
    named = ("NAME", "name of the recording")
    for action, does in {
        "start": "record somebody",
        "show": "all recordings",
        "tap": "set the room where the person is from now on",
        "undo": "remove the last tap",
        "stop": "end the recording",
        "get": "write a recording into a folder",
        "delete": "delete a recording from the platform",
    }.items():
        one = actions.add_parser(action, help=does, description=does.capitalize() + ".", allow_abbrev=False)
        if action in ("start", "tap", "get", "delete"):
            metavar, meaning = subjects.get(action, named)
            one.add_argument("subject", metavar=metavar, help=meaning)
        if action == "start":
            one.add_argument("--name", help="of the recording and its files (walk-<time>)")
        if action == "get":
            one.add_argument(
                "--to",
                metavar="FOLDER",
                type=Path,
                help="target folder (./NAME); may have other recordings of the same walker",
            )
        _add_platform(one)
        one.add_argument("--json", action="store_true", help="the platform's answer as JSON on standard output")


def _add_platform(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="the platform's base URL (http://localhost:$HTTP_PORT)")
    parser.add_argument("--key", help="API key ($SDA_API_KEY)")


def _help(epilog: str, description: str) -> _Help:
    return {
        "description": description,
        "epilog": f"{epilog}\n{CODES}",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }


def _add_building(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--building", metavar="FILE", type=Path, help="building file ($SDA_BUILDING, else the demo's)")


def _add_sending(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--wait",
        metavar="S",
        type=_real(0, 3600),
        default=10.0,
        help="wait up to S seconds for the broker at the start (10)",
    )
    add("--ramp", metavar="R", type=_real(1, 1e5), default=2000.0, help="at most R new connections a second (2000)")
    add("--queue", metavar="N", type=_whole(1, 10**8), default=500_000, help="batches that may wait in total (500000)")
    add(
        "--replay",
        metavar="S",
        type=_real(0, 86400),
        default=600.0,
        help="hold acknowledged batches S seconds, and send them again when the broker may have lost them (600)",
    )
    add(
        "--held",
        metavar="N",
        type=_whole(0, 10**8),
        default=5_000,
        help="hold at most N batches in total; none where that is fewer than 10 of each receiver (5000)",
    )
    add("--drain", metavar="S", type=_real(0, 3600), default=30.0, help="wait for acknowledgements at the end (30)")
    add("--progress", metavar="S", type=_real(0, 86400), default=30.0, help="a progress line every S s, 0: none (30)")
    add("--json", action="store_true", help="the summary as JSON on standard output")


def _whole(minimum: int, maximum: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,19}", text) or not minimum <= int(text) <= maximum:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {minimum} to {maximum}")
        return int(text)

    return whole


def _real(minimum: float, maximum: float) -> Callable[[str], float]:
    def real(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not minimum <= value <= maximum or math.isinf(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {minimum:g} to {maximum:g}")
        return value

    return real


def in_bulk(ids: list[str]) -> list[str]:
    """Groups of ids, one for each call."""
    return [",".join(ids[first : first + IN_ONE_CALL]) for first in range(0, len(ids), IN_ONE_CALL)]


def staff_ids(text: str, building_staff: Callable[[], tuple[str, ...]]) -> list[str]:
    """The ids of a list such as '0,2,10-19', 'all' or '*'. Raises ValueError with a message."""
    if text == "*":
        return [text]
    if text == "all":
        return list(building_staff())
    ids: list[str] = []
    for part in text.split(","):
        if match := re.fullmatch(r"([0-9]{1,7})-([0-9]{1,7})", part):
            first, last = int(match[1]), int(match[2])
            if first > last:
                raise ValueError(f"--staff {part}: the range ends before it begins")
            ids.extend(str(number) for number in range(first, last + 1))
        elif re.fullmatch(PLAIN_ID, part):
            ids.append(part)
        else:
            raise ValueError(f"--staff {part!r} is neither an id, nor a range such as 0-49, nor 'all'")
    return ids


SCENARIO_COMMANDS = ("phones", "gateways", "mixed")
SCENARIO_FLAGS = {"people": "-n"}


class ScenarioError(Exception):
    """The file is not a scenario; the message names the key."""


def of_scenario(text: str) -> list[str]:
    """The command line that a scenario file stands for: a command and its options as TOML.

    Keys are the options' names with `_` for `-`; `people` is `-n`. The options' own checks apply.
    Raises ScenarioError."""
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"is not TOML: {error}") from error
    command = values.pop("command", None)
    if command not in SCENARIO_COMMANDS:
        raise ScenarioError(f"command is {command!r}; one of {', '.join(SCENARIO_COMMANDS)} is needed")
    given = [str(command)]
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ScenarioError(f"{key} is {value!r}; a number or a text is needed")
        given += [f"{SCENARIO_FLAGS.get(key, '--' + key.replace('_', '-'))}", str(value)]
    return given
