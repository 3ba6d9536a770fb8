"""`gateway-agent outbox`: prints the waiting batches."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from gateway_agent import state
from gateway_agent.outbox_view import peek
from gateway_agent.settings import Settings

LISTED = 10


def report(settings: Settings) -> tuple[int, str]:
    """Exit code and text."""
    folder = Path(settings.state_dir)
    try:
        running, found = state.is_running(folder), peek(folder, LISTED)
    except (sqlite3.Error, PermissionError) as error:
        return 1, f"{folder}: {error}; run this as the agent's user: sudo -u sda-gateway …"
    if found is None:
        return 0, f"{folder}: no outbox yet; the agent has not run with this folder"
    depth, oldest = found
    replay_s = settings.outbox.replay_s
    share = depth.used_bytes / (settings.outbox.max_mib << 20)
    lines = [
        f"agent        {'running' if running else 'not running'}",
        f"waiting      {depth.waiting} readings in {depth.waiting_batches} batches",
        f"without time {depth.timeless} batches (they get a time when the clock is synchronised)",
        f"held         {depth.held} readings, acknowledged; sent again if the broker loses them in {replay_s:.0f} s",
        f"size         {depth.used_bytes / 2**20:.1f} MiB, {share:.0%} of outbox.max_mib",
    ]
    if oldest:
        lines += ["", f"the oldest waiting batches ({len(oldest)} of {depth.waiting_batches}):"]
        lines += [f"  {_time(batch.ts)}  {batch.readings:4} readings  #{batch.id}" for batch in oldest]
    return 0, "\n".join(lines)


def _time(ts: int) -> str:
    return datetime.fromtimestamp(ts / 1000, UTC).isoformat(timespec="milliseconds")
