"""`simulator`: reads the command line and the settings, runs one command, prints the result."""

import argparse
import asyncio
import contextlib
import functools
import gc
import io
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
from gateway_agent.text_file import EncodingError, read_text

from simulator import arguments, play, replay, settings
from simulator.building import Building, BuildingError, load
from simulator.building_watch import BuildingWatch
from simulator.fleet import Fleet
from simulator.message import Receiver
from simulator.report import FAILED, OK, REFUSED, UNREACHABLE, USAGE, table
from simulator.run_options import RefusedError, RunOptions, Stop, TooManyFilesError, UnreachableError, raise_file_limit
from simulator.truth import Journal, TruthFile


def main() -> int:
    """Run the command line; returns the exit code (report.EXIT_CODES)."""
    options = _options()
    values = {**dotenv_values(".env"), **os.environ}
    commands = {"replay": _replay, "hacs": _hacs, "record": _record}
    run = commands.get(options.command, _people)
    try:
        if "main" in options:  # a command of another package
            return int(options.main(options))
        return run(options, values)
    except (settings.SettingsError, BuildingError, replay.RecordingError, TooManyFilesError, ValueError) as error:
        _log(f"simulator: {error}")
        return USAGE
    except UnreachableError as error:
        _log(f"simulator: {error}. Is it running (make status)? Are MQTT_HOST and MQTT_PORT right?")
        return UNREACHABLE
    except RefusedError as error:
        _log(
            f"simulator: {error}. Is MQTT_SIMULATOR_PASSWORD right for this broker? "
            "Without the demo (SIM=0, your own building) this account does not exist: SIM=1 make up"
        )
        return REFUSED


def _options() -> argparse.Namespace:
    """The command line's, or those of the scenario file that it names."""
    parser = arguments.parser()
    options = parser.parse_args()
    if options.command != "run":
        return options
    try:
        given = arguments.of_scenario(read_text(options.file))
    except (OSError, EncodingError, arguments.ScenarioError) as error:
        parser.error(f"{options.file}: {error}")
    return parser.parse_args([*given, *options.rest])


def _people(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    file = options.building or settings.building_file(values, Path.cwd())
    watch = BuildingWatch(file, options.when_changed, functools.partial(play.playable, options.command))
    while True:
        code = _run_people(options, values, watch)
        if not watch.changed:
            return code
        _log(f"{file} has changed: " + watch.description)
        if not asyncio.run(watch.wait_until_usable(_stop_by_signal)):
            return OK


def _run_people(options: argparse.Namespace, values: Mapping[str, str | None], watch: BuildingWatch) -> int:
    accounts = settings.accounts(options.accounts) if options.accounts else None
    broker, building = settings.broker(values, accounts, options.ca), load(watch.remember())
    people = _people_options(options)
    played = {"phones": play.phones, "gateways": play.gateways, "mixed": play.mixed}[options.command](building, people)
    if missing := [one.id for one in played.receivers if accounts is not None and one.id not in accounts]:
        raise settings.SettingsError(f"{options.accounts} has no account of {missing[0]} (of {len(missing)} missing)")
    _log(f"{_description(played)} in {building.name}, seed {people.seed}, to {broker}")
    try:
        truth = TruthFile(options.truth, building, played.staff, people.seed) if options.truth else None
    except OSError as error:
        raise settings.SettingsError(f"--truth {options.truth}: cannot be written: {error.strerror}") from error
    try:
        journal = Journal(options.journal) if options.journal else None
    except OSError as error:
        raise settings.SettingsError(f"--journal {options.journal}: cannot be written: {error.strerror}") from error
    return _send(options, broker, played, about={"seed": people.seed}, watch=watch, truth=truth, journal=journal)


def _people_options(options: argparse.Namespace) -> play.People:
    given = vars(options)
    known = {
        name: given[name]
        for name in ("interval_s", "readings", "away", "low_batteries", "failing", "forgotten")
        if name in given
    }
    faults = play.Faults(
        duplicates=options.duplicates / 100,
        late=options.late / 100,
        malformed=options.malformed / 100,
        clock_skew_s=options.clock_skew,
    )
    return play.People(
        options.count, first=options.first, seed=options.seed, duration_s=options.duration, faults=faults, **known
    )


def _description(played: play.Play) -> str:
    """For example: 50 SDAs, 26 of them with phones, and 113 gateways."""
    with_phones = [one.id for one in played.receivers if one.kind == "phone"]
    if not played.gateways:
        ids = with_phones[0] if len(with_phones) == 1 else f"{with_phones[0]} to {with_phones[-1]}"
        return f"{len(with_phones):,} phones (SDA {ids})"
    people = f"{len(played.staff):,} SDAs, {len(with_phones):,} of them with phones"
    return f"{people}, and {len(played.gateways):,} gateways"


def _replay(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    broker = settings.broker(values)
    try:
        recording = replay.parse(io.StringIO(read_text(options.file), newline=""))
    except OSError as error:
        raise replay.RecordingError(f"{options.file}: cannot be read: {error}") from error
    except EncodingError as error:
        raise replay.RecordingError(f"{options.file}: {error}") from error
    except replay.RecordingError as error:
        raise replay.RecordingError(f"{options.file}: {error}") from error
    for line, reason in recording.refused:
        _log(f"{options.file}:{line}: refused: {reason}")
    gateways = recording.gateways()
    if options.building or values.get("SDA_BUILDING"):
        _warn_of_unknown_gateways(_building(options, values), gateways)
    _log(
        f"{len(gateways)} gateways, {len(recording.rows):,} readings, {len(recording.refused):,} rows refused; "
        f"plays for {replay.duration_s(recording, options.speed):.0f} s to {broker}"
    )
    recorded = play.Play(gateways, replay.scheduled_batches(recording, options.speed))
    return _send(options, broker, recorded, refused_rows=len(recording.refused))


def _warn_of_unknown_gateways(building: Building, gateways: list[Receiver]) -> None:
    for gateway in gateways:
        if gateway.id not in building.gateways:
            _log(f"warning: {building.name} lists no gateway {gateway.id}: its readings are stored, but locate nobody")


def _send(
    options: argparse.Namespace,
    broker: settings.Broker,
    played: play.Play,
    *,
    refused_rows: int = 0,
    about: Mapping[str, Any] | None = None,
    watch: BuildingWatch | None = None,
    truth: TruthFile | None = None,
    journal: Journal | None = None,
) -> int:
    """Send all batches through a fleet and report."""
    raise_file_limit(len(played.receivers))
    gc.set_threshold(
        50_000
    )  # connections live long: collecting garbage in a million objects every second costs 10 % CPU
    run_options = RunOptions(
        ramp_per_s=options.ramp,
        queue=options.queue,
        wait_s=options.wait,
        drain_s=options.drain,
        progress_s=options.progress,
        replay_s=options.replay,
        held=options.held,
    )
    if "health" in options:
        run_options = replace(run_options, health_s=options.health, final_status=options.final_status)

    async def run() -> tuple[Fleet, float]:
        fleet = Fleet(broker, played, run_options, _log, truth, journal)
        fleet.tally.refused_rows = refused_rows
        stop = _stop_by_signal()
        async with watch.stop_on_change(stop) if watch else contextlib.nullcontext():
            return fleet, await fleet.run(stop)

    try:
        fleet, seconds = asyncio.run(run())
    finally:
        if journal is not None:
            journal.close()
    _report(options, {**(about or {}), **fleet.tally.summary(seconds)})
    return fleet.tally.exit_code


def _hacs(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    from simulator import hacs  # importing the HTTP client takes longer than all the rest

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
    output = _discard if options.quiet else _log if options.json else print

    async def run() -> tuple[Any, float]:
        started_s = time.monotonic()
        tally = await hacs.poll(poller, _stop_by_signal(), output, _log if options.quiet else _discard)
        return tally, time.monotonic() - started_s

    tally, seconds = asyncio.run(run())
    _report(options, tally.summary(seconds))
    return int(tally.exit_code)


def _record(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    from simulator import record

    given = vars(options)
    action = record.Action(options.action, given.get("subject"), given.get("name"), given.get("to"))
    output = _log if options.json else print
    try:
        done = asyncio.run(record.run(_url(options, values), options.key or values.get("SDA_API_KEY"), action, output))
    except record.RecordError as error:
        _log(f"simulator: {error}")
        codes = {record.NoAnswerError: UNREACHABLE, record.KeyRefusedError: REFUSED}
        return codes.get(type(error), FAILED)
    if options.json:
        print(json.dumps(done), flush=True)
    return OK


def _url(options: argparse.Namespace, values: Mapping[str, str | None]) -> str:
    """The platform's base URL, without a slash at its end."""
    url = str(options.url or f"http://localhost:{settings.port(values, 'HTTP_PORT', 1880)}")
    if not url.startswith(("http://", "https://")):
        raise settings.SettingsError(f"--url {url!r} does not begin with http:// or https://")
    return url.rstrip("/")


def _building(options: argparse.Namespace, values: Mapping[str, str | None]) -> Building:
    return load(options.building or settings.building_file(values, Path.cwd()))


def _stop_by_signal() -> Stop:
    """SIGINT and SIGTERM request a stop: the first a clean one, the second an immediate one."""
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.request)
    return stop


def _report(options: argparse.Namespace, summary: dict[str, Any]) -> None:
    print(json.dumps(summary) if options.json else table(summary), flush=True)


def _log(line: str) -> None:
    """Print a message to standard error, apart from the result."""
    print(line, file=sys.stderr, flush=True)


def _discard(_line: str) -> None:
    pass


if __name__ == "__main__":
    sys.exit(main())
