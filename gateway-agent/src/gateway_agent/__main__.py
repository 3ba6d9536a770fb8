"""The command ``gateway-agent``."""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from gateway_agent import __version__, config
from gateway_agent.settings import Settings
from gateway_agent.validation import ConfigError

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
    from gateway_agent import outbox_report

    code, text = outbox_report.report(settings)
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
