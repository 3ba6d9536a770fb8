"""Beacon ids in their one canonical form: upper-case, separators only between the parts of an id. Pure."""

import re

_SHORT = re.compile(r"[0-9A-F]{12}|[0-9A-F]{20}-[0-9A-F]{12}|[0-9A-F]{40}")
"""MAC, Eddystone-UID, AltBeacon."""
_IBEACON = re.compile(r"[0-9A-F]{32}-([0-9]+)-([0-9]+)")
_WRITTEN_MAC = re.compile(r"[0-9A-F]{2}([:-])[0-9A-F]{2}(?:\1[0-9A-F]{2}){4}")
_UUID = re.compile(r"([0-9A-F]{8})-([0-9A-F]{4})-([0-9A-F]{4})-([0-9A-F]{4})-([0-9A-F]{12})")
_NO_MAC = ("0" * 12, "F" * 12)
_PART_MAX = 65_535
"""Major and minor are 16 bits each."""
_WRITTEN_MAX = 100
_FORMS = (
    "a MAC has 12 hex digits, an iBeacon is UUID-MAJOR-MINOR, an Eddystone-UID NAMESPACE-INSTANCE, "
    "an AltBeacon has 40 hex digits"
)
REGISTERED = r"[0-9A-F-]{12,64}"
"""An id of a building file: an earlier version took these, whether they could match or not."""


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
    """An id as people write it (lower case, colons, a UUID with dashes) in its canonical form.

    Only separators and case are changed: zeros in front of a number may as well be a typing error.
    Raises ValueError with the reason when it can never match a beacon.
    """
    upper = text.strip().upper()
    if len(upper) > _WRITTEN_MAX:
        raise _fault(f"{upper[:20]}…", f"it has {len(upper)} characters; {_FORMS}")
    if not upper:
        raise _fault(text, "it is missing")
    if _WRITTEN_MAC.fullmatch(upper):
        upper = upper.replace(":", "").replace("-", "")
    elif found := _UUID.match(upper):
        upper = "".join(found.groups()) + upper[found.end() :]
    if upper in _NO_MAC:
        raise _fault(text, "it is an address that no device has: it stands for none")
    if _SHORT.fullmatch(upper):
        return upper
    if not (found := _IBEACON.fullmatch(upper)):
        raise _fault(text, _why_none(upper))
    for part, number in zip(("major", "minor"), found.groups(), strict=True):
        if number.startswith("0") and number != "0":
            raise _fault(text, f"its {part} {number} has zeros in front: write it without")
        if int(number) > _PART_MAX:
            raise _fault(text, f"its {part} is {number}, at most {_PART_MAX} is possible")
    return upper


def is_canonical(text: str) -> bool:
    """Whether an id is in its canonical form."""
    try:
        return normalise(text) == text
    except ValueError:
        return False


def was_taken(text: str) -> bool:
    """Whether an earlier version took this id; a building that has it goes on with it."""
    return re.fullmatch(REGISTERED, text) is not None


def _why_none(upper: str) -> str:
    if not re.search(r"[0-9A-F]", upper):
        return f"it has no hex digit; {_FORMS}"
    if re.fullmatch(r"[0-9A-F]{32}(?:-[0-9]+)?", upper):
        return "it is a UUID without major and minor; write UUID-MAJOR-MINOR"
    return f"it is no beacon id; {_FORMS}"


def _fault(text: str, why: str) -> ValueError:
    return ValueError(f"{text!r} is not a beacon id: {why}")
