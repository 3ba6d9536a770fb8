"""The broker's data folder: its accounts, and Mosquitto's files made from them.

``accounts.json`` maps an id to its kind; ``passwords`` has the hashes of services and accounts;
``acl`` is derived from both. No file has a password in clear text.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from passwords import hash_password, matches
from rights import RIGHTS, SERVICES, render_acl, with_second_telegraf

SERVICES_ACL = Path(__file__).with_name("services.acl")
APPLIED = "mosquitto.applied"
"""Written by run.sh: which files a running Mosquitto has read."""
APPLIED_WITHIN_S = 5.0
OTHER_BROKER = "other-broker.json"
"""Which broker admits clients by the accounts of this folder, where it is not Mosquitto."""
SPOKEN = {".": "a dot", "-": "a hyphen", "_": "an underscore"}


class StoreError(Exception):
    """The data folder is invalid; the message names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Owner:
    """User and group id of written files."""

    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class OtherBroker:
    """A broker other than Mosquitto, which follows the files of the folder."""

    name: str
    refused_in_ids: str
    """Characters that it takes in no client id."""

    def refuses(self, account: str) -> str:
        """Why nobody with this id can connect; empty: it can."""
        found = next((one for one in account if one in self.refused_in_ids), "")
        return f"{self.name} takes no client id with {SPOKEN.get(found, repr(found))}" if found else ""


@dataclass(frozen=True, slots=True)
class Store:
    """A broker's data folder. Files are replaced as a whole, with mode 0600, only if they change."""

    folder: Path
    owner: Owner | None = None

    @property
    def other_broker(self) -> OtherBroker | None:
        """The broker for which the folder is prepared; None: Mosquitto."""
        path = self.folder / OTHER_BROKER
        try:
            return OtherBroker(**json.loads(path.read_text()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise StoreError(f"{path} cannot be used ({error}); remove it and run `make up`, which writes it") from None

    def note_broker(self, other: OtherBroker | None) -> None:
        """Note for which broker the folder is prepared."""
        if other is None:
            (self.folder / OTHER_BROKER).unlink(missing_ok=True)
        else:
            self.replace(self.folder / OTHER_BROKER, json.dumps(asdict(other)) + "\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder for one change; a second command waits."""
        self.make_folder(self.folder)
        with (self.folder / "provision.lock").open("w") as lock:
            self.own(self.folder / "provision.lock")
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def make_folder(self, folder: Path) -> None:
        """Create ``folder`` where it is missing, for its owner only."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.own(folder)

    def own(self, path: Path) -> None:
        """Change the owner of ``path``, if one is configured."""
        if self.owner is not None:
            os.chown(path, self.owner.uid, self.owner.gid)

    def accounts(self) -> dict[str, str]:
        """Id -> kind of every receiver and reader."""
        path = self.folder / "accounts.json"
        if not path.exists():
            return {}
        try:
            accounts = json.loads(path.read_text())
        except ValueError:
            accounts = None
        if not isinstance(accounts, dict) or not all(kind in list(RIGHTS) for kind in accounts.values()):
            raise StoreError(f"{path} is damaged; restore it, or remove it and add the accounts again")
        return accounts

    def hashes(self) -> dict[str, str]:
        """Username -> hash, services included."""
        path = self.folder / "passwords"
        lines = path.read_text().splitlines() if path.exists() else []
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def save(self, accounts: Mapping[str, str], hashes: Mapping[str, str]) -> list[str]:
        """Write accounts, passwords and acl; returns the names of the files that changed."""
        known = {name: hashed for name, hashed in sorted(hashes.items()) if name in accounts or name in SERVICES}
        files = {
            "accounts.json": json.dumps(dict(sorted(accounts.items())), indent=1) + "\n",
            "passwords": "".join(f"{name}:{hashed}\n" for name, hashed in known.items()),
            "acl": render_acl(with_second_telegraf(SERVICES_ACL.read_text(), known), accounts),
        }
        return [name for name, text in files.items() if self.replace(self.folder / name, text)]

    def wait_until_applied(self) -> bool:
        """Wait until a running Mosquitto has read the accounts and rights; False if none runs, or it does not do so."""
        deadline = time.monotonic() + APPLIED_WITHIN_S
        while time.monotonic() < deadline:
            try:
                read = (self.folder / APPLIED).read_text().splitlines()
                files = [(self.folder / name).stat() for name in ("passwords", "acl")]
            except FileNotFoundError:
                return False
            if read[:2] == [f"{file.st_ino} {int(file.st_mtime)} {file.st_size}" for file in files]:
                return True
            time.sleep(0.05)
        return False

    def replace(self, path: Path, text: str) -> bool:
        """Write ``text`` to ``path`` by rename; returns False if it was there already."""
        if path.exists() and path.read_text() == text:
            self.own(path)
            return False
        fresh = path.with_name(path.name + ".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        self.own(fresh)
        fresh.replace(path)
        return True


def with_services(hashes: Mapping[str, str], passwords: Mapping[str, str]) -> dict[str, str]:
    """``hashes`` with exactly the services of ``passwords``; a matching hash is kept."""
    others = {name: hashed for name, hashed in hashes.items() if name not in SERVICES}
    services = {
        name: hashes[name] if matches(password, hashes.get(name, "")) else hash_password(password)
        for name, password in passwords.items()
    }
    return others | services
