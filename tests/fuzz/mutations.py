"""Almost valid messages: good ones with one to four changes, most with few.

A message is a function of seed and number.
"""

import json
import random
from collections.abc import Callable, Sequence

CHANGES, THEIR_WEIGHTS = [1, 2, 3, 4], [8, 4, 2, 1]
NUMBERS = [
    b"21.",
    b"-.5",
    b".5",
    b"-61.",
    b"-61.0",
    b"-61.00",
    b"1.e3",
    b"1e3",
    b"1E+05",
    b"1e-0",
    b"1e",
    b"e1",
    b"-",
    b"+1",
    b"01",
    b"-01",
    b"-0",
    b"0.0",
    b"-0.0",
    b"00",
    b"0x1",
    b"1_0",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1e999",
    b"-1e999",
    b"1e-999",
    b"12345678901234567890",
    b"-61.00000000000000000001",
    b"0.1e1",
    b"1.5.5",
    b"1-2",
    b"--1",
    b"1e5.5",
    b"1e1e1",
    b"-127",
    b"-128",
    b"-129",
    b"127",
    b"128",
    b"20",
    b"21",
    b"-126",
    b"-1",
    b"\xd9\xa3",
    b"\xef\xbc\x91",
]
WORDS = [
    b"true",
    b"false",
    b"null",
    b"True",
    b"None",
    b"nul",
    b"nulll",
    b"tru",
    b"undefined",
    b"{}",
    b"[]",
    b"[[]]",
    b'[{"a":1}]',
    b'""',
    b'"x"',
    b'"a:b"',
    b'"a,b"',
    b'"{"',
    b'"\\""',
    b'"\\\\"',
    b'"\\u0041"',
    b'"\\ud800"',
    b'"\\ud83d\\ude00"',
    b'"\\u00"',
    b'"\\x41"',
    b"'a'",
    b'"\\t"',
    b'"a\tb"',
    b'"\n"',
    b'"\x00"',
    b'"\x1f"',
    b'"\x7f"',
    b'"\xc3\xa4"',
    b'"\xff"',
    b'"\xc0\x80"',
    b'"\xed\xa0\x80"',
    b'"\xf4\x90\x80\x80"',
    b'"\xe2\x80\xa8"',
    b'"\\/"',
    b'"\\b\\f\\n\\r"',
    b'"\\a"',
    b'"."',
    b'"1.5"',
    b'"a.b"',
    b'"21."',
    b'"__proto__"',
    b'"constructor"',
]
BETWEEN = [
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"\r\n",
    b"\f",
    b"\v",
    b"\x00",
    b"\x1c",
    b"\x85",
    b"\xc2\x85",
    b"\xc2\xa0",
    b"\xe2\x80\x83",
    b"\xef\xbb\xbf",
    b"\\",
    b"/",
    b"//x\n",
    b"/**/",
    b"#",
    b";",
    b",",
    b",,",
    b":",
    b"=",
    b'"',
    b"'",
    b"{",
    b"}",
    b"[",
    b"]",
]
KEYS = [
    b"v",
    b"ts",
    b"readings",
    b"beacon",
    b"rssi",
    b"battery_mv",
    b"temperature_c",
    b"humidity_pct",
    b"tx",
    b"x",
    b"__proto__",
    b"",
    b"rss\\u0069",
    b"constructor",
    b"\\ud800",
    b"a:b",
    b"a\tb",
]
MARKS = [b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe", b"\xff\xfe\0\0", b"\0\0\xfe\xff"]
STRANGER = "0123456789AB"

Change = Callable[[random.Random, bytes], bytes]


def message(seed: int, number: int, beacons: Sequence[str], now_ms: int) -> bytes:
    """The payload with this number: every hundredth without any change."""
    chance = random.Random(f"{seed}/{number}")  # noqa: S311 - no secret
    payload = _good(chance, beacons, now_ms - chance.randrange(1000))
    if number % 100:
        for _ in range(*chance.choices(CHANGES, THEIR_WEIGHTS)):
            payload = chance.choices(_CHANGES, _WEIGHTS)[0](chance, payload)
    return payload[:60_000]


def _good(chance: random.Random, beacons: Sequence[str], ts: int) -> bytes:
    readings = [
        {"beacon": chance.choice([*beacons, STRANGER]), "rssi": -chance.randint(1, 126), **_values(chance)}
        for _ in range(chance.randint(0, 3))
    ]
    whole = {"v": 1, "ts": ts, "seq": chance.randrange(1000), "readings": readings}
    spacing = chance.choice([(",", ":"), (", ", ": "), (" ,\t", " : ")])
    return json.dumps(whole, separators=spacing, indent=chance.choice([None, None, None, 1])).encode()


def _values(chance: random.Random) -> dict[str, object]:
    values = {
        "battery_mv": 2950,
        "temperature_c": 21.5,
        "humidity_pct": 45,
        "n": 4,
        "tx": -59,
        "x": "a: b.c",
        "y": [0.5, None, {}],
    }
    return {key: value for key, value in values.items() if chance.random() < 0.2}


def _spans(payload: bytes, first: bytes, more: bytes) -> list[tuple[int, int]]:
    """Where runs of `more` begin with one of `first`."""
    found, at = [], 0
    while at < len(payload):
        end = at + 1
        if payload[at] in first:
            while end < len(payload) and payload[end] in more:
                end += 1
            found.append((at, end))
        at = end
    return found


def _number(chance: random.Random, payload: bytes) -> bytes:
    spans = _spans(payload, b"-0123456789", b"0123456789.eE+-")
    begin, end = chance.choice(spans) if spans else (0, 0)
    return payload[:begin] + chance.choice(NUMBERS if chance.random() < 0.8 else WORDS) + payload[end:]


def _exponent(chance: random.Random, payload: bytes) -> bytes:
    spans = _spans(payload, b"-0123456789", b"0123456789.eE+-")
    _, end = chance.choice(spans) if spans else (0, 0)
    return (
        payload[:end]
        + chance.choice([b".", b".0", b".00", b"e0", b"E0", b".e0", b".5", b"0", b"e", b"-"])
        + payload[end:]
    )


def _text(chance: random.Random, payload: bytes) -> bytes:
    quotes = [at for at, byte in enumerate(payload) if byte == 0x22]
    if len(quotes) < 2:
        return payload + chance.choice(WORDS)
    at = 2 * chance.randrange(len(quotes) // 2)
    return payload[: quotes[at]] + chance.choice(WORDS) + payload[quotes[at + 1] + 1 :]


def _key(chance: random.Random, payload: bytes) -> bytes:
    """One more key in an object."""
    braces = [at for at, byte in enumerate(payload) if byte == 0x7B]
    at = chance.choice(braces) + 1 if braces else 0
    value = chance.choice([*NUMBERS, *WORDS])
    return payload[:at] + b'"' + chance.choice(KEYS) + b'":' + value + b"," + payload[at:]


def _between(chance: random.Random, payload: bytes) -> bytes:
    at = chance.randrange(len(payload) + 1)
    return payload[:at] + chance.choice(BETWEEN) + payload[at:]


def _byte(chance: random.Random, payload: bytes) -> bytes:
    at = chance.randrange(len(payload) + 1)
    return payload[:at] + bytes([chance.randrange(256)]) + payload[at + chance.randrange(2) :]


def _cut(chance: random.Random, payload: bytes) -> bytes:
    begin, end = sorted(chance.randrange(len(payload) + 1) for _ in range(2))
    return payload[:begin] + payload[min(end, begin + chance.choice([1, 1, 2, 8, 1000])) :]


def _repeat(chance: random.Random, payload: bytes) -> bytes:
    begin, end = sorted(chance.randrange(len(payload) + 1) for _ in range(2))
    return payload[:end] + payload[begin:]


def _around(chance: random.Random, payload: bytes) -> bytes:
    before, behind = chance.choice(
        [
            (b"[", b"]"),
            (b" \r\n", b"\t "),
            (b"", b"\0"),
            (b"", b"//"),
            (b'{"a":', b"}"),
            (b"", b"}"),
            (b"[" * 200, b"]" * 200),
            *((mark, b"") for mark in MARKS),
        ]
    )
    return before + payload + behind


_CHANGES: list[Change] = [_number, _exponent, _text, _key, _between, _byte, _cut, _repeat, _around]
_WEIGHTS = [8, 5, 4, 8, 3, 2, 1, 1, 1]
