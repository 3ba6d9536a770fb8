"""The accounts of the sites, read from the files that Mosquitto reads: `passwords`, `acl`, `sessions.json`."""

import json
from pathlib import Path

from .admission import Accounts
from .subjects import rights_of

FILES = ("passwords", "acl", "sessions.json")
Stamps = tuple[tuple[int, int], ...]
CLOCK_STEP_S = 0.02
"""Times of files are this coarse, rounded up."""


class Directory:
    """The accounts of one site; a changed file counts from the next question on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps = self._read_stamps()
        self._accounts = _read(folder)
        self._changed: dict[str, float | None] = {}

    def accounts(self) -> Accounts:
        """The accounts by the files as they are now. Raises OSError or ValueError if they cannot be read."""
        if (stamps := self._read_stamps()) != self._stamps:
            before, self._accounts = self._accounts, _read(self._folder)
            self._stamps = stamps
            changed_s = max(changed_ns for changed_ns, _ in stamps) / 1e9 + CLOCK_STEP_S
            gone = changed(before, self._accounts)
            self._changed |= {user: None if is_gone else changed_s for user, is_gone in gone.items()}
        return self._accounts

    def take_changes(self) -> dict[str, float | None]:
        """Users that were changed since the last call, those who came and went too, and when (epoch s; None: gone).

        Who connected later than that has the new rights."""
        self.accounts()
        taken, self._changed = self._changed, {}
        return taken

    def _read_stamps(self) -> Stamps:
        return tuple(_stamp(self._folder / name) for name in FILES)


def changed(before: Accounts, after: Accounts) -> dict[str, bool]:
    """Users whose password, rights or client id differ, and whether the account is gone."""
    users = set(before.hashes) | set(before.rights)
    return {user: user not in after.hashes for user in users if _of(user, before) != _of(user, after)}


def _of(user: str, accounts: Accounts) -> tuple[object, ...]:
    return accounts.hashes.get(user), accounts.rights.get(user), accounts.client_ids.get(user)


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_ctime_ns, found.st_ino  # a rename changes it, unlike the time of the content


def _read(folder: Path) -> Accounts:
    lines = (folder / "passwords").read_text().splitlines()
    sessions = json.loads((folder / "sessions.json").read_text())
    return Accounts(
        hashes=dict(line.split(":", 1) for line in lines if ":" in line),
        rights=rights_of((folder / "acl").read_text()),
        client_ids={client["username"]: client["clientid"] for client in sessions["clients"]},
    )
