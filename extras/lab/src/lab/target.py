"""The platform that a run aims at: addresses and secrets, from a scratch stack, a `.env` or a TOML file."""

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from gateway_agent.text_file import EncodingError, read_text

SECRETS = ("key", "viewer_password", "mqtt_password", "influx_token", "influx_write_token")
FROM_ENVIRONMENT = {
    "key": "LAB_API_KEY", "viewer_password": "LAB_VIEWER_PASSWORD", "mqtt_password": "MQTT_SIMULATOR_PASSWORD",
    "influx_token": "INFLUX_READ_TOKEN",
    "influx_write_token": "INFLUX_ADMIN_TOKEN",
}  # fmt: skip


class TargetError(Exception):
    """The target cannot be used; the message says what is missing and where it is given."""


@dataclass(frozen=True, slots=True)
class Target:
    """Addresses and secrets. It never goes into a run folder; `shown` does."""

    url: str
    mqtt_host: str = "127.0.0.1"
    mqtt_port: int = 1883
    ca: str = ""
    """The authority's certificate for HTTPS and MQTT; empty: the system's, and MQTT without TLS."""
    mqtt_tls: bool = False
    accounts: str = ""
    """A file with `id<tab>password` in each line: each receiver has its own account."""
    influx_url: str = ""
    key: str = ""
    viewer: str = "viewer"
    """Login of dashboard pages."""
    viewer_password: str = ""
    mqtt_password: str = ""
    influx_token: str = ""
    """Reads; empty: nothing can be counted."""
    influx_write_token: str = ""
    """Writes; empty: no history can be stored."""
    building_file: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)
    """Process id by part, where the parts run on this machine."""
    versions: Mapping[str, str] = field(default_factory=dict)
    scratch: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def shown(self) -> dict[str, Any]:
        """What a report may say of it."""
        return {
            name: value for name, value in asdict(self).items() if name not in (*SECRETS, "parts", "accounts", "ca")
        }


def from_json(text: str) -> Target:
    return Target(**json.loads(text))


def read(path: Path, environment: Mapping[str, str] = os.environ) -> Target:
    """A target from the `.env` of an installation on this machine, or from a TOML file with the fields of `Target` but
    the secrets, which come from the environment (FROM_ENVIRONMENT). Raises TargetError."""
    if not path.is_file():
        raise TargetError(f"--target {path}: there is no such file; give the .env of an installation, or a TOML file")
    if path.suffix != ".toml":
        return _of_installation(path, environment)
    try:
        values = tomllib.loads(read_text(path))
    except (EncodingError, tomllib.TOMLDecodeError) as error:
        raise TargetError(f"{path}: {error}") from error
    if given := [name for name in SECRETS if name in values]:
        raise TargetError(f"{path}: {given[0]} is a secret: give it in the environment, {FROM_ENVIRONMENT[given[0]]}")
    secrets = {name: environment.get(key, "") for name, key in FROM_ENVIRONMENT.items()}
    try:
        return Target(**{**values, **secrets})
    except TypeError as error:
        raise TargetError(f"{path}: {str(error).replace('Target.__init__() ', '')}") from error


def _of_installation(path: Path, environment: Mapping[str, str]) -> Target:
    file = {key: value or "" for key, value in dotenv_values(path).items()}
    values = {**file, **{key: environment[key] for key in file if environment.get(key)}}
    try:
        return Target(
            url=f"http://127.0.0.1:{values['HTTP_PORT']}",
            mqtt_port=int(values["MQTT_PORT"]),
            influx_url=f"http://127.0.0.1:{values['INFLUX_PORT']}",
            key=values["SDA_API_KEY"],
            viewer=values.get("SDA_VIEWER_USER", ""),
            viewer_password=values.get("SDA_VIEWER_PASSWORD", ""),
            mqtt_password=values.get("MQTT_SIMULATOR_PASSWORD", ""),
            influx_token=values.get("INFLUX_READ_TOKEN", ""),
            influx_write_token=values.get("INFLUX_ADMIN_TOKEN", ""),
        )
    except KeyError as error:
        raise TargetError(f"{path}: {error} is missing; is it the .env of an installation?") from error
