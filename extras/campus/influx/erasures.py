"""The people that are to be erased from each InfluxDB, on disk until it is done. No sockets.

Each is a file of its own, replaced by rename: a kill leaves the step before, which is done again and changes nothing.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

PERSON = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
BEACON = re.compile(r"[0-9A-F-]{12,64}")
SETTLE_MS = 300_000
"""A Telegraf that was away takes at most this long for what the broker has kept for it."""
ASKED, APPLIED, PASSED = "asked", "applied", "passed"


@dataclass(frozen=True, slots=True)
class StoreErasure:
    """How far one InfluxDB is. `asked`: nothing was done. `applied`: erased once, but more may be on its way into it.
    `passed`: all that waited on disk is in it, and it was erased again, at ``passed_ms``."""

    step: str = ASKED
    passed_ms: int = 0


@dataclass(frozen=True, slots=True)
class Erasure:
    """A person and the tags of theirs that are to be erased. ``owed`` is by store; done stores are not in it."""

    person: str
    tags: tuple[str, ...]
    requested_ms: int
    owed: Mapping[str, StoreErasure]


def check(person: str, tags: tuple[str, ...]) -> None:
    """Raise ValueError with the reason when these cannot be ids."""
    if not PERSON.fullmatch(person):
        raise ValueError(f"PERSON={person} is no staff id: 1 to 64 letters, digits, '_', '.', '-'")
    for tag in tags:
        if not BEACON.fullmatch(tag):
            raise ValueError(f"TAGS: {tag} is no beacon id as in the building file, like C2A628384B08")


def is_due(owed: StoreErasure, now_ms: int, is_past: bool) -> bool:
    """Whether to erase now. ``is_past``: all that waited on disk when the erasure was asked for is in the store."""
    if owed.step == ASKED:
        return True
    if owed.step == APPLIED:
        return is_past
    return now_ms - owed.passed_ms >= SETTLE_MS


def after(owed: StoreErasure, now_ms: int, is_past: bool) -> StoreErasure | None:
    """What is owed after it was erased; None: nothing."""
    if owed.step == PASSED:
        return None
    return StoreErasure(PASSED, now_ms) if is_past else StoreErasure(APPLIED)


def with_store(erasure: Erasure, store: str, owed: StoreErasure | None) -> Erasure:
    """The erasure with another state of one store."""
    others = {name: one for name, one in erasure.owed.items() if name != store}
    return replace(erasure, owed=others if owed is None else {**others, store: owed})


class Folder:
    """The erasures in a folder, a file each."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, erasure: Erasure) -> Path:
        """Keep a new one; it is on disk on return."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self.path / f"{erasure.requested_ms}-{os.urandom(4).hex()}.json"
        self.save(file, erasure)
        return file

    def save(self, file: Path, erasure: Erasure) -> None:
        """Replace the file; without anything owed it goes, and the person's id with it."""
        if not erasure.owed:
            file.unlink(missing_ok=True)
            return
        fresh = file.with_suffix(".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
            opened.write(_text(erasure))
            opened.flush()
            os.fsync(opened.fileno())
        fresh.replace(file)
        folder = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def files(self) -> list[Path]:
        """Of all of them, the oldest first."""
        return sorted(self.path.glob("*.json"))

    def read(self, file: Path) -> Erasure | None:
        """One of them; None: it is done. Raises ValueError for a file that is none of ours."""
        try:
            text = file.read_text()
        except FileNotFoundError:
            return None
        try:
            data = json.loads(text)
            owed = {name: StoreErasure(one["step"], one["passed_ms"]) for name, one in data["owed"].items()}
            return Erasure(data["person"], tuple(data["tags"]), data["requested_ms"], owed)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{file} is damaged: ask for the erasure again, then delete the file") from error


def _text(erasure: Erasure) -> str:
    owed = {name: {"step": one.step, "passed_ms": one.passed_ms} for name, one in erasure.owed.items()}
    known = {"v": 1, "person": erasure.person, "tags": erasure.tags, "requested_ms": erasure.requested_ms}
    return json.dumps(known | {"owed": owed}) + "\n"
