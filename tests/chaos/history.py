"""What is stored, and what an undisturbed run makes of the stored readings."""

import json
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stack.layout import node_folder
from stack.stores import FIRST, Store
from support.running import RunningStack
from support.stack_client import influx
from support.stored import unfolded

UNDISTURBED = Path(__file__).parent.parent / "support" / "reference_run.js"
SLICE_MS = 20_000
LEFT_MS = 120_000
"""Everybody is lost so long after the last reading."""

Location = tuple[str, int, str, str, str, int]
"""staff_id, ts, level, room, beacon, rssi."""
Stay = tuple[str, str, int, int]
"""staff_id, room, enter_ms, leave_ms."""
Reading = tuple[int, int, str, str, str]
"""ts, rssi, kind, receiver, beacon."""
State = tuple[int, bool, str, str]
"""ts, whether it is online, "status", gateway."""


@dataclass(frozen=True, slots=True)
class History:
    """Where people were."""

    locations: set[Location]
    stays: set[Stay]


def stored_readings(
    stack: RunningStack, from_ms: int, to_ms: int, receivers: Collection[str] | None, store: Store = FIRST
) -> list[Reading]:
    """The readings of these receivers (None: of all) in a database."""
    return [
        (row["time"], row["rssi"], row["kind"], row["receiver"], row["beacon"])
        for row in unfolded(_rows(stack, "readings", "readings, kind, receiver", "batch", from_ms, to_ms, store))
        if receivers is None or row["receiver"] in receivers
    ]


def gateway_states(
    stack: RunningStack, from_ms: int, to_ms: int, gateways: Collection[str] | None, store: Store = FIRST
) -> list[State]:
    """When these gateways (None: all) came and went, as the flows look it up in a database after a start. A last will
    has the time at which that database's Telegraf received it."""
    return [
        (row["time"], row["state"] == "online", "status", row["gateway"])
        for row in _rows(stack, "health", "state, gateway", "gateway_status", from_ms, to_ms, store)
        if gateways is None or row["gateway"] in gateways
    ]


def stored_history(
    stack: RunningStack, from_ms: int, to_ms: int, staff: Collection[str], store: Store = FIRST
) -> History:
    """The history of these people in a database."""
    locations = {
        (row["staff_id"], row["time"], row["level"], row["room"], row["beacon"], row["rssi"])
        for row in _rows(stack, "locations", "staff_id, level, room, beacon, rssi", "location", from_ms, to_ms, store)
        if row["staff_id"] in staff
    }
    fields = "staff_id, room, enter_ms, leave_ms, duration_s"
    stays = {
        (row["staff_id"], row["room"], row["enter_ms"], row["leave_ms"])
        for row in _rows(stack, "locations", fields, "stay", from_ms, to_ms, store)
        if row["staff_id"] in staff and row["duration_s"] > 0
    }
    return History(locations, stays)


def _rows(
    stack: RunningStack, bucket: str, fields: str, measurement: str, from_ms: int, to_ms: int, store: Store = FIRST
) -> Iterator[dict[str, Any]]:
    for start_ms in range(from_ms, to_ms, SLICE_MS):
        end_ms = min(start_ms + SLICE_MS, to_ms)
        yield from influx(
            stack,
            bucket,
            f"SELECT {fields} FROM {measurement} WHERE time >= {start_ms}ms AND time < {end_ms}ms",  # noqa: S608 - ours
            store,
        )


def undisturbed(readings: list[Reading], states: list[State], building: Path) -> History:
    """What one locator that nothing interrupts makes of all that, in order of time, until everybody is lost."""
    end_ms = max(row[0] for row in readings) + LEFT_MS
    command = (node_folder() / "node", UNDISTURBED, building, str(end_ms))
    done = subprocess.run(command, input=json.dumps([*readings, *states]), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return History(
        {(one["staff_id"], one["ts"], one["level"], one["room"], one["beacon"], one["rssi"])
         for one in found["locations"]},
        {(one["staff_id"], one["room"], one["enter_ms"], one["leave_ms"]) for one in found["stays"]},
    )  # fmt: skip
