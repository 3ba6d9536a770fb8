"""`simulator`: reads the command line and the settings, runs one command, prints the result."""

import argparse
import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from simulator import arguments, replay, settings
from simulator.building import Building, BuildingError, load
from simulator.building_watch import BuildingWatch
from simulator.fleet import Fleet
from simulator.message import Receiver
from simulator.report import FAILED, OK, REFUSED, UNREACHABLE, USAGE, table
from simulator.run_options import RefusedError, RunOptions, Stop, TooManyFilesError, UnreachableError, raise_file_limit
from simulator.scenario import Phones, ScheduledBatch


def main() -> int:
    """Run the command line; returns the exit code (report.EXIT_CODES)."""
    options = arguments.parser().parse_args()
    values = {**dotenv_values(".env"), **os.environ}
    run = {"phones": _phones, "replay": _replay, "hacs": _hacs, "record": _record}[options.command]
    try:
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


def _phones(options: argparse.Namespace, values: Mapping[str, str | None]) -> int:
    file = options.building or settings.building_file(values, Path.cwd())
    watch = BuildingWatch(file, options.when_changed)
    while True:
        code = _run_phones(options, values, watch)
        if not watch.changed:
            return code
        _log(f"{file} has changed: " + watch.description)
        if not asyncio.run(watch.wait_until_usable(_stop_by_signal)):
            return OK


def _run_phones(options: argparse.Namespace, values: Mapping[str, str | None], watch: BuildingWatch) -> int:
    broker, building = settings.broker(values), load(watch.remember())
    phones = Phones(options.count, options.first, options.interval, options.readings, options.seed, options.duration)
    receivers = phones.receivers(building)
    ids = receivers[0].id if len(receivers) == 1 else f"{receivers[0].id} to {receivers[-1].id}"
    _log(f"{len(receivers):,} phones (SDA {ids}) in {building.name}, seed {phones.seed}, to {broker}")
    return _send(
        options, broker, receivers, phones.scheduled_batches(building), about={"seed": phones.seed}, watch=watch
    )


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
        _log(f"{options.file}:{line}: refused: {reason}")
    gateways = recording.gateways()
    if options.building or values.get("SDA_BUILDING"):
        _warn_of_unknown_gateways(_building(options, values), gateways)
    _log(
        f"{len(gateways)} gateways, {len(recording.rows):,} readings, {len(recording.refused):,} rows refused; "
        f"plays for {replay.duration_s(recording, options.speed):.0f} s to {broker}"
    )
    batches = replay.scheduled_batches(recording, options.speed)
    return _send(options, broker, gateways, batches, refused_rows=len(recording.refused))


def _warn_of_unknown_gateways(building: Building, gateways: list[Receiver]) -> None:
    for gateway in gateways:
        if gateway.id not in building.gateways:
            _log(f"warning: {building.name} lists no gateway {gateway.id}: its readings are stored, but locate nobody")


def _send(
    options: argparse.Namespace,
    broker: settings.Broker,
    receivers: list[Receiver],
    batches: Iterator[ScheduledBatch],
    *,
    refused_rows: int = 0,
    about: Mapping[str, Any] | None = None,
    watch: BuildingWatch | None = None,
) -> int:
    """Send all batches through a fleet and report."""
    raise_file_limit(len(receivers))
    gc.set_threshold(
        50_000
    )  # connections live long: collecting garbage in a million objects every second costs 10 % CPU
    run_options = RunOptions(options.ramp, options.queue, options.wait, options.drain, options.progress)

    async def run() -> tuple[Fleet, float]:
        fleet = Fleet(broker, receivers, run_options, _log)
        fleet.tally.refused_rows = refused_rows
        stop = _stop_by_signal()
        async with watch.stop_on_change(stop) if watch else contextlib.nullcontext():
            return fleet, await fleet.run(batches, stop)

    fleet, seconds = asyncio.run(run())
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
