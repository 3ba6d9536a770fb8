"""Stored readings, one row each: what a batch's text unfolds into."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .running import RunningStack
from .stack_client import influx

MEASURED = ("battery_mv", "temperature_c", "humidity_pct")

Row = dict[str, Any]


def unfolded(batches: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Rows of readings, from rows of batches. A beacon that is in several texts of one batch is one row."""
    found: dict[tuple[Any, ...], Row] = {}
    for batch in batches:
        shared = {key: batch[key] for key in ("time", "kind", "receiver")}
        for reading in filter(None, batch["readings"].split(",")):
            beacon, rssi = reading.split(" ")
            found[*shared.values(), beacon] = {**shared, "beacon": beacon, "rssi": int(rssi)}
    yield from found.values()


def stored_readings(stack: RunningStack, where: str = "time > 0", beacon: str = "") -> list[Row]:
    """Every stored reading: `time` (epoch ms), `kind`, `receiver`, `beacon`, `rssi`.

    Args:
        where: an InfluxQL condition on time, kind and receiver.
        beacon: only readings of this one.
    """
    query = f"SELECT readings, kind, receiver FROM batch WHERE {where} AND readings =~ /{beacon} /"  # noqa: S608 - our own names
    return [row for row in unfolded(influx(stack, "readings", query)) if beacon in ("", row["beacon"])]


def stored_with_measurements(stack: RunningStack, where: str) -> list[Row]:
    """As `stored_readings`, with `battery_mv`, `temperature_c` and `humidity_pct` where a reading had them."""
    values = {_key(row): _values(row) for row in _measured(stack, where)}
    return [row | values.get(_key(row), {}) for row in stored_readings(stack, where)]


def stored_without_rssi(stack: RunningStack, where: str) -> list[Row]:
    """What beacons said of themselves in readings whose RSSI was not measured."""
    readings = {_key(row) for row in stored_readings(stack, where)}
    named = ("time", "kind", "receiver", "beacon")
    return [
        {key: row[key] for key in named} | _values(row) for row in _measured(stack, where) if _key(row) not in readings
    ]


def _measured(stack: RunningStack, where: str) -> list[Row]:
    query = f"SELECT {', '.join(MEASURED)}, kind, receiver, beacon FROM measured WHERE {where}"  # noqa: S608 - our own names
    return influx(stack, "readings", query)


def _values(row: Row) -> Row:
    return {key: row[key] for key in MEASURED if row[key] is not None}


def _key(row: Row) -> tuple[Any, ...]:
    return row["time"], row["receiver"], row["beacon"]
