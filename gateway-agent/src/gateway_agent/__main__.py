"""The command ``gateway-agent``."""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sqlite3
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway_agent import __version__, config
from gateway_agent.config import ConfigError
from gateway_agent.settings import Settings

LISTED = 10  # batches of `gateway-agent outbox`
TEACHING = """\
examples:
  gateway-agent scan                       which beacons are near? (needs no configuration)
  gateway-agent doctor                     checks everything and says what to do
  gateway-agent run                        the service; systemd starts this
  gateway-agent outbox                     which batches wait for the broker?

Configuration: /etc/sda-gateway-agent/config.toml, or --config FILE, or SDA_GATEWAY_CONFIG. Every key can also be set in
the environment: SDA_GATEWAY_ID for `id`, SDA_GATEWAY_BROKER_HOST for `host` in [broker], and so on. The least:

  id = "pi-lobby"

  [broker]
  host = "locator.example.org"
  password_file = "/etc/sda-gateway-agent/password"
  ca_file = "/etc/sda-gateway-agent/ca.crt"
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gateway-agent",
        description="Scans Bluetooth beacons and publishes readings to the platform's MQTT broker; keeps them on disk "
        "while the broker is away.",
        epilog=TEACHING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, about: str, more: str, configured: bool = True) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}. {more}")
        if configured:
            made.add_argument("--config", type=Path, metavar="FILE", help="the configuration file")
        return made

    command(
        "run",
        "scan, store and publish until stopped",
        "Shuts down cleanly on SIGTERM and Ctrl-C; one agent per state_dir.",
    )
    scan = command("scan", "show a live table of received adverts", "Reads no configuration. Ctrl-C ends it.", False)
    scan.add_argument(
        "--adapter", default="", metavar="NAME", help="the adapter, hciN or address (default: lowest address)"
    )
    scan.add_argument(
        "--seconds", type=float, metavar="N", help="end after so long (default: Ctrl-C; 10 without a terminal)"
    )
    command(
        "doctor",
        "check adapter, permissions, BlueZ, broker, TLS, account, rights, clock and disk",
        "Each line says OK, WARN or FAIL and what to do; returns 1 when something failed. Harmless beside the agent.",
    )
    command("outbox", "show the batches that wait for the broker", "Only reads.")
    return parser


def _run(settings: Settings) -> int:
    from gateway_agent.agent import Agent
    from gateway_agent.state import AgentLock, AlreadyRunningError

    log = logging.getLogger(__name__)
    lock = AgentLock(Path(settings.state_dir))

    async def work() -> None:
        task = asyncio.create_task(Agent(settings, lock.acquire).run())

        def end() -> None:
            if not task.cancelling():  # a second Ctrl-C must not cancel the shutdown
                task.cancel()

        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, end)
        with contextlib.suppress(asyncio.CancelledError):
            await task

    os.umask(0o077)  # other users of this machine must not read where people were
    try:
        lock.acquire()
    except AlreadyRunningError as error:
        log.error("%s", error)  # noqa: TRY400 - the message is enough
        return 1
    except OSError as error:  # the agent scans anyway; the outbox logs the error and retries
        log.debug("%s", error)
    asyncio.run(work())
    lock.release()
    return 0


def _complete(work: Coroutine[Any, Any, int]) -> int:
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        return 0


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit code: 2 for a configuration that cannot be used."""
    options = _parser().parse_args(arguments)
    if options.command == "scan":
        from gateway_agent import scan_table

        return _complete(scan_table.run(options.adapter, options.seconds))
    try:
        settings = config.from_arguments(options.config)
    except ConfigError as error:
        print(f"gateway-agent: {error}", file=sys.stderr)
        return 2
    # systemd adds the time; a terminal needs it.
    time = "" if "JOURNAL_STREAM" in os.environ else "%(asctime)s "
    logging.basicConfig(format=time + "%(levelname)s %(message)s", level=settings.log_level.upper(), stream=sys.stderr)
    if options.command == "run":
        return _run(settings)
    if options.command == "doctor":
        from gateway_agent import doctor

        return _complete(doctor.run(settings))
    code, text = outbox_report(settings)
    print(text)
    return code


def outbox_report(settings: Settings) -> tuple[int, str]:
    """The outbox in words: exit code and text."""
    from gateway_agent import state
    from gateway_agent.outbox import peek

    folder = Path(settings.state_dir)
    try:
        running, found = state.is_running(folder), peek(folder, LISTED)
    except (sqlite3.Error, PermissionError) as error:
        return 1, f"{folder}: {error}; run this as the agent's user: sudo -u sda-gateway …"
    if found is None:
        return 0, f"{folder}: no outbox yet; the agent has not run with this folder"
    depth, oldest = found
    replay_s = settings.outbox.replay_s
    share = depth.used_bytes / (settings.outbox.max_mib << 20)
    lines = [
        f"agent        {'running' if running else 'not running'}",
        f"waiting      {depth.waiting} readings in {depth.waiting_batches} batches",
        f"without time {depth.timeless} batches (they get a time when the clock is synchronised)",
        f"held         {depth.held} readings, acknowledged; sent again if the broker loses them in {replay_s:.0f} s",
        f"size         {depth.used_bytes / 2**20:.1f} MiB, {share:.0%} of outbox.max_mib",
    ]
    if oldest:
        lines += ["", f"the oldest waiting batches ({len(oldest)} of {depth.waiting_batches}):"]
        lines += [f"  {_time(batch.ts)}  {batch.readings:4} readings  #{batch.id}" for batch in oldest]
    return 0, "\n".join(lines)


def _time(ts: int) -> str:
    return datetime.fromtimestamp(ts / 1000, UTC).isoformat(timespec="milliseconds")


if __name__ == "__main__":
    sys.exit(main())
