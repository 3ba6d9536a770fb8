"""A crowd that walks through the building: half an hour and more of history within seconds."""

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import httpx

from . import web
from .building import Building
from .running import RunningStack
from .stack_client import batch, eventually, now_ms, publish

EVERY_S = 8
"""Interval of readings."""
STAYS_S = (60, 600)
"""Length of a stay in a room."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Staff and time of the walk; all of them are still in their last room."""

    staff: tuple[str, ...]
    start_ms: int
    end_ms: int


def walk_crowd(stack: RunningStack, demo: Building, people: int, minutes: int) -> Crowd:
    """Publish the crowd's readings in order of time; wait until all stays are stored without gaps."""
    end_ms = now_ms() // 1000 * 1000
    start_ms = end_ms - minutes * 60_000 // (EVERY_S * 1000) * EVERY_S * 1000
    crowd = Crowd(tuple(str(n) for n in range(people)), start_ms, end_ms)
    chance = random.Random(7)  # noqa: S311 - the same walks each time
    rooms = sorted({one.room: one.id for one in demo.beacons}.items())
    until, where = dict.fromkeys(crowd.staff, start_ms), dict.fromkeys(crowd.staff, "")
    messages = []
    for ts in range(start_ms, end_ms + 1, EVERY_S * 1000):
        for who in crowd.staff:
            if until[who] <= ts:
                where[who] = chance.choice(rooms)[1]
                until[who] = ts + chance.randrange(*STAYS_S) * 1000
            messages.append((f"phone/{who}/readings", batch((where[who], -45), ts=ts)))
    publish(stack, *messages)
    with web.Client(base_url=stack.http_url, timeout=20) as caller:
        eventually(lambda: _stored(caller, crowd), within_s=120, what="everybody's stays, without a gap")
    return crowd


def stays_of(caller: httpx.Client, who: str, start_ms: int, end_ms: int) -> list[dict[str, Any]]:
    """One person's stays from `/api/v1`."""
    window: dict[str, float] = {"start": start_ms / 1000, "end": end_ms / 1000, "limit": 1000}
    answer = caller.get(f"/api/v1/staff/{who}/stays", params=window)
    answer.raise_for_status()
    found: list[dict[str, Any]] = answer.json()["stays"]
    return found


def _stored(caller: httpx.Client, crowd: Crowd) -> bool:
    for who in crowd.staff:
        answer = caller.get(f"/api/v1/staff/{who}")
        presence = answer.json().get("presence") if answer.status_code == 200 else None
        if presence is None or presence["ts"] < crowd.end_ms:
            return False
        stays = stays_of(caller, who, crowd.start_ms - 1000, crowd.end_ms + 1000)
        if not stays or stays[-1]["leave_ms"] < crowd.end_ms:
            return False
        if any(one["leave_ms"] != after["enter_ms"] for one, after in pairwise(stays)):
            return False
    return True
