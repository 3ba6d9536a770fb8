"""Which clients the broker admits: the rules of Mosquitto's two listeners for the one of NATS. Pure."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field

from passwords import matches
from rights import SESSIONS

from .subjects import Rights

WRONG_PASSWORD = "its password is not that of an account"  # noqa: S105 - a sentence for the log


@dataclass(frozen=True, slots=True)
class Login:
    """What a client said of itself, and how it came."""

    username: str
    password: str = field(repr=False)
    client_id: str
    host: str
    """Its address."""
    tls: bool
    mqtt: bool


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of one site, by user name."""

    hashes: Mapping[str, str]
    rights: Mapping[str, Rights]
    client_ids: Mapping[str, str]
    """The only client id of each service that is bound to one."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a client is not admitted; for the log, never for the client."""

    reason: str


def admit(login: Login, accounts: Accounts) -> Rights | Refusal:
    """The rights of a client, or why it has none."""
    if not login.mqtt:
        return Refusal("it does not speak MQTT")
    if not login.tls and not _is_loopback(login.host):
        return Refusal("it came from elsewhere without TLS")
    if not matches(login.password, accounts.hashes.get(login.username, "")):
        return Refusal(WRONG_PASSWORD)
    if reason := _wrong_client_id(login, accounts.client_ids.get(login.username)):
        return Refusal(reason)
    return accounts.rights.get(login.username, Rights())


def _wrong_client_id(login: Login, bound: str | None) -> str:
    """Why the client id is refused; empty: it is not."""
    own = SESSIONS.get(login.username)
    if bound is not None and (login.client_id != bound or login.tls):
        return f"a service works under the client id {bound} and without TLS only"
    if login.tls and login.client_id not in {login.username, own}:
        return "over TLS the client id must be the user name"
    if login.client_id != own and login.client_id in SESSIONS.values():
        return f"the client id {login.client_id} is that of a service"
    return ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
