"""A set of beacon ids in a few bits each (a Bloom filter), where a list of them would not fit into one message. Pure.

Whatever is in it is found; of what is not, a small share is found too. docs/interfaces.md says how it is read.
"""

import base64
from dataclasses import dataclass
from hashlib import sha256

MAX_K = 32
MAX_IDS = 10_000_000


@dataclass(frozen=True, slots=True)
class Bloom:
    """``bits``: the filter; ``k``: how many of them an id has; ``ids``: how many ids it was made of."""

    bits: bytes
    k: int
    ids: int

    def __contains__(self, beacon: str) -> bool:
        digest = sha256(beacon.encode()).digest()
        place, step = int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big") | 1
        for _ in range(self.k):
            byte, bit = divmod(place % (8 * len(self.bits)), 8)
            if not self.bits[byte] >> bit & 1:
                return False
            place += step
        return True

    def __len__(self) -> int:
        return self.ids


def read(value: object) -> Bloom:
    """The filter of a `config` message; raises ValueError saying what is wrong."""
    if not isinstance(value, dict):
        raise ValueError("not an object of ids, k and bits")  # noqa: TRY004 - it came from outside
    text = value.get("bits")
    try:
        bits = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError as error:
        raise ValueError(f"bits are not base64: {error}") from error
    if not bits:
        raise ValueError("there are no bits")
    return Bloom(bits, _whole(value, "k", 1, MAX_K), _whole(value, "ids", 0, MAX_IDS))


def _whole(value: dict[str, object], key: str, least: int, most: int) -> int:
    number = value.get(key)
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
        raise ValueError(f"{key} is {number!r}; a whole number from {least} to {most} is needed")
    return number
