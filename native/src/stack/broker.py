"""The broker of an installation. Mosquitto is the core's; an extra may bring other kinds (extras.py)."""

from __future__ import annotations

import functools
import os
import signal
import sys
from typing import TYPE_CHECKING, ClassVar

from . import health
from .digest import digest
from .install import Part, mosquitto_part, mosquitto_program
from .layout import ROOT, VERSIONS
from .process import Process
from .stores import FIRST
from .supervisor import Supervisor, open_files
from .tool import run_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from .settings import Settings


class Broker:
    """A kind of broker: what it needs of the settings, how its files are written, and how it runs."""

    own_settings: ClassVar[Mapping[str, str]] = {}
    """Keys that `.env` has for it, with their defaults."""
    port_keys: tuple[str, ...] = ("MQTT_PORT", "MQTTS_PORT", "MQTT_READERS_PORT")
    """Keys of the ports that must be free and different."""
    bind_key: str = "MQTT_BIND"
    """Key of the address at which services of this machine connect, without TLS."""
    has_readers_listener: bool = True
    """Whether it has a listener with TLS for clients that read all readings."""
    has_certificate: bool = True
    """Whether its certificate is in the installation's data folder, and renewed by it."""
    keeps_order: bool = True
    """Whether messages of one publisher come in their order, also after a kill."""

    def parts(self) -> list[Part]:
        """What is to be installed."""
        return []

    def complete(self, values: dict[str, str]) -> None:
        """Set values that follow from others."""

    def check(self, values: Mapping[str, str], env_file: Path) -> None:
        """Raise StackError where values do not go together."""

    def listeners(self, settings: Settings) -> list[object]:
        """Options of `broker/provision.py`: where it listens, and what it takes."""
        raise NotImplementedError

    def render(self, settings: Settings) -> None:
        """Write accounts, rights, certificates and configuration, from `.env` and the accounts of the data folder."""
        command = ["--data", settings.data_dir / "broker", "--open-files", open_files(), *self.listeners(settings)]
        second = [store for store in settings.stores if store != FIRST]
        command += [part for store in second for part in ("--telegraf", store.name("telegraf"))]
        if os.geteuid() == 0:
            command += ["--user", "root"]  # else it switches to user `mosquitto` and cannot read root's files
        if not settings.demo:
            command += ["--no-simulator"]
        if settings["HTTPS_PORT"] and not settings["HTTPS_CERT"]:
            command += ["--https"]
        names = {"MQTTS_NAMES", "HTTP_NAMES"}
        variables = {key: settings[key] for key in settings.values if key.startswith("MQTT_") or key in names}
        run_tool("the broker's accounts", [sys.executable, ROOT / "broker" / "provision.py", *command], variables)

    def run(self, settings: Settings) -> list[Process]:
        """Its processes, in the order of their start."""
        raise NotImplementedError

    def save(self, settings: Settings) -> None:
        """Write now to disk what is written from time to time only."""


class Mosquitto(Broker):
    """A Mosquitto of the installation's own."""

    def parts(self) -> list[Part]:
        return [mosquitto_part()]

    def listeners(self, settings: Settings) -> list[object]:
        return ["--port", settings["MQTT_PORT"], "--bind", settings["MQTT_BIND"], "--tls-port", settings["MQTTS_PORT"],
                "--tls-bind", settings["MQTTS_BIND"], "--readers-port", settings["MQTT_READERS_PORT"]]  # fmt: skip

    def run(self, settings: Settings) -> list[Process]:
        data = settings.data_dir / "broker"
        start, configuration = ROOT / "broker" / "run.sh", ROOT / "broker" / "mosquitto.conf"
        read = [start, configuration, data / "listeners.d" / "listeners.conf", data / "sessions.json"]
        return [
            Process(
                name="mosquitto",
                version=VERSIONS["MOSQUITTO_SERIES"],
                command=("sh", str(start), mosquitto_program(), "-c", str(configuration)),
                directory=data,  # every path in mosquitto.conf is relative to it
                environment={},
                healthy=admits(settings),
                ports=self.port_keys,
                configuration=digest(read),
            )
        ]

    def save(self, settings: Settings) -> None:
        """A broker that is killed before its first snapshot forgets its subscribers: it acknowledges messages and keeps
        them for nobody."""
        Supervisor(settings.data_dir).signal("mosquitto", signal.SIGUSR1)


def admits(settings: Settings) -> Callable[[], health.Health]:
    """Whether the broker admits an account."""
    account = ("nodered-probe", settings["MQTT_NODERED_PASSWORD"], "nodered")
    return functools.partial(health.broker, settings.mqtt_host, settings.port("MQTT_PORT"), *account)
