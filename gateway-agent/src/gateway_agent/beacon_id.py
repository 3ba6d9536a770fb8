"""Beacon ids in the contract's form: upper-case, separators only between an id's parts. Pure."""

import re

_VALID = re.compile(r"[0-9A-F-]{12,64}")
_UUID = re.compile(r"([0-9A-F]{8})-([0-9A-F]{4})-([0-9A-F]{4})-([0-9A-F]{4})-([0-9A-F]{12})")


def from_mac(address: str) -> str:
    """``C2:A6:28:38:4B:08`` -> ``C2A628384B08``."""
    return address.replace(":", "").upper()


def ibeacon(uuid: bytes, major: int, minor: int) -> str:
    """16-byte UUID in hex, major and minor in decimal as every beacon's set-up app shows them: ``UUID-MAJOR-MINOR``."""
    return f"{uuid.hex().upper()}-{major}-{minor}"


def eddystone_uid(namespace: bytes, instance: bytes) -> str:
    """10-byte namespace and 6-byte instance in hex: ``NAMESPACE-INSTANCE``."""
    return f"{namespace.hex()}-{instance.hex()}".upper()


def normalise(text: str) -> str:
    """An id as people write it (lower case, colons, a UUID with dashes) in the contract's form.

    Raises ValueError when it cannot be a beacon id.
    """
    beacon = _UUID.sub(r"\1\2\3\4\5", text.strip().upper().replace(":", ""))
    if re.fullmatch(r"([0-9A-F]{2}-){5}[0-9A-F]{2}", beacon):
        beacon = beacon.replace("-", "")
    if not _VALID.fullmatch(beacon):
        raise ValueError(
            f"{text!r} is not a beacon id: give a MAC, UUID-MAJOR-MINOR, NAMESPACE-INSTANCE or AltBeacon id"
        )
    return beacon
