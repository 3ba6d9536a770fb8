"""Reads the configuration: one TOML file, the environment, and the password file."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway_agent.settings import Settings
from gateway_agent.text_file import EncodingError, read_text
from gateway_agent.validation import PREFIX, ConfigError, validated

DEFAULT_FILE = Path("/etc/sda-gateway-agent/config.toml")


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
