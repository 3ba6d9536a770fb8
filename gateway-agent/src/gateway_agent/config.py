"""Reads the configuration (one TOML file, the environment, the password file) and names the key that is wrong."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING
from pathlib import Path
from typing import Any, get_origin

from gateway_agent import beacon_id
from gateway_agent.settings import Rule, Settings, rules
from gateway_agent.text_file import EncodingError, read_text

PREFIX = "SDA_GATEWAY_"
DEFAULT_FILE = Path("/etc/sda-gateway-agent/config.toml")


class ConfigError(Exception):
    """The configuration is invalid; the message names the key and the reason."""


def load(path: Path, environment: Mapping[str, str]) -> Settings:
    """Settings from ``path``; variables of ``environment`` override the file's values.

    Raises ConfigError. A missing file is an error unless the environment has every required key.
    """
    data: dict[str, Any] = {}
    try:
        data = tomllib.loads(read_text(path))
    except FileNotFoundError as error:
        if not any(name.startswith(PREFIX) for name in environment):
            raise ConfigError(
                f"{path} does not exist; write one (see the README) or name another with --config"
            ) from error
    except PermissionError as error:
        raise ConfigError(f"this user may not read {path}; run it as the agent's: sudo -u sda-gateway …") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except EncodingError as error:
        raise ConfigError(f"{path} {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error} (text needs quotes)") from error
    return validated(data, environment)


def password(settings: Settings) -> str:
    """The account's password. Raises ConfigError when its file cannot be read."""
    if not settings.broker.password_file:
        return settings.broker.password
    path = Path(settings.broker.password_file)
    try:
        return read_text(path).strip()
    except OSError as error:
        raise ConfigError(f"broker.password_file: {path} cannot be read: {error}") from error
    except EncodingError as error:
        raise ConfigError(f"broker.password_file: {path} {error}") from error


def from_arguments(path: Path | None) -> Settings:
    """Settings from ``--config``, else from SDA_GATEWAY_CONFIG, else from the default file."""
    environment = {name: value for name, value in os.environ.items() if name != PREFIX + "CONFIG"}
    return load(path or Path(os.environ.get(PREFIX + "CONFIG", DEFAULT_FILE)), environment)


def validated(data: dict[str, Any], environment: Mapping[str, str]) -> Settings:
    """Settings of a file's ``data``; SDA_GATEWAY_<KEY> or SDA_GATEWAY_<SECTION>_<KEY> override its values.

    Raises ConfigError naming the key.
    """
    _overlay(data, environment)
    settings: Settings = _section(Settings, data, "")
    _check_combinations(settings)
    return settings


def _overlay(data: dict[str, Any], environment: Mapping[str, str]) -> None:
    targets = {}
    for name, (kind, rule) in rules(Settings).items():
        if isinstance(rule, Rule):
            targets[PREFIX + name.upper()] = ("", name, kind)
        else:
            for inner, (inner_kind, _) in rules(rule).items():
                targets[f"{PREFIX}{name}_{inner}".upper()] = (name, inner, inner_kind)
    for variable, text in environment.items():
        if not variable.startswith(PREFIX):
            continue
        if variable not in targets:
            raise ConfigError(f"the environment's {variable} is no key of this agent")
        section, name, kind = targets[variable]
        holder = data.setdefault(section, {}) if section else data
        holder[name] = _from_text(variable, text, kind)


def _from_text(variable: str, text: str, kind: Any) -> Any:
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ConfigError(f"the environment's {variable} is {text!r}; true or false is needed")
        return text.lower() in ("true", "1")
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError as error:
            raise ConfigError(f"the environment's {variable} is {text!r}; a number is needed") from error
    return [item for item in re.split(r"[,\s]+", text) if item] if get_origin(kind) is list else text


def _section(of: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise ConfigError(f"{where.rstrip('.')} is {data!r}; a section [{where.rstrip('.')}] is needed")
    known = rules(of)
    for name in data:
        if name not in known:
            raise ConfigError(f"{where}{name} is no key of this agent; known here: {', '.join(known)}")
    values = {}
    for name, (kind, rule) in known.items():
        if isinstance(rule, Rule):
            values[name] = _value(where + name, data.get(name, MISSING), kind, rule)
        else:
            values[name] = _section(rule, data.get(name, {}), f"{where}{name}.")
    return of(**values)


def _value(name: str, value: Any, kind: Any, rule: Rule) -> Any:
    if value is MISSING:
        if rule.required:
            variable = PREFIX + name.replace(".", "_").upper()
            raise ConfigError(f"{name} is missing: {rule.doc} (in the file, or {variable} in the environment)")
        return list(rule.default) if isinstance(rule.default, tuple) else rule.default
    if get_origin(kind) is list:
        if not isinstance(value, list):
            raise ConfigError(f"{name} is {value!r}; a list of beacon ids is needed")
        try:
            return [beacon_id.normalise(item if isinstance(item, str) else repr(item)) for item in value]
        except ValueError as error:
            raise ConfigError(f"{name}: {error}") from error
    accepted = (int, float) if kind is float else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{name} is {'not shown' if rule.secret else repr(value)}; {_EXPECTED[kind]} is needed")
    if rule.low is not None and rule.high is not None and not rule.low <= value <= rule.high:
        raise ConfigError(f"{name} is {value}; it must lie between {rule.low:g} and {rule.high:g}")
    if rule.pattern is not None and not re.fullmatch(rule.pattern, str(value)):
        raise ConfigError(f"{name} is {value!r}; that is not {rule.doc}")
    if rule.choices and value not in rule.choices:
        raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(rule.choices)}")
    return kind(value)


_EXPECTED = {str: "text in quotes", int: "an integer", float: "a number", bool: "true or false"}


def _check_combinations(settings: Settings) -> None:
    broker, scan = settings.broker, settings.scan
    if broker.password and broker.password_file:
        raise ConfigError("broker.password and broker.password_file are both given; keep one")
    if bool(broker.client_cert) != bool(broker.client_key):
        raise ConfigError("broker.client_cert and broker.client_key belong together; give both or none")
    if broker.ca_file and not broker.tls:
        raise ConfigError("broker.ca_file is given but broker.tls is false; remove one of them")
    if scan.reset_after_s <= scan.restart_after_s:
        raise ConfigError("scan.reset_after_s must be longer than scan.restart_after_s")
