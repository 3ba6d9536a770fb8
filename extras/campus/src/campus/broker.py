"""NATS as a broker: one node of an installation's own (BROKER=nats), or a cluster for several sites (`cluster`)."""

from __future__ import annotations

import functools
import ipaddress
import sys
from typing import TYPE_CHECKING, ClassVar

from stack.broker import Broker, admits
from stack.digest import digest
from stack.errors import StackError
from stack.layout import ROOT
from stack.process import Process
from stack.supervisor import open_files
from stack.tool import run_tool

from . import health
from .install import HERE, VERSIONS, nats_part, nats_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from stack.health import Health
    from stack.install import Part
    from stack.settings import Settings

CALLOUTS = (1, 2)
"""Two, since nobody can connect to NATS without one."""
REFUSED = ["--other-broker", "NATS", "--refused-in-ids", "."]
MODULES = {"PYTHONPATH": f"{ROOT / 'broker'}:{HERE / 'broker'}"}


class OneNode(Broker):
    """A nats-server of the installation's own and two callouts. Its one MQTT listener is for receivers and services."""

    own_settings: ClassVar[Mapping[str, str]] = {"NATS_PORT": "4222"}
    port_keys = ("NATS_PORT", "MQTTS_PORT")
    bind_key = "MQTTS_BIND"
    has_readers_listener = False
    keeps_order = False

    def parts(self) -> list[Part]:
        return [nats_part()]

    def complete(self, values: dict[str, str]) -> None:
        values["MQTT_PORT"] = values["MQTTS_PORT"]

    def check(self, values: Mapping[str, str], env_file: Path) -> None:
        address = ipaddress.ip_address(values["MQTTS_BIND"])
        if not (address.is_unspecified or address.is_loopback):
            raise StackError(
                f"MQTTS_BIND={values['MQTTS_BIND']} in {env_file} must be 0.0.0.0, :: or 127.0.0.1 with BROKER=nats: "
                "services of this machine use the same listener, over loopback"
            )

    def listeners(self, settings: Settings) -> list[object]:
        return ["--port", settings["MQTT_PORT"], "--tls-port", settings["MQTTS_PORT"], "--tls-bind",
                settings["MQTTS_BIND"], *REFUSED]  # fmt: skip

    def render(self, settings: Settings) -> None:
        super().render(settings)
        command = [sys.executable, HERE / "broker" / "one_node.py", "--data", settings.data_dir / "broker",
                   "--port", settings["NATS_PORT"], "--tls-port", settings["MQTTS_PORT"],
                   "--tls-bind", settings["MQTTS_BIND"], "--open-files", open_files()]  # fmt: skip
        run_tool("NATS", command, MODULES)

    def run(self, settings: Settings) -> list[Process]:
        data, port = settings.data_dir / "broker", settings.port("NATS_PORT")
        mqtt_port = settings.port("MQTTS_PORT")
        return [
            nats_node(data, "nats", "nats", port, *self.port_keys),
            *(callout(data, number, port, mqtt_port, admits(settings)) for number in CALLOUTS),
        ]


class Elsewhere(Broker):
    """A cluster for several sites, which `make campus` runs beside them."""

    has_readers_listener = False
    has_certificate = False
    keeps_order = False

    def check(self, values: Mapping[str, str], env_file: Path) -> None:
        if values["HTTPS_PORT"] and not values["HTTPS_CERT"]:
            raise StackError(
                f"HTTPS_PORT in {env_file} needs HTTPS_CERT and HTTPS_KEY with BROKER=cluster: the authority of "
                "receivers is the cluster's, not this site's"
            )

    def listeners(self, _settings: Settings) -> list[object]:
        return ["--tls-port", 0, *REFUSED]

    def run(self, _settings: Settings) -> list[Process]:
        return []


def nats_node(data: Path, name: str, configuration: str, port: int, *port_keys: str) -> Process:
    """A nats-server.

    Args:
        data: the broker's data folder.
        name: of the process.
        configuration: name of its file in the folder `nats`.
        port: of NATS' own protocol.
        port_keys: keys of `.env` whose ports it listens on.
    """
    file = data / "nats" / f"{configuration}.conf"
    return Process(
        name=name,
        version=VERSIONS["NATS_VERSION"],
        command=(str(nats_program()), "--config", str(file)),
        directory=data,  # every path in its configuration is relative to it
        environment={},
        healthy=functools.partial(health.listens, "127.0.0.1", port),
        ports=port_keys,
        stop_within_s=30,
        configuration=digest([file]),
    )


def callout(data: Path, number: int, port: int, mqtt_port: int, admission: Callable[[], Health], *more: str) -> Process:
    """A process that admits clients to NATS.

    Args:
        data: the broker's data folder.
        number: which one it is.
        port: NATS' own port of the node that it works with.
        mqtt_port: where it publishes the broker's figures.
        admission: whether the broker admits an account.
        more: options.
    """
    ready = data / "nats" / f"callout-{number}.ready"
    folders = (ROOT / "broker", HERE / "broker", HERE / "broker" / "callout")
    sources = [*(file for folder in folders for file in folder.glob("*.py")), data / "nats" / "keys.json"]
    return Process(
        name=f"callout-{number}",
        version=VERSIONS["NATS_VERSION"],
        command=(sys.executable, "-m", "callout", "--data", str(data), "--port", str(port),
                 "--mqtt-port", str(mqtt_port), "--ready", str(ready), *more),
        directory=data,
        environment=MODULES,
        healthy=functools.partial(health.callout, ready, admission),
        configuration=digest(sources),
    )  # fmt: skip
