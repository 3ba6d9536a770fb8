"""Which ids an account may have, and what each kind of account may publish and read. Pure."""

import json
import re
from collections.abc import Mapping

TELEGRAF_INPUTS = ("readings", "gateway_status", "gateway_health", "locations", "events", "rejected", "flows_health")
# Service -> the only client id under which its account works. Over TLS the client id is the user name instead, so
# these accounts are let in by the other listener alone; no id of an account holds a "/".
SESSIONS: Mapping[str, str] = {
    **{f"telegraf-{name}": f"telegraf/{name}" for name in TELEGRAF_INPUTS},
    "nodered": "nodered/flows",
    "nodered-operator": "nodered/operator",  # commands on this machine
    # Asks whether the broker lets somebody in, and may do nothing. Its id was Node-RED's: it ends that old session.
    "nodered-probe": "nodered",
}
# The simulator connects once for each receiver that it plays. No id of a receiver may be any of these.
SERVICES = (*SESSIONS, "simulator", "telegraf")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

# Per kind: (access, topic) with the account's id in place of {id}. A denied publish is still acknowledged
# under MQTT 3.1.1 and goes nowhere.
RIGHTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "gateway": (
        ("write", "sda/v1/gateway/{id}/readings"),
        ("write", "sda/v1/gateway/{id}/status"),
        ("write", "sda/v1/gateway/{id}/health"),
        ("read", "sda/v1/gateway/{id}/config"),
        # Whether the broker was started since it acknowledged something: it forgets what no snapshot holds.
        ("read", "$SYS/broker/uptime"),
    ),
    "phone": (
        ("write", "sda/v1/phone/{id}/readings"),
        ("read", "sda/v1/phone/{id}/config"),
    ),
    # For outside programs: the topics that the flows publish for anyone who has an account for it.
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
    """What Mosquitto's dynamic security plugin reads: client ids and password hashes of services (name -> hash).

    Rights are in the ACL. Mosquitto 2.1 refuses a client that has no password here; 2.0 would ask the password file."""
    denied = dict.fromkeys(("publishClientSend", "publishClientReceive", "subscribe", "unsubscribe"), False)
    clients = []
    for name, hashed in bound.items():
        _, _, iterations, salt, password = hashed.split("$")
        secret = {"password": password, "salt": salt, "iterations": int(iterations)}
        clients.append({"username": name, "clientid": SESSIONS[name], **secret})
    return json.dumps({"defaultACLAccess": denied, "clients": clients, "groups": [], "roles": []}, indent=1) + "\n"


def render_acl(services_acl: str, accounts: Mapping[str, str]) -> str:
    """The whole ACL file: the services' static part, then one block for each account (id -> kind), by id."""
    blocks = [services_acl.rstrip("\n")]
    for account, kind in sorted(accounts.items()):
        topics = [f"topic {access} {topic.format(id=account)}" for access, topic in RIGHTS[kind]]
        blocks.append("\n".join([f"user {account}", *topics]))
    return "\n\n".join(blocks) + "\n"
