"""Settings from the environment, else from `.env` in the working folder. Read once, refused early."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gateway_agent.text_file import EncodingError, read_text

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
    accounts: Mapping[str, str] | None = None
    """Password by receiver id, where each receiver has an account of its own."""
    ca_file: Path | None = None
    """Certificate of the CA to trust: the connection is encrypted; None: it is not."""

    def as_account(self, receiver_id: str) -> "Broker":
        """The same broker under a receiver's own account."""
        return replace(self, username=receiver_id, password=(self.accounts or {})[receiver_id])

    def tls_context(self) -> ssl.SSLContext | None:
        """What all connections share; None: they are not encrypted. Raises SettingsError."""
        if self.ca_file is None:
            return None
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise SettingsError(f"--ca {self.ca_file}: is not a certificate in PEM: {error}") from error

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def broker(
    values: Mapping[str, str | None], accounts: Mapping[str, str] | None = None, ca_file: Path | None = None
) -> Broker:
    """MQTT_HOST (default localhost), MQTT_PORT (1883; MQTTS_PORT, 8883, with a CA), MQTT_SIMULATOR_PASSWORD (not needed
    where each receiver has an account of its own)."""
    if ca_file is not None and not ca_file.is_file():
        raise SettingsError(f"--ca {ca_file}: there is no such file")
    key, default = ("MQTT_PORT", 1883) if ca_file is None else ("MQTTS_PORT", 8883)
    password = values.get("MQTT_SIMULATOR_PASSWORD") or ""
    if not password and accounts is None:
        raise SettingsError(
            "MQTT_SIMULATOR_PASSWORD is neither in the environment nor in ./.env; `make up` writes it to the .env of"
            " the repository: run the simulator there, or through `make simulator`"
        )
    host = values.get("MQTT_HOST") or "localhost"
    return Broker(host, port(values, key, default), password, accounts=accounts, ca_file=ca_file)


def accounts(path: Path) -> dict[str, str]:
    """Password by id, of a file with `id<tab>password` in each line, as `make account` prints it for several ids."""
    try:
        lines = [line for line in read_text(path).splitlines() if line.strip()]
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error
    except EncodingError as error:
        raise SettingsError(f"{path}: {error}") from error
    found = {}
    for number, line in enumerate(lines, 1):
        its_id, tab, password = line.partition("\t")
        if not tab or not its_id.strip() or not password.strip():
            raise SettingsError(f"{path}:{number}: is not 'id<tab>password', as `make account` prints it")
        found[its_id.strip()] = password.strip()
    return found


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
