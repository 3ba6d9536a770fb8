#!/usr/bin/env python3
"""Prepares a broker's data folder: passwords, rights, listeners, certificates. Running it again changes nothing.

Needs Python 3.11 and the openssl command, nothing else. Mosquitto is then started inside the data folder:

    provision.py --data .data/broker && cd .data/broker && mosquitto -c ../../broker/mosquitto.conf

Passwords come from the environment: MQTT_TELEGRAF_PASSWORD, MQTT_NODERED_PASSWORD, and MQTT_SIMULATOR_PASSWORD
where the simulator may connect. MQTT_SERVICES_OUTSIDE=yes accepts the services' accounts over TLS too.
Receivers' accounts are added with accounts.py. With --https a certificate for Node-RED is made in the folder `https`
too, for the names in HTTP_NAMES and MQTTS_NAMES.
"""

import argparse
import os
import pwd
import re
import resource
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from certificates import ensure_certificates
from command import run_command
from rights import SECOND_TELEGRAF, SESSIONS, TELEGRAF_INPUTS, render_sessions
from store import OtherBroker, Owner, Store, with_services

# Variable -> the services whose password it holds.
REQUIRED = {
    "MQTT_TELEGRAF_PASSWORD": tuple(f"telegraf-{name}" for name in TELEGRAF_INPUTS),
    "MQTT_NODERED_PASSWORD": tuple(name for name in SESSIONS if name.startswith("nodered")),
}
SIMULATOR = {"MQTT_SIMULATOR_PASSWORD": ("simulator",)}
# Open files that Mosquitto needs besides connections: log, snapshot, listening sockets (about 20).
OWN_FILES = 64
MIN_OPEN_FILES = 256
# Used for "unlimited": Linux's own limit (fs.nr_open).
UNLIMITED_OPEN_FILES = 1_048_576
# Share of the open files for receivers, idle or not. The rest is for the services, even if the TLS port is full.
RECEIVERS_PART = 0.4
# The flows, two spools, and their old connections where the network has lost them.
READERS_CONNECTIONS = 16


def service_passwords(environment: Mapping[str, str], simulator: bool, second_telegraf: bool) -> dict[str, str]:
    """Service -> password from its variable. Raises ValueError that names a missing or invalid variable."""
    passwords: dict[str, str] = {}
    for variable, services in (REQUIRED | (SIMULATOR if simulator else {})).items():
        password = environment.get(variable, "")
        if not password and variable in REQUIRED:
            raise ValueError(f"{variable} is not set: take it from .env (`make up` writes one) and export it")
        if password != password.strip() or not password.isprintable():
            raise ValueError(f"{variable} holds spaces at an end or control characters; choose another password")
        if password:
            passwords |= dict.fromkeys(services, password)
    if second_telegraf:
        own = (f"{SECOND_TELEGRAF}-{name}" for name in TELEGRAF_INPUTS)
        passwords |= dict.fromkeys(own, environment["MQTT_TELEGRAF_PASSWORD"])
    return passwords


def services_outside(environment: Mapping[str, str]) -> bool:
    """Whether the services' accounts work over TLS and under any client id too. Raises ValueError for other values."""
    wanted = environment.get("MQTT_SERVICES_OUTSIDE", "")
    if wanted not in {"", "yes"}:
        raise ValueError(f"MQTT_SERVICES_OUTSIDE={wanted}: say yes, or leave it empty")
    return bool(wanted)


def render_listeners(
    port: int, bind: str, tls_port: int, tls_bind: str, user: str, open_files: int, readers_port: int = 0
) -> str:
    """Mosquitto's configuration of the listeners.

    A port 0 leaves out that of receivers (``tls_port``) or that of readers (``readers_port``).

    Without free open files Mosquitto refuses every connection, on any listener. So the listeners' limits together
    stay below ``open_files``.
    """
    receivers = int(open_files * RECEIVERS_PART) if tls_port else 0
    readers = READERS_CONNECTIONS if readers_port else 0
    lines = [
        "# Written by provision.py; changes here are lost.",
        f"user {user}",
        "# For the services on this machine; never for the outside network.",
        f"listener {port} {bind}".rstrip(),
        f"max_connections {open_files - OWN_FILES - receivers - readers}",
    ]
    if tls_port:
        lines += [
            "# For receivers. The client id becomes the username: no account can take over another's session.",
            f"listener {tls_port} {tls_bind}".rstrip(),
            f"max_connections {receivers}",
            "certfile tls/server.crt",
            "keyfile tls/server.key",
            "use_username_as_clientid true",
        ]
    if readers_port:
        lines += [
            "# For the spool and the flows, which read all readings. Of a plain connection Mosquitto reads one packet",
            "# before it turns to all others, of TLS all of a record: so a thousand acknowledgements take one turn.",
            f"listener {readers_port} {bind}".rstrip(),
            f"max_connections {readers}",
            "certfile tls/server.crt",
            "keyfile tls/server.key",
        ]
    return "\n".join(lines) + "\n"


def provision(options: argparse.Namespace, environment: Mapping[str, str]) -> list[str]:
    """Bring the data folder to the state of ``options``; returns a sentence for each change."""
    store = Store(options.data, options.owner)
    passwords = service_passwords(environment, not options.no_simulator, bool(options.telegraf))
    where = (options.port, options.bind, options.tls_port, options.tls_bind)
    listeners = render_listeners(*where, options.user, options.open_files, options.readers_port)
    done = []
    with store.locked():
        accounts, hashes = store.accounts(), store.hashes()
        known = with_services(hashes, passwords)
        done += [f"wrote {name}" for name in store.save(accounts, known)]
        done += [
            f"WARNING: {account} has no password; give it one: accounts.py rotate {account}"
            for account in accounts
            if account not in hashes
        ]
        bound = () if services_outside(environment) else SESSIONS
        sessions = render_sessions({name: known[name] for name in bound if name in known})
        if store.replace(options.data / "sessions.json", sessions):
            done.append("wrote sessions.json; restart Mosquitto for it")
        store.make_folder(options.data / "listeners.d")
        if store.replace(options.data / "listeners.d" / "listeners.conf", listeners):
            done.append("wrote listeners.d/listeners.conf; restart Mosquitto for it")
        other = OtherBroker(options.other_broker, options.refused_in_ids) if options.other_broker else None
        store.note_broker(other)
        done += [f"WARNING: {account} cannot connect: {why}; give the receiver another id"
                 for account in accounts if other and (why := other.refuses(account))]  # fmt: skip
        if options.tls_port:
            store.make_folder(options.data / "tls")
            names = list(
                dict.fromkeys(["localhost", "127.0.0.1", *options.name, *given_names(environment, "MQTTS_NAMES")])
            )
            # A container has a new host name each time, which must not make a new certificate each time.
            others = [] if options.name else [socket.gethostname()]
            done += ensure_certificates(options.data / "tls", names, others)
            for path in (options.data / "tls").iterdir():
                store.own(path)
            if options.https:
                more = list(dict.fromkeys([*names, *given_names(environment, "HTTP_NAMES")]))
                done += ensure_https(store, more, others, options.https_gid)
    return done


def ensure_https(store: Store, names: Sequence[str], others: Sequence[str], gid: int | None) -> list[str]:
    """The certificate for Node-RED, under the broker's authority; group ``gid`` may read its key."""
    folder = store.folder / "https"
    folder.mkdir(mode=0o700, exist_ok=True)
    reader = store.owner if gid is None else Owner(store.owner.uid if store.owner else os.geteuid(), gid)
    fresh = Store(store.folder, reader)
    fresh.own(folder)
    if gid is not None:
        folder.chmod(0o2750)  # renewed files get the same group
    done = ensure_certificates(folder, names, others, authority=store.folder / "tls")
    for path in folder.iterdir():
        fresh.own(path)
    return [f"HTTPS: {line}" for line in done]


def given_names(environment: Mapping[str, str], variable: str) -> list[str]:
    """The names in ``variable``, separated by spaces or commas. Raises ValueError for an invalid name or address."""
    names = environment.get(variable, "").replace(",", " ").split()
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9.:_-]+", name):
            raise ValueError(
                f"{variable}: {name!r} is no host name or address; give those under which this machine is reached"
            )
    return names


def parse_owner(text: str) -> Owner:
    """``UID:GID`` in numbers, as Compose's images know their users."""
    uid, gid = text.split(":")
    return Owner(int(uid), int(gid))


def own_open_files() -> int:
    """This process's limit of open files, which a Mosquitto from the same shell has too."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return UNLIMITED_OPEN_FILES if soft == resource.RLIM_INFINITY else soft


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Command-line options."""
    parser = argparse.ArgumentParser(
        prog="provision.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--data", type=Path, required=True, help="the broker's data folder; created when missing")
    add("--port", type=int, default=1883, help="port without TLS, for the services (default %(default)s)")
    add("--bind", default="127.0.0.1", help="its address (default %(default)s; 0.0.0.0 only inside a container)")
    add("--tls-port", type=int, default=8883, help="port with TLS, for receivers; 0: none (default %(default)s)")
    add("--tls-bind", default="", help="its address (default: all)")
    add("--readers-port", type=int, default=0, help="port with TLS at --bind, for spool and flows; 0: none (default)")
    add(
        "--name",
        action="append",
        default=[],
        help="name in the certificate; repeatable (default: host name)",
    )
    add(
        "--https", action="store_true", help="make a certificate for HTTPS too, in the folder `https`; needs a TLS port"
    )
    add("--https-gid", type=int, metavar="GID", help="group that may read its key, in numbers (default: nobody else)")
    add("--user", help="system user that Mosquitto switches to when started as root (default: the present user)")
    add("--owner", type=parse_owner, metavar="UID:GID", help="owner of the files (default: the present user)")
    add(
        "--open-files",
        type=int,
        default=own_open_files(),
        metavar="N",
        help="Mosquitto's limit of open files, which bounds its listeners (default: this command's limit)",
    )
    other = "another broker than Mosquitto admits clients by this folder's accounts and rights"
    add("--other-broker", default="", metavar="NAME", help=other)
    add("--refused-in-ids", default="", metavar="CHARACTERS", help="what that broker takes in no client id")
    more = "accounts for a second Telegraf too, which fills a second InfluxDB"
    add("--telegraf", choices=[SECOND_TELEGRAF], help=more)
    add("--no-simulator", action="store_true", help="no simulator account, even with its password in the environment")
    options = parser.parse_args(arguments)
    if options.open_files < MIN_OPEN_FILES:
        parser.error(f"--open-files {options.open_files}: Mosquitto needs {MIN_OPEN_FILES} at least; raise `ulimit -n`")
    options.data = options.data.absolute()
    options.user = options.user or pwd.getpwuid(os.geteuid()).pw_name
    return options


def main() -> int:
    """Provision and print each change. Exit code 1 with a message if something is missing."""
    return run_command(lambda: provision(parse(), os.environ))


if __name__ == "__main__":
    sys.exit(main())
