"""`doctor`'s checks of this machine: disk, files, clock."""

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from gateway_agent.checks import Check, fail, ok, warn
from gateway_agent.clock import Clock
from gateway_agent.outbox_view import peek
from gateway_agent.settings import Settings

_MIN_FREE_MIB = 20  # with less, the next batch may fail
_SPARE_MIB = 100


def disk(settings: Settings, running: bool, failure: str | None = None) -> Check:
    """Check the outbox's folder and free space. ``failure``: a running agent's outbox error."""
    folder = Path(settings.state_dir)
    if not folder.is_dir():
        return fail("disk", f"{folder} does not exist", f"sudo mkdir -p {folder} and give it to the agent's user")
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail("disk", f"{folder} cannot be written by this user", "run doctor as the agent's user (sudo -u …)")
    free_mib = shutil.disk_usage(folder).free >> 20
    try:
        found = peek(folder)
    except sqlite3.Error as error:
        return fail("disk", f"the outbox cannot be read: {error}", "the agent replaces a damaged file when it starts")
    held = f"{found[0].waiting} readings waiting" if found else "no outbox yet"
    used_mib = found[0].used_bytes >> 20 if found else 0
    if free_mib < _MIN_FREE_MIB:
        return fail(
            "disk",
            f"{folder} is full: {free_mib} MiB free; {held}",
            "free some space; batches wait in memory for two minutes",
        )
    if failure:
        remedy = "see `dmesg`: a worn-out card? Readings wait in memory for two minutes and are then lost"
        return fail("disk", f"the agent cannot store batches: {failure}; {free_mib} MiB free", remedy)
    if free_mib + used_mib < settings.outbox.max_mib + _SPARE_MIB:
        remedy = f"free some space, or set outbox.max_mib to {max(1, free_mib + used_mib - _SPARE_MIB)}"
        return warn(
            "disk", f"{free_mib} MiB free, the outbox may grow to {settings.outbox.max_mib} MiB; {held}", remedy
        )
    return ok("disk", f"{folder}: {free_mib} MiB free, {held}{', in use by the agent' if running else ''}")


def clock(settings: Settings, known: dict[str, Any] | None = None) -> Check:
    """Check whether batches get their time at once. ``known``: a running agent's state."""
    sync = Clock(settings.clock.source).sync()
    if settings.clock.source == "trust":
        return warn("clock", "is trusted without a check", 'clock.source = "kernel" would check it')
    if not sync.synchronised:
        remedy = "run timedatectl set-ntp true, with a reachable NTP server; until then batches wait for their time"
        return fail("clock", f"is not synchronised ({settings.clock.source})", remedy)
    if jumps := (known or {}).get("health", {}).get("clock_jumps"):
        found = f"is synchronised; it jumped by more than a minute since the agent's start, {jumps} times"
        return warn("clock", found, "see the agent's log for when; who sets it? (timedatectl, a second time service)")
    offset = "" if sync.offset_ms is None else f", {sync.offset_ms:+.1f} ms being corrected"
    return ok("clock", f"is synchronised{offset}")


def files(settings: Settings) -> Check:
    """Check that only the agent can read its secrets."""
    for name in (settings.broker.password_file, settings.broker.client_key):
        if name and Path(name).exists() and Path(name).stat().st_mode & 0o007:
            return warn("files", f"every user of this machine can read {name}", f"sudo chmod o= {name}")
    return ok("files", "only the agent can read its secrets")
