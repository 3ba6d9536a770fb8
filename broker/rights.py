"""Valid account ids, and the rights of each kind of account. Pure."""

import json
import re
from collections.abc import Collection, Mapping

TELEGRAF_INPUTS = ("readings", "gateway_status", "gateway_health", "locations", "events", "rejected", "flows_health")
SECOND_TELEGRAF = "telegraf-2"
"""Fills a second InfluxDB where there is one, with sessions of its own and the rights of the first."""
# Service -> the only client id of its account. Over TLS the client id is the user name, so only the other listener
# accepts these accounts; no account's id has a "/".
SESSIONS: Mapping[str, str] = {
    **{
        f"{telegraf}-{name}": f"{telegraf}/{name}"
        for telegraf in ("telegraf", SECOND_TELEGRAF)
        for name in TELEGRAF_INPUTS
    },
    "nodered": "nodered/flows",  # subscribes
    "nodered-publisher": "nodered/publisher",
    "nodered-operator": "nodered/operator",  # commands on this machine
    # Checks whether the broker accepts connections; has no rights. Its client id was once Node-RED's: it ends that old
    # session.
    "nodered-probe": "nodered",
}
# The simulator connects once for each simulated receiver. No receiver may have one of these ids.
SERVICES = (*SESSIONS, "simulator", "telegraf", SECOND_TELEGRAF)

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

# Per kind: (access, topic); {id} is the account's id. Under MQTT 3.1.1 a denied publish is acknowledged and dropped.
RIGHTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "gateway": (
        ("write", "sda/v1/gateway/{id}/readings"),
        ("write", "sda/v1/gateway/{id}/status"),
        ("write", "sda/v1/gateway/{id}/health"),
        ("read", "sda/v1/gateway/{id}/config"),
        # Shows whether the broker restarted since an acknowledgement: it loses messages that are not in a snapshot.
        ("read", "$SYS/broker/uptime"),
    ),
    "phone": (
        ("write", "sda/v1/phone/{id}/readings"),
        ("read", "sda/v1/phone/{id}/config"),
    ),
    # For outside programs: the topics that the flows publish for readers.
    "reader": (
        ("read", "sda/v1/staff/+/location"),
        ("read", "sda/v1/events"),
    ),
}


def check_id(account: str) -> None:
    """Raise ValueError with the reason when ``account`` cannot be the id of a receiver or reader."""
    if not _ID.fullmatch(account):
        raise ValueError(
            f"{account!r} is not a usable id: 1 to 64 letters, digits, '_', '.', '-', beginning with a letter or digit"
        )
    if account in SERVICES:
        raise ValueError(f"{account!r} is the name of one of the platform's own services; choose another id")


def render_sessions(bound: Mapping[str, str]) -> str:
    """Configuration of Mosquitto's dynamic security plugin: client ids and password hashes of services (name -> hash).

    Rights are in the ACL. Mosquitto refuses a client that has no password here."""
    denied = dict.fromkeys(("publishClientSend", "publishClientReceive", "subscribe", "unsubscribe"), False)
    clients = []
    for name, hashed in bound.items():
        _, _, iterations, salt, password = hashed.split("$")
        secret = {"password": password, "salt": salt, "iterations": int(iterations)}
        clients.append({"username": name, "clientid": SESSIONS[name], **secret})
    return json.dumps({"defaultACLAccess": denied, "clients": clients, "groups": [], "roles": []}, indent=1) + "\n"


def with_second_telegraf(services_acl: str, accounts: Collection[str]) -> str:
    """``services_acl``, with copies of the first Telegraf's blocks for the second where ``accounts`` has its."""
    if not any(account.startswith(f"{SECOND_TELEGRAF}-") for account in accounts):
        return services_acl
    blocks = re.findall(r"^user telegraf-.*?(?=\n\n|\Z)", services_acl, re.MULTILINE | re.DOTALL)
    copies = [block.strip().replace("user telegraf-", f"user {SECOND_TELEGRAF}-", 1) for block in blocks]
    return "\n\n".join([services_acl.rstrip("\n"), *copies]) + "\n"


def render_acl(services_acl: str, accounts: Mapping[str, str]) -> str:
    """The whole ACL file: the services' static part, then one block for each account (id -> kind), by id."""
    blocks = [services_acl.rstrip("\n")]
    for account, kind in sorted(accounts.items()):
        topics = [f"topic {access} {topic.format(id=account)}" for access, topic in RIGHTS[kind]]
        blocks.append("\n".join([f"user {account}", *topics]))
    return "\n\n".join(blocks) + "\n"
