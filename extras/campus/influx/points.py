"""Flux's annotated CSV as line protocol. Pure."""

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

_RESERVED = re.compile(r"([,= ])")
_OWN = {"", "result", "table", "_start", "_stop", "_time", "_value", "_field", "_measurement"}
_NS = 1_000_000_000


def lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows of an answer with the annotation `datatype` -> a line for each value, times in nanoseconds.

    Raises ValueError for a type that the line protocol does not have, and for InfluxDB's report of an error.
    """
    types: Sequence[str] = ()
    names: Sequence[str] | None = None
    for row in rows:
        if not row:
            types, names = (), None
        elif row[0] == "#datatype":
            types, names = row, None
        elif names is None:
            names = row
            if "_value" not in names:  # an error, reported after some rows in a table of its own
                types = ()
        elif not types:
            raise ValueError(f"InfluxDB broke off: {' '.join(row).strip()}")
        else:
            cells = dict(zip(names, row, strict=True))
            kind = types[names.index("_value")]
            series = "".join([_escaped(cells["_measurement"]), *_tags(names, cells)])
            yield f"{series} {_escaped(cells['_field'])}={_value(cells['_value'], kind)} {nanoseconds(cells['_time'])}"


def _tags(names: Sequence[str], cells: dict[str, str]) -> Iterator[str]:
    for name in names:
        if name not in _OWN and cells[name] != "":
            yield f",{_escaped(name)}={_escaped(cells[name])}"


@lru_cache(maxsize=4096)
def _escaped(text: str) -> str:
    return _RESERVED.sub(r"\\\1", text)


def _value(text: str, kind: str) -> str:
    match kind:
        case "double":
            return text
        case "long":
            return f"{text}i"
        case "unsignedLong":
            return f"{text}u"
        case "boolean":
            return text
        case "string":
            return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    raise ValueError(f"a field has the type {kind}, which cannot be written")


def nanoseconds(text: str) -> int:
    """`2026-11-23T12:00:00.123456789Z` -> epoch nanoseconds."""
    fraction = text[20:-1] if text[19:20] == "." else ""
    return _second(text[:19]) * _NS + int(fraction.ljust(9, "0"))


@lru_cache(maxsize=4096)
def _second(text: str) -> int:
    year, month, day, hour, minute, second = map(int, re.split("[-T:]", text))
    return calendar.timegm((year, month, day, hour, minute, second))
