#!/usr/bin/env python3
"""Accounts of gateways, phones and readers: add, list, rotate (new password), remove.

    accounts.py --data .data/broker add gateway pi-lobby

prints the new password once; the broker keeps only its hash. A running broker applies a change within two seconds and
disconnects who has no account any more: for Mosquitto run.sh follows the files, another broker follows them itself.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from passwords import hash_password, new_password
from rights import RIGHTS, check_id
from store import Owner, Store, StoreError


def add(store: Store, new: Sequence[str], kind: str) -> dict[str, str]:
    """Create the accounts, all or none; returns id -> password. Raises ValueError if an id is invalid or taken."""
    for account in new:
        check_id(account)
        if (other := store.other_broker) and (why := other.refuses(account)):
            raise ValueError(f"{account!r} cannot be added: {why}; choose another id")
    with store.locked():
        accounts = store.accounts()
        for account in new:
            if account in accounts:
                raise ValueError(f"{account} exists already, as a {accounts[account]}; ids are unique over all kinds")
        passwords = {account: new_password() for account in new}
        hashes = {account: hash_password(password) for account, password in passwords.items()}
        store.save(accounts | dict.fromkeys(new, kind), store.hashes() | hashes)
    return passwords


def rotate(store: Store, account: str) -> str:
    """Give the account a new password and return it. Raises ValueError if it does not exist."""
    with store.locked():
        accounts = store.accounts()
        _must_exist(account, accounts)
        password = new_password()
        store.save(accounts, store.hashes() | {account: hash_password(password)})
    return password


def remove(store: Store, gone: Sequence[str]) -> None:
    """Remove the accounts, all or none. Raises ValueError if one does not exist."""
    with store.locked():
        accounts = store.accounts()
        for account in gone:
            _must_exist(account, accounts)
        store.save(
            {account: kind for account, kind in accounts.items() if account not in gone},
            {name: hashed for name, hashed in store.hashes().items() if name not in gone},
        )


def _must_exist(account: str, accounts: dict[str, str]) -> None:
    if account not in accounts:
        raise ValueError(f"there is no account {account!r}; `accounts.py list` shows those that exist")


def run(options: argparse.Namespace) -> None:
    """Run one command and print its result."""
    store: Store = options.store
    if options.command == "list":
        for account, kind in sorted(store.accounts().items()):
            sys.stdout.write(f"{kind}\t{account}\n")
        return
    passwords: dict[str, str] = {}
    if options.command == "remove":
        remove(store, options.id)
    elif options.command == "rotate":
        passwords = {options.id: rotate(store, options.id)}
    else:
        passwords = add(store, options.id, options.kind)
    for account, password in passwords.items():
        sys.stdout.write(f"{password}\n" if len(passwords) == 1 else f"{account}\t{password}\n")
        sys.stderr.write(f"broker: {account} has this password; it is shown only now\n")
    if other := store.other_broker:
        sys.stderr.write(f"broker: {other.name} applies the change within two seconds\n")
    elif store.wait_until_applied():
        sys.stderr.write("broker: Mosquitto has applied the change\n")
    else:
        sys.stderr.write("broker: Mosquitto does not run; it applies the change at its start\n")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Command-line options; ``store`` is the opened data folder."""
    parser = argparse.ArgumentParser(
        prog="accounts.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(os.environ.get("DATA_DIR", ".data")) / "broker"
    parser.add_argument("--data", type=Path, default=default, help="the broker's data folder (default %(default)s)")
    commands = parser.add_subparsers(dest="command", required=True)
    adding = commands.add_parser("add", help="create accounts; prints their passwords")
    adding.add_argument("kind", choices=list(RIGHTS))
    adding.add_argument("id", nargs="+", help="gateway id, staff id of the phone, or a name for a reader")
    commands.add_parser("list", help="kind and id of every account")
    commands.add_parser("rotate", help="a new password for an account; the old one ends").add_argument("id")
    commands.add_parser("remove", help="remove accounts").add_argument("id", nargs="+")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"there is no folder {options.data}: start the platform once (`make up`), or name it with --data")
    owned = options.data.stat()
    options.store = Store(options.data, Owner(owned.st_uid, owned.st_gid) if os.geteuid() == 0 else None)
    return options


def main() -> int:
    """Run one command. Exit code 1 with a message if it fails, 2 for wrong arguments."""
    os.umask(0o077)
    try:
        run(parse())
    except (StoreError, ValueError, OSError) as error:
        sys.stderr.write(f"broker: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
