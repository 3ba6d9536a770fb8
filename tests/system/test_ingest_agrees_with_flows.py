"""Ingest and flows apply the same rules: stored readings are located, refused ones are published as rejected."""

import random
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from support.building import Building
from support.running import RunningStack
from support.stack_client import eventually, influx, now_ms, publish
from support.stored import stored_with_measurements

SEED = 8
MESSAGES = 400
UNREGISTERED = "0123456789AB"
ODD = ["null", "true", "false", '""', '"-61"', "[]", "{}", "[-61]", '{"a":1}', "1e999", "-1e999", "-0", "0.0", "1E2",
       "0.5", "-61.5", "1e-7", "1e-400", "12345678901234567890", '"NaN"', '"+"']  # fmt: skip
RSSI = [
    "-61",
    "-126",
    "-127",
    "20",
    "127",
    "0",
    "-61.",
    "-61.0",
    "-61.00",
    "20.0",
    "-6.1e1",
    "-610e-1",
    "-61.00000000000000000001",
    "-127.5",
    "21",
]
OPTIONAL = {
    "battery_mv": ["2950", "0", "65535", "65535.5", "65536", "-1", "2950.7", "2950.0", "1e3", "0.295e4"],
    "temperature_c": ["21.5", "-40", "200", "200.1", "-101", "21", "2e1", "2.15e1"],
    "humidity_pct": ["45", "100", "101", "-1", "0", "45.5"],
}
VERSIONS = ["1.0", "1.00", "1e0", "10e-1", "1.00000000000000000001", "2", '"1"', "null", "true", "[1]", "{}", "01"]
NO_READINGS = ["null", "{}", '"x"', "1", "true", "[[]]", "[null]", "[1]", '["x"]', "[{}]"]
OTHER_KEYS = ["x", "kind", "receiver", "registered", "beacon", "rssi", "whole", "count", "time", "host", "READINGS",
              "readings.#", "__proto__", "constructor"]  # fmt: skip
MARKS = [b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe", b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"\xef\xbb\xbf" * 2,
         b" \xef\xbb\xbf"]  # fmt: skip
STORED = [
    ("readings", "batch", "receiver"),
    ("locations", "location", "staff_id"),
    ("health", "rejected", "receiver"),
]
AHEAD_MS = 60_000
"""Times that are some minutes in the future."""
ALIKE_DB = 1
"""A smaller difference between two rooms' readings does not decide the room."""
OF_READINGS = {"beacon_invalid", "rssi_invalid", "rssi_unknown"}

Items = list[tuple[str, str]]
Rows = list[dict[str, Any]]
Point = tuple[int, str, int]
"""Time, beacon, RSSI."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message.

    Attributes:
        readings: how many there are in its list, where it has one.
        strangers: how many of them have a beacon that nobody registered.
        optional: the optional values of the first of them that are measured: neither `null` nor a battery of 0 mV.
    """

    receiver: str
    payload: bytes
    readings: int
    strangers: int
    optional: frozenset[str]


class Author:
    """Generates messages that are mostly almost valid.

    The first reading is of a registered beacon and anything may be wrong with it; the other is good, of another beacon,
    and weaker than any.
    """

    def __init__(self, chance: random.Random, beacons: Sequence[str]) -> None:
        self.chance = chance
        self.beacon, self.other, self.third = beacons

    def message(self, receiver: str) -> Sent:
        stranger = self._happens(0.03)
        reading = self._reading(UNREGISTERED if stranger else self.beacon)
        readings = [self._object(reading)]
        if self._happens(0.3):
            readings.append(f'{{"beacon":"{self.other}","rssi":-126}}')
        count, written = len(readings), f"[{','.join(readings)}]"
        if self._happens(0.04):
            count, written = 1, self.chance.choice(NO_READINGS)
        items = [("v", self._mostly("1", VERSIONS)), ("ts", self._ts()), ("readings", written)]
        items = [item for item in items if self._happens(0.97)]
        if self._happens(0.3):
            items.append((self.chance.choice(OTHER_KEYS), self.chance.choice(ODD)))
        items = self._mixed(items)
        if first_of(items).get("readings") == "[]":
            count = 0
        payload = self._damaged(self._object(items).encode())
        optional = frozenset(key for key in OPTIONAL if _is_measured(key, first_of(reading).get(key, "null")))
        return Sent(receiver, payload, count, int(stranger), optional)

    def _reading(self, beacon: str) -> Items:
        items = [("beacon", self._beacon(beacon)), ("rssi", self._mostly("-61", [*RSSI, *RSSI, *ODD], likely=0.4))]
        items = [item for item in items if self._happens(0.97)]
        for key, values in OPTIONAL.items():
            if self._happens(0.25):
                items.append((key, self.chance.choice([*values, *values, *ODD])))
        if self._happens(0.1):
            items.append((self.chance.choice(OTHER_KEYS[6:]), self.chance.choice(ODD)))
        return self._mixed(items)

    def _beacon(self, beacon: str) -> str:
        escaped = f'"{beacon[:-1]}\\u{ord(beacon[-1]):04x}"'
        odd = [escaped, escaped, "null", "123", '""', "[]", f'["{beacon}"]', f'"{beacon.lower()}"']
        return self._mostly(f'"{beacon}"', odd)

    def _ts(self) -> str:
        now, day = now_ms() - self.chance.randrange(1000), 86_400_000
        odd = [f"{now}.0", f"{now}.000", f"{now}.5", f"{now}e0", f"{now / 1e12:.12f}e12", f"{now}00e-2", f'"{now}"',
               "null", "[]", "{}", "true", f"[{now}]", f"-{now}", f"{now}0", f"{now}.00000000000000000001", "0", "9e15",
               "1e999", str(now - 8 * day), str(now - 7 * day + 120_000), str(now + 280_000),
               str(now + 320_000)]  # fmt: skip
        return self._mostly(str(now), odd)

    def _mostly(self, good: str, odd: list[str], likely: float = 0.8) -> str:
        return good if self._happens(likely) else self.chance.choice(odd)

    def _mixed(self, items: Items) -> Items:
        """Keys in random order, sometimes one of them twice."""
        if items and self._happens(0.08):
            key, _ = self.chance.choice(items)
            again = ["1", "-33", str(now_ms()), "[]", "null", '"x"', f'"{self.third}"']
            items = [*items, (key, self.chance.choice(again))]
        return self.chance.sample(items, len(items)) if self._happens(0.3) else items

    def _object(self, items: Items) -> str:
        written = _escaped if self._happens(0.05) else str
        return "{" + ",".join(f'"{written(key)}":{value}' for key, value in items) + "}"

    def _happens(self, likely: float) -> bool:
        return self.chance.random() < likely

    def _damaged(self, payload: bytes) -> bytes:
        changes: list[Callable[[bytes], bytes]] = [
            lambda text: text[:-1],
            lambda text: text + text,
            lambda text: b"[" + text + b"]",
            lambda text: text + b"\0",
            lambda text: b" \r\n" + text + b"\t ",
            lambda text: b"//x\n" + text,
            lambda text: text.replace(b",", b",,", 1),
            lambda text: text.replace(b'"v"', b'"v\xff\xfe"'),
            lambda text: text.replace(b":", b" :\n\t "),
            *(partial(bytes.__add__, mark) for mark in MARKS),
        ]
        return self.chance.choice(changes)(payload) if self._happens(0.12) else payload


def _is_measured(key: str, written: str) -> bool:
    if key == "battery_mv":
        with suppress(ValueError):
            return not 0 <= float(written) < 1  # a fraction is cut off
    return written != "null"


def test_ingest_agrees_with_flows(stack: RunningStack, demo: Building) -> None:
    run = uuid.uuid4().hex[:8]
    author = Author(random.Random(SEED), [beacon.id for beacon in demo.beacons[:3]])  # noqa: S311 - no secret
    sent = [author.message(f"{run}-{number}") for number in range(MESSAGES)]
    publish(stack, *((f"phone/{one.receiver}/readings", one.payload) for one in sent))
    _wait_until_all_is_stored(stack, run, author.beacon)
    readings, located, refused = (_stored(stack, place, run) for place in STORED)
    faults = [
        f"{fault}: {one.payload!r}"
        for one in sent
        for fault in _faults(one, author.other, readings[one.receiver], located[one.receiver], refused[one.receiver])
    ]
    assert not faults, "\n".join(faults)
    assert len(readings) > MESSAGES / 3, "enough that is stored to mean something"
    assert len(refused) > MESSAGES / 3, "enough that is refused to mean something"


def _faults(sent: Sent, weak: str, readings: Rows, located: Rows, refused: Rows) -> list[str]:
    """The differences between both for a message."""
    faults = []
    reasons = {row["reason"] for row in refused}
    whole = reasons - OF_READINGS - {"optional_invalid"}
    lost = sum(row["count"] for row in refused if row["reason"] in OF_READINGS)
    heard, shown = [_point(row) for row in readings], [_point(row) for row in located]
    if not _agree(heard, shown):
        faults.append(f"stored {heard}, located {shown}, refused {reasons or 'nothing'}")
    if whole and readings:
        faults.append(f"stored though refused as {whole}")
    elif not whole and len(readings) + lost + sent.strangers * (not lost) != sent.readings:
        faults.append(f"of {sent.readings} readings {len(readings)} stored and {lost} refused")
    first = next((row for row in readings if row["beacon"] != weak), None)
    missing = [key for key in sent.optional if first is not None and first.get(key) is None]
    reported = sum(row["count"] for row in refused if row["reason"] == "optional_invalid")
    if first is not None and len(missing) != reported:
        faults.append(f"{missing} not stored, {reported} values refused")
    return faults


def _wait_until_all_is_stored(stack: RunningStack, run: str, beacon: str) -> None:
    """Wait for a later message, which is stored after all others."""
    end = f"{run}-end"
    good = {"v": 1, "ts": now_ms(), "readings": [{"beacon": beacon, "rssi": -60}]}
    publish(stack, (f"phone/{end}/readings", good), (f"phone/{end}/readings", "refused"))
    for place in STORED:
        eventually(partial(_stored, stack, place, end), what=f"the last {place[1]}")


def _stored(stack: RunningStack, place: tuple[str, str, str], beginning: str) -> defaultdict[str, Rows]:
    """The points of all receivers with this prefix."""
    bucket, measurement, tag = place
    condition = f"{tag} =~ /^{beginning}/"
    if measurement == "batch":
        rows = stored_with_measurements(stack, condition)
    else:
        rows = influx(stack, bucket, f"SELECT * FROM {measurement} WHERE {condition}")  # noqa: S608 - our own names
    found: defaultdict[str, Rows] = defaultdict(list)
    for row in rows:
        found[row[tag]].append(row)
    return found


def _point(row: Mapping[str, Any]) -> Point:
    return row["time"], row["beacon"], row["rssi"]


def _agree(stored: list[Point], located: list[Point]) -> bool:
    """Whether there is one location: of the strongest reading and its second (for a clock ahead: of its arrival)."""
    if not stored or len(located) != 1:
        return not stored and not located
    (second, *shown), ts = located[0], stored[0][0]
    loudest = max(rssi for _, _, rssi in stored)
    likely = [[beacon, rssi] for _, beacon, rssi in stored if rssi >= loudest - ALIKE_DB]
    in_time = second == ts // 1000 * 1000 if ts < now_ms() + AHEAD_MS else second < now_ms()
    return shown in likely and second % 1000 == 0 and in_time


def first_of(items: Items) -> dict[str, str]:
    """The first of repeated keys counts."""
    return dict(reversed(items))


def _escaped(text: str) -> str:
    return f"{text[0]}\\u{ord(text[1]):04x}{text[2:]}" if len(text) > 1 else text
