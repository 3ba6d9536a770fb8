"""The settings of one installation: `.env`, overridden by the environment, checked before anything starts."""

import ipaddress
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dotenv import dotenv_values

from .broker import Broker
from .errors import StackError
from .extras import brokers, stores
from .layout import ROOT
from .stores import FIRST, Store, Stores

PORT_KEYS = (
    "MQTT_PORT",
    "MQTTS_PORT",
    "MQTT_READERS_PORT",
    "INFLUX_PORT",
    "HTTP_PORT",
    "TELEGRAF_PORT",
    "SPOOL_PORT",
    "READINGS_PORT",
)
OPTIONAL_PORT_KEYS = ("HTTPS_PORT",)
"""Empty: no listener."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one installation."""

    env_file: Path
    values: Mapping[str, str]
    environment: Mapping[str, str]
    """The environment that overrode the file."""
    demo: bool
    """Whether the simulator runs and its broker account exists."""

    def __getitem__(self, key: str) -> str:
        return self.values[key]

    def port(self, key: str) -> int:
        return int(self.values[key])

    @property
    def data_dir(self) -> Path:
        return ROOT / self.values["DATA_DIR"]

    @property
    def building(self) -> Path:
        return ROOT / self.values["SDA_BUILDING"]

    @property
    def port_keys(self) -> tuple[str, ...]:
        """Keys of the ports in use."""
        return _port_keys(self.values)

    @property
    def https_certificate(self) -> tuple[Path, Path]:
        """Certificate and key of HTTPS: the operator's own, or the one of the installation's authority."""
        own = self.data_dir / "broker" / "https"
        cert, key = self.values["HTTPS_CERT"], self.values["HTTPS_KEY"]
        return (ROOT / cert, ROOT / key) if cert else (own / "server.crt", own / "server.key")

    @property
    def http_url(self) -> str:
        return f"http://{_bracketed(reachable(self['HTTP_BIND']))}:{self['HTTP_PORT']}"

    @property
    def broker(self) -> Broker:
        """The kind of broker."""
        return brokers()[self["BROKER"]]

    @property
    def stores_kind(self) -> Stores:
        """What there is besides each InfluxDB."""
        return stores()[self["STORES"]]

    @property
    def stores(self) -> tuple[Store, ...]:
        """The InfluxDBs."""
        return self.stores_kind.all

    @property
    def mqtt_host(self) -> str:
        """Host under which services of this machine reach the broker without TLS."""
        return reachable(self[self.broker.bind_key])

    def mqtt_url_from(self, part: str) -> str:
        """The plain listener as `part` reaches it."""
        return f"tcp://{_bracketed(self.mqtt_host)}:{self.port_from(part, 'mosquitto', 'MQTT_PORT')}"

    def mqtt_readers_url_from(self, part: str) -> str:
        """The listener for clients that read all readings, as `part` reaches it; else the plain one."""
        if not self.broker.has_readers_listener:
            return self.mqtt_url_from(part)
        return f"ssl://{_bracketed(self.mqtt_host)}:{self.port_from(part, 'mosquitto', 'MQTT_READERS_PORT')}"

    def influx_url_from(self, part: str, store: Store = FIRST) -> str:
        """A database as `part` reaches it."""
        return f"http://127.0.0.1:{self.port_from(part, store.name('influxd'), store.key('INFLUX_PORT'))}"

    def port_from(self, part: str, other: str, key: str) -> int:
        """Port at which `part` reaches `other`: its own, or that of a proxy between them (see links.py)."""
        ways = dict(one.split("=") for one in self.environment.get("LINK_PORTS", "").split(",") if one)
        return int(ways.get(f"{part}-{other}", self[key]))

    @property
    def influx_url(self) -> str:
        return self.url_of("INFLUX_PORT")

    @property
    def spool_url(self) -> str:
        return self.url_of("SPOOL_PORT")

    def url_of(self, key: str, store: Store = FIRST) -> str:
        """Where a part of a store listens: `INFLUX_PORT`, `SPOOL_PORT`, `TELEGRAF_PORT`, `READINGS_PORT`."""
        return f"http://127.0.0.1:{self[store.key(key)]}"


def reachable(bind: str) -> str:
    """The address under which this machine itself reaches a listener bound to `bind`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bind, bind)  # noqa: S104 - compared, not bound


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


ENV_FILE = Path(os.environ.get("STACK_ENV_FILE") or ROOT / ".env")
"""STACK_ENV_FILE names another file, for a second installation from the same clone."""


def load(env_file: Path = ENV_FILE, environment: Mapping[str, str] = os.environ) -> Settings:
    """Write `env_file` if it is missing, read it, and check every value.

    Raises:
        StackError: naming the key, what is wrong with it and the remedy.
    """
    command: list[str | Path] = ["sh", ROOT / "native" / "env.sh", env_file]
    variables = {"PATH": os.environ["PATH"], **environment}
    made = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if made.returncode:
        raise StackError(made.stderr.removeprefix("error: ").strip())
    in_file = _read(env_file)
    broker = _chosen("BROKER", brokers(), environment.get("BROKER") or in_file["BROKER"], env_file)
    several = _chosen("STORES", stores(), environment.get("STORES") or in_file.get("STORES", "1"), env_file)
    own = {**brokers()[broker].own_settings, **stores()[several].own_settings}
    if several != in_file.get("STORES", "1"):
        own["STORES"] = several
        write_env(env_file, {"STORES": several})
    _add(env_file, {key: environment.get(key) or default for key, default in own.items() if key not in in_file})
    from_file = _read(env_file)
    values = {"STORES": "1"} | from_file | {key: environment[key] for key in from_file if environment.get(key)}
    brokers()[broker].complete(values)
    subprocess.run(["sh", "native/building.sh", values["SDA_BUILDING"]], cwd=ROOT, check=True)
    _check(values, env_file)
    return Settings(env_file, values, environment, _demo(values))


def _demo(values: Mapping[str, str]) -> bool:
    command = ["sh", "native/demo.sh", values["SIM"], values["SDA_BUILDING"]]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if asked.returncode not in {0, 1}:
        raise StackError(asked.stderr.removeprefix("error: ").strip())
    return asked.returncode == 0


def _read(env_file: Path) -> dict[str, str]:
    try:
        return {key: value or "" for key, value in dotenv_values(env_file, interpolate=False).items()}
    except UnicodeDecodeError:
        raise StackError(f"{env_file} is not text; restore it, or move it away to start with a new one") from None


def _chosen(key: str, kinds: Mapping[str, object], value: str, env_file: Path) -> str:
    """The value, if there is such a kind. Raises StackError."""
    if value not in kinds:
        raise StackError(
            f"{key}={value} for {env_file} is none of {', '.join(kinds)}; where an extra has it, "
            f"EXTRA=its-name before the command installs it (extras/README.md)"
        )
    return value


def _port_keys(values: Mapping[str, str]) -> tuple[str, ...]:
    kinds = brokers()[values["BROKER"]].port_keys + stores()[values["STORES"]].port_keys
    return (*kinds, "HTTP_PORT", *(key for key in OPTIONAL_PORT_KEYS if values[key]))


def keep_broker(settings: Settings) -> None:
    """Write a broker chosen by the environment into `.env`, so that later commands find the same one."""
    write_env(settings.env_file, {"BROKER": settings["BROKER"]})


def write_env(env_file: Path, values: Mapping[str, str]) -> None:
    """Change the values of keys that `.env` has."""
    lines = env_file.read_text().splitlines()
    kept = [f"{key}={values[key]}" if (key := line.partition("=")[0]) in values else line for line in lines]
    if kept != lines:
        _replace(env_file, "\n".join(kept) + "\n")


def _add(env_file: Path, values: Mapping[str, str]) -> None:
    """Add keys to `.env`, above the values that native/compose works out."""
    if not values:
        return
    settings, mark, worked_out = env_file.read_text().partition("# Worked out")
    _replace(env_file, settings + "".join(f"{key}={value}\n" for key, value in values.items()) + mark + worked_out)


def _replace(env_file: Path, text: str) -> None:
    fresh = env_file.with_name(env_file.name + ".new")
    fresh.touch(mode=0o600)
    fresh.write_text(text)
    fresh.replace(env_file)


def _check(values: Mapping[str, str], env_file: Path) -> None:
    port_keys = _port_keys(values)
    for key in port_keys:
        if not (values[key].isascii() and values[key].isdecimal()) or not 0 < int(values[key]) < 65536:
            raise StackError(f"{key}={values[key]} in {env_file} is not a port; give a number from 1 to 65535")
    ports = [values[key] for key in port_keys]
    for key, port in zip(port_keys, ports, strict=True):
        if ports.count(port) > 1:
            raise StackError(f"{key}={port} in {env_file} is used twice; give each part its own port")
    for key in ("MQTT_BIND", "MQTTS_BIND", "HTTP_BIND", "HTTPS_BIND"):
        try:
            ipaddress.ip_address(values[key])
        except ValueError:
            raise StackError(f"{key}={values[key]} in {env_file} is not an IP address (127.0.0.1, 0.0.0.0)") from None
    _check_https(values, env_file)
    brokers()[values["BROKER"]].check(values, env_file)
    data_dir = (ROOT / values["DATA_DIR"]).resolve()
    if not values["DATA_DIR"] or data_dir == ROOT or data_dir in ROOT.parents:
        raise StackError(f"DATA_DIR={values['DATA_DIR']} in {env_file} must be a separate folder, such as .data")
    if not (ROOT / values["SDA_BUILDING"]).is_file():
        raise StackError(f"SDA_BUILDING={values['SDA_BUILDING']} in {env_file} is no file; give a building file's path")


def _check_https(values: Mapping[str, str], env_file: Path) -> None:
    if values["HTTPS_PORT"] and not ipaddress.ip_address(values["HTTP_BIND"]).is_loopback:
        raise StackError(
            f"HTTP_BIND={values['HTTP_BIND']} in {env_file} must be 127.0.0.1 while HTTPS_PORT is set: "
            "plain HTTP is then only for this machine"
        )
    files = {key: values[key] for key in ("HTTPS_CERT", "HTTPS_KEY")}
    if len(given := [key for key, value in files.items() if value]) == 1:
        raise StackError(
            f"{given[0]} in {env_file} is set alone; HTTPS_CERT and HTTPS_KEY belong together: set both or none"
        )
    for key, value in files.items():
        if value and not os.access(ROOT / value, os.R_OK):
            raise StackError(f"{key}={value} in {env_file} is no file that this user can read; give a PEM file's path")
