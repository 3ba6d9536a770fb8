"""Settings from the environment, else from `.env` in the working folder. Read once, refused early."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

USERNAME = "simulator"


class SettingsError(Exception):
    """A setting is missing or wrong; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Broker:
    """The MQTT broker and the account."""

    host: str
    port: int
    password: str
    username: str = USERNAME

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def broker(values: Mapping[str, str | None]) -> Broker:
    """MQTT_HOST (default localhost), MQTT_PORT (1883), MQTT_SIMULATOR_PASSWORD."""
    password = values.get("MQTT_SIMULATOR_PASSWORD")
    if not password:
        raise SettingsError(
            "MQTT_SIMULATOR_PASSWORD is neither in the environment nor in ./.env; `make up` writes it to the .env of"
            " the repository: run the simulator there, or through `make simulator`"
        )
    return Broker(values.get("MQTT_HOST") or "localhost", port(values, "MQTT_PORT", 1883), password)


def port(values: Mapping[str, str | None], key: str, default: int) -> int:
    text = values.get(key) or str(default)
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise SettingsError(f"{key} {text!r} is not a port (1 to 65535)")
    return int(text)


def building_file(values: Mapping[str, str | None], here: Path) -> Path:
    """SDA_BUILDING, else the demo building of the repository that `here` or this file lies in."""
    if given := values.get("SDA_BUILDING"):
        return Path(given)
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if (file := folder / "flows" / "building" / "demo.json").is_file():
            return file
    raise SettingsError("there is no building file: give one with --building or SDA_BUILDING")
