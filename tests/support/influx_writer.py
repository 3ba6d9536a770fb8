"""Writes points directly to InfluxDB, as Telegraf and the tasks do: a history of any length within seconds."""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from . import web
from .running import RunningStack

LINES = 5000


class Stored(NamedTuple):
    """One location; `ts` in epoch ms."""

    staff_id: str
    ts: int
    level: str
    room: str


def store_locations(stack: RunningStack, locations: Iterable[Stored]) -> int:
    """Write the locations and return their number."""
    return store(stack, "locations", map(_line, locations))


def store(stack: RunningStack, bucket: str, lines: Iterable[str]) -> int:
    """Write lines of the line protocol, times in ms, and return their number."""
    count, left = 0, iter(lines)
    with web.Client(
        base_url=stack.influx_url,
        headers={"Authorization": f"Token {stack.secrets['INFLUX_ADMIN_TOKEN']}"},
        params={"org": "sda", "bucket": bucket, "precision": "ms"},
        timeout=60,
    ) as client:
        while some := list(islice(left, LINES)):
            client.post("/api/v2/write", content="\n".join(some)).raise_for_status()
            count += len(some)
    return count


def _line(one: Stored) -> str:
    fields = f'level="{one.level}",room="{one.room}",beacon="C2A628384B08",rssi=-60i'
    return f"location,staff_id={one.staff_id} {fields} {one.ts}"
