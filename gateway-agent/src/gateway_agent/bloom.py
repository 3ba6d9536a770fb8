"""A Bloom filter of beacon ids: a few bits each, for lists that do not fit into one message. Pure.

It never misses a member and reports a small share of others as members. docs/interfaces.md defines the format.
"""

import base64
from dataclasses import dataclass
from hashlib import sha256

MAX_K = 32
MAX_IDS = 10_000_000


@dataclass(frozen=True, slots=True)
class Bloom:
    """``bits``: the filter; ``k``: bits per id; ``ids``: number of ids in the filter."""

    bits: bytes
    k: int
    ids: int

    def __contains__(self, beacon: str) -> bool:
        digest = sha256(beacon.encode()).digest()
        position, step = int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big") | 1
        for _ in range(self.k):
            byte, bit = divmod(position % (8 * len(self.bits)), 8)
            if not self.bits[byte] >> bit & 1:
                return False
            position += step
        return True

    def __len__(self) -> int:
        return self.ids


def parse(value: object) -> Bloom:
    """Parse the filter of a `config` message. Raises ValueError with the reason."""
    if not isinstance(value, dict):
        raise ValueError("not an object of ids, k and bits")  # noqa: TRY004 - external input
    text = value.get("bits")
    try:
        bits = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError as error:
        raise ValueError(f"bits are not base64: {error}") from error
    if not bits:
        raise ValueError("there are no bits")
    return Bloom(bits, _whole(value, "k", 1, MAX_K), _whole(value, "ids", 0, MAX_IDS))


def _whole(value: dict[str, object], key: str, minimum: int, maximum: int) -> int:
    number = value.get(key)
    if not isinstance(number, int) or isinstance(number, bool) or not minimum <= number <= maximum:
        raise ValueError(f"{key} is {number!r}; a whole number from {minimum} to {maximum} is needed")
    return number
