#!/usr/bin/env python3
"""Accounts of gateways, phones and readers: add, list, rotate (new password), remove.

    accounts.py --data .data/broker add gateway pi-lobby

prints the new password once; the broker keeps only its hash. A running Mosquitto found through its pid file
is told at once (SIGHUP): a removed account's connection is closed, all others stay.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

from passwords import hash_password, new_password
from rights import RIGHTS, check_id
from store import Owner, Store, StoreError


def add(store: Store, account: str, kind: str) -> str:
    """Create the account; returns its password. ValueError when the id is unusable or taken."""
    check_id(account)
    with store.locked():
        accounts = store.accounts()
        if account in accounts:
            raise ValueError(f"{account} exists already, as a {accounts[account]}; ids are unique over all kinds")
        password = new_password()
        store.save(accounts | {account: kind}, store.hashes() | {account: hash_password(password)})
    return password


def rotate(store: Store, account: str) -> str:
    """Give the account a new password and return it. ValueError when there is none of that id."""
    with store.locked():
        accounts = store.accounts()
        _must_exist(account, accounts)
        password = new_password()
        store.save(accounts, store.hashes() | {account: hash_password(password)})
    return password


def remove(store: Store, account: str) -> None:
    """Take the account away. ValueError when there is none of that id."""
    with store.locked():
        accounts = store.accounts()
        _must_exist(account, accounts)
        del accounts[account]
        store.save(accounts, {name: hashed for name, hashed in store.hashes().items() if name != account})


def _must_exist(account: str, accounts: dict[str, str]) -> None:
    if account not in accounts:
        raise ValueError(f"there is no account {account!r}; `accounts.py list` shows those that exist")


def reload_broker(pid_file: Path) -> str:
    """Send SIGHUP to the Mosquitto of ``pid_file``; returns a sentence saying what happened or is left to do."""
    try:
        pid = int(pid_file.read_text())
        # A pid file may be left over from a kill: only a Mosquitto is signalled.
        if Path(f"/proc/{pid}/comm").read_text().strip() != "mosquitto":
            raise ProcessLookupError
        os.kill(pid, signal.SIGHUP)
    except (OSError, ValueError):
        return "no Mosquitto to tell from here: send it SIGHUP, or restart it, and it knows"
    return "Mosquitto knows"


def run(options: argparse.Namespace) -> None:
    """Carry out one command and print its result."""
    store: Store = options.store
    if options.command == "list":
        for account, kind in sorted(store.accounts().items()):
            sys.stdout.write(f"{kind}\t{account}\n")
        return
    if options.command == "remove":
        remove(store, options.id)
    else:
        password = add(store, options.id, options.kind) if options.command == "add" else rotate(store, options.id)
        sys.stdout.write(f"{password}\n")
        sys.stderr.write(f"broker: {options.id} has this password; it is shown only now\n")
    sys.stderr.write(f"broker: {reload_broker(options.pid_file or store.folder / 'mosquitto.pid')}\n")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Command-line options; ``store`` is the opened data folder."""
    parser = argparse.ArgumentParser(
        prog="accounts.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(os.environ.get("DATA_DIR", ".data")) / "broker"
    parser.add_argument("--data", type=Path, default=default, help="the broker's data folder (default %(default)s)")
    parser.add_argument("--pid-file", type=Path, help="Mosquitto's pid file (default: mosquitto.pid in there)")
    commands = parser.add_subparsers(dest="command", required=True)
    adding = commands.add_parser("add", help="create an account; prints its password")
    adding.add_argument("kind", choices=list(RIGHTS))
    adding.add_argument("id", help="gateway id, staff id of the phone, or a name for a reader")
    commands.add_parser("list", help="kind and id of every account")
    commands.add_parser("rotate", help="a new password for an account; the old one ends").add_argument("id")
    commands.add_parser("remove", help="take an account away").add_argument("id")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"there is no folder {options.data}: start the platform once (`make up`), or name it with --data")
    owned = options.data.stat()
    options.store = Store(options.data, Owner(owned.st_uid, owned.st_gid) if os.geteuid() == 0 else None)
    return options


def main() -> int:
    """Run one command. Exit code 1 with one sentence when it cannot be done, 2 for wrong arguments."""
    os.umask(0o077)
    try:
        run(parse())
    except (StoreError, ValueError, OSError) as error:
        sys.stderr.write(f"broker: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
