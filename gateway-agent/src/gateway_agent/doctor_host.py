"""`doctor`'s look at this machine: disk, files, clock."""

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from gateway_agent.checks import Check, fail, look, ok
from gateway_agent.clock import Clock
from gateway_agent.outbox_view import peek
from gateway_agent.settings import Settings

_LEAST_MIB = 20  # less, and the next batch may not be written
_SPARE_MIB = 100


def disk(settings: Settings, running: bool, failure: str | None = None) -> Check:
    """The outbox's folder and the room for it. ``failure``: what a running agent says of its outbox."""
    folder = Path(settings.state_dir)
    if not folder.is_dir():
        return fail("disk", f"{folder} does not exist", f"sudo mkdir -p {folder} and give it to the agent's user")
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail("disk", f"{folder} cannot be written by this user", "run doctor as the agent's user (sudo -u …)")
    free_mib = shutil.disk_usage(folder).free >> 20
    try:
        found = peek(folder)
    except sqlite3.Error as error:
        return fail("disk", f"the outbox cannot be read: {error}", "the agent puts a damaged file aside when it starts")
    held = f"{found[0].waiting} readings waiting" if found else "no outbox yet"
    used_mib = found[0].used_bytes >> 20 if found else 0
    if free_mib < _LEAST_MIB:
        return fail(
            "disk",
            f"{folder} is full: {free_mib} MiB free; {held}",
            "make room; batches wait in memory for two minutes",
        )
    if failure:
        remedy = "see `dmesg`: a worn-out card? What is heard waits in memory for two minutes, then it is lost"
        return fail("disk", f"the agent can keep nothing: {failure}; {free_mib} MiB free", remedy)
    if free_mib + used_mib < settings.outbox.max_mib + _SPARE_MIB:
        remedy = f"make room, or set outbox.max_mib to {max(1, free_mib + used_mib - _SPARE_MIB)}"
        return look(
            "disk", f"{free_mib} MiB free, the outbox may grow to {settings.outbox.max_mib} MiB; {held}", remedy
        )
    return ok("disk", f"{folder}: {free_mib} MiB free, {held}{', in use by the agent' if running else ''}")


def clock(settings: Settings, known: dict[str, Any] | None = None) -> Check:
    """Whether batches get their time at once. ``known``: what a running agent wrote down."""
    sync = Clock(settings.clock.source).sync()
    if settings.clock.source == "trust":
        return look("clock", "is believed without a look", 'clock.source = "kernel" would look')
    if not sync.synchronised:
        remedy = "let it: timedatectl set-ntp true, and a reachable NTP server; until then batches wait for their time"
        return fail("clock", f"is not synchronised ({settings.clock.source})", remedy)
    if jumps := (known or {}).get("health", {}).get("clock_jumps"):
        found = f"is synchronised; it jumped by more than a minute since the agent's start, {jumps} times"
        return look("clock", found, "see the agent's log for when; who sets it? (timedatectl, a second time service)")
    offset = "" if sync.offset_ms is None else f", {sync.offset_ms:+.1f} ms being corrected"
    return ok("clock", f"is synchronised{offset}")


def files(settings: Settings) -> Check:
    """Whether secrets are for the agent's eyes alone."""
    for name in (settings.broker.password_file, settings.broker.client_key):
        if name and Path(name).exists() and Path(name).stat().st_mode & 0o007:
            return look("files", f"everybody on this machine may use {name}", f"sudo chmod o= {name}")
    return ok("files", "no secret lies open")
