"""`simulator`: reads the command line and the settings, runs one command, says how it went."""

import argparse
import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from simulator import arguments, play, replay, settings
from simulator.building import Building, BuildingError, load
from simulator.fleet import Fleet
from simulator.manner import Manner, RefusedError, Stop, TooManyFilesError, UnreachableError, allow_files
from simulator.message import Receiver
from simulator.report import FAILED, OK, REFUSED, UNREACHABLE, USAGE, table
from simulator.truth import TruthFile
from simulator.watch import Watch


def main() -> int:
    """Run the command line; returns the exit code (report.EXIT_CODES)."""
    options = arguments.parser().parse_args()
    values = {**dotenv_values(".env"), **os.environ}
    commands = {"replay": _replay, "hacs": _hacs, "record": _record}
    run = commands.get(options.command, _people)
    try:
        return run(options, values)
    except (settings.SettingsError, BuildingError, replay.RecordingError, TooManyFilesError, ValueError) as error:
        _tell(f"simulator: {error}")
        return USAGE
    except UnreachableError as error:
        _tell(f"simulator: {error}. Does it run (make status), and do MQTT_HOST and MQTT_PORT say where?")
        return UNREACHABLE
    except RefusedError as error:
        _tell(
            f"simulator: {error}. Is MQTT_SIMULATOR_PASSWORD the one that broker was set up with? "
            "Where the demo does not play (SIM=0, an own building) there is no such account: SIM=1 make up"
        )
        return REFUSED


def _people(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    file = options.building or settings.building_file(values, Path.cwd())
    watch = Watch(file, options.when_changed)
    while True:
        code = _walk(options, values, watch)
        if not watch.changed:
            return code
        _tell(f"{file} is another building now: " + watch.says)
        if not asyncio.run(watch.until_again(_stop_by_signal)):
            return OK


def _walk(options: argparse.Namespace, values: Mapping[str, str | None], watch: Watch) -> int:
    accounts = settings.accounts(options.accounts) if options.accounts else None
    broker, building = settings.broker(values, accounts, options.ca), load(watch.take())
    crowd = _crowd(options)
    made = {"phones": play.phones, "gateways": play.gateways, "mixed": play.mixed}[options.command](building, crowd)
    if missing := [one.id for one in made.receivers if accounts is not None and one.id not in accounts]:
        raise settings.SettingsError(f"{options.accounts} has no account of {missing[0]} (of {len(missing)} missing)")
    _tell(f"{_heard_by(made)} in {building.name}, seed {crowd.seed}, to {broker}")
    truth = TruthFile(options.truth, building, made.staff, crowd.seed) if options.truth else None
    return _play(options, broker, made, about={"seed": crowd.seed}, watch=watch, truth=truth)


def _crowd(options: argparse.Namespace) -> play.Crowd:
    given = vars(options)
    known = {name: given[name] for name in ("interval_s", "readings", "low_batteries", "failing") if name in given}
    return play.Crowd(options.count, options.first, options.seed, options.duration, **known)


def _heard_by(made: play.Play) -> str:
    """For example: 50 SDAs, 26 of them with phones, 113 gateways."""
    with_phones = [one.id for one in made.receivers if one.kind == "phone"]
    if not made.gateways:
        ids = with_phones[0] if len(with_phones) == 1 else f"{with_phones[0]} to {with_phones[-1]}"
        return f"{len(with_phones):,} phones (SDA {ids})"
    return f"{len(made.staff):,} SDAs, {len(with_phones):,} of them with phones, and {len(made.gateways):,} gateways"


def _replay(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    broker = settings.broker(values)
    try:
        with options.file.open(encoding="utf-8-sig", newline="") as lines:
            recording = replay.parse(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise replay.RecordingError(f"{options.file}: cannot be read: {error}") from error
    except replay.RecordingError as error:
        raise replay.RecordingError(f"{options.file}: {error}") from error
    for line, reason in recording.refused:
        _tell(f"{options.file}:{line}: refused: {reason}")
    gateways = recording.gateways()
    if options.building or values.get("SDA_BUILDING"):
        _warn(_building(options, values), gateways)
    _tell(
        f"{len(gateways)} gateways, {len(recording.rows):,} readings, {len(recording.refused):,} rows refused; "
        f"plays for {replay.lasts_s(recording, options.speed):.0f} s to {broker}"
    )
    recorded = play.Play(gateways, replay.outgoing(recording, options.speed))
    return _play(options, broker, recorded, refused_rows=len(recording.refused))


def _warn(building: Building, gateways: list[Receiver]) -> None:
    for gateway in gateways:
        if gateway.id not in building.gateways:
            _tell(f"warning: {building.name} lists no gateway {gateway.id}: it is stored, but locates nobody")


def _play(
    options: argparse.Namespace,
    broker: settings.Broker,
    made: play.Play,
    *,
    refused_rows: int = 0,
    about: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    truth: TruthFile | None = None,
) -> int:
    """Send it all through a fleet and report."""
    allow_files(len(made.receivers))
    gc.set_threshold(
        50_000
    )  # connections live long: looking through a million objects for garbage every second is 10 %
    manner = Manner(options.ramp, options.queue, options.wait, options.drain, options.progress)
    if "health" in options:
        manner = replace(manner, health_s=options.health, take_back=options.take_back)

    async def run() -> tuple[Fleet, float]:
        fleet = Fleet(broker, made, manner, _tell, truth)
        fleet.tally.refused_rows = refused_rows
        stop = _stop_by_signal()
        async with watch.asking(stop) if watch else contextlib.nullcontext():
            return fleet, await fleet.run(stop)

    fleet, seconds = asyncio.run(run())
    _report(options, {**(about or {}), **fleet.tally.summary(seconds)})
    return fleet.tally.exit_code


def _hacs(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    from simulator import hacs  # the HTTP client takes longer to import than all the rest

    staff = arguments.staff_ids(options.staff, lambda: _building(options, values).staff)
    poller = hacs.Poller(
        _url(options, values),
        arguments.in_bulk(staff) if options.bulk else staff,
        every_s=options.every,
        rate_per_s=options.rate,
        window_s=options.window,
        key=options.key or values.get("SDA_API_KEY"),
        duration_s=options.duration,
    )
    say = _ignore if options.quiet else _tell if options.json else print

    async def run() -> tuple[Any, float]:
        started_s = time.monotonic()
        tally = await hacs.poll(poller, _stop_by_signal(), say, _tell if options.quiet else _ignore)
        return tally, time.monotonic() - started_s

    tally, seconds = asyncio.run(run())
    _report(options, tally.summary(seconds))
    return int(tally.exit_code)


def _record(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    from simulator import record

    given = vars(options)
    action = record.Action(options.action, given.get("subject"), given.get("name"), given.get("to"))
    say = _tell if options.json else print
    try:
        done = asyncio.run(record.run(_url(options, values), options.key or values.get("SDA_API_KEY"), action, say))
    except record.RecordError as error:
        _tell(f"simulator: {error}")
        codes = {record.NoAnswerError: UNREACHABLE, record.KeyRefusedError: REFUSED}
        return codes.get(type(error), FAILED)
    if options.json:
        print(json.dumps(done), flush=True)
    return OK


def _url(options: argparse.Namespace, values: Mapping[str, str | None]) -> str:
    """Where the platform answers, without a slash at its end."""
    url = str(options.url or f"http://localhost:{settings.port(values, 'HTTP_PORT', 1880)}")
    if not url.startswith(("http://", "https://")):
        raise settings.SettingsError(f"--url {url!r} does not begin with http:// or https://")
    return url.rstrip("/")


def _building(options: argparse.Namespace, values: Mapping[str, str | None]) -> Building:
    return load(options.building or settings.building_file(values, Path.cwd()))


def _stop_by_signal() -> Stop:
    """SIGINT and SIGTERM ask to stop: once in order, twice at once."""
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.ask)
    return stop


def _report(options: argparse.Namespace, summary: dict[str, Any]) -> None:
    print(json.dumps(summary) if options.json else table(summary), flush=True)


def _tell(line: str) -> None:
    """For people, beside the result: standard error."""
    print(line, file=sys.stderr, flush=True)


def _ignore(_line: str) -> None:
    pass


if __name__ == "__main__":
    sys.exit(main())
