"""The Bloom filter of a `config` message, read as docs/interfaces.md says. Pure.

The gateway agent has its own reader (`gateway_agent.bloom`); the tests hold both against the same filters."""

import base64
from dataclasses import dataclass
from hashlib import sha256

MAX_K = 32


@dataclass(frozen=True, slots=True)
class Bloom:
    """`bits`: the filter; `k`: how many of them an id has; `ids`: how many ids it was made of."""

    bits: bytes
    k: int
    ids: int

    def __contains__(self, beacon: object) -> bool:
        digest = sha256(str(beacon).encode()).digest()
        start, step = int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big") | 1
        size = 8 * len(self.bits)
        places = ((start + number * step) % size for number in range(self.k))
        return all(self.bits[place // 8] >> place % 8 & 1 for place in places)

    def __len__(self) -> int:
        return self.ids


def parse(value: object) -> Bloom:
    """The filter of a `config` message's `allow_bloom`. Raises ValueError, which says what is wrong."""
    if not isinstance(value, dict):
        raise ValueError("is not an object of ids, k and bits")  # noqa: TRY004 - it came from outside
    text, k, ids = value.get("bits"), value.get("k"), value.get("ids")
    try:
        bits = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError as error:
        raise ValueError(f"bits are not base64: {error}") from error
    if not bits:
        raise ValueError("has no bits")
    if type(k) is not int or not 1 <= k <= MAX_K:
        raise ValueError(f"k is {k!r}; a whole number from 1 to {MAX_K} is needed")
    if type(ids) is not int or ids < 0:
        raise ValueError(f"ids is {ids!r}; a whole number is needed")
    return Bloom(bits, k, ids)
