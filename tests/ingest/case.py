"""A case: one message and the points it shall leave, as files. README.md in `cases` describes them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"

_NOW = re.compile(r"\$now(?:([+-]\d+)([smd]))?")
_UNIT_MS = {"s": 1000, "m": 60_000, "d": 86_400_000}


@dataclass(frozen=True, slots=True)
class Case:
    """A case with its placeholders filled in.

    `rejected` holds (reason, count) pairs. In `points` the time "$arrival" stands for any time from sending on.
    """

    topic: str
    payload: bytes
    times: int
    receiver: str
    points: Sequence[Mapping[str, Any]]
    rejected: Sequence[tuple[str, int]] = ()


def names() -> list[str]:
    """Every case there is."""
    return sorted(folder.name for folder in CASES.iterdir() if folder.is_dir())


def names_with_refusals() -> list[str]:
    """Every case with expected refusals, or with none."""
    return [name for name in names() if (CASES / name / "expected_rejected.json").exists()]


def load(name: str, receiver: str, beacons: Sequence[str], now_ms: int) -> Case:
    """Read a case for this receiver, these registered beacons and this time."""
    folder = CASES / name
    filled = _Filler(receiver, beacons, now_ms)
    about = json.loads((folder / "case.json").read_text())
    if (folder / "payload.bin").exists():
        payload = filled.octets((folder / "payload.bin").read_bytes())
    else:
        payload = json.dumps(filled.value(_read(folder / "message.json"))).encode()
    if "fill_to" in about:
        payload = payload.replace(b"$fill", b"x" * (about["fill_to"] - len(payload) + len(b"$fill")))
    rejected = folder / "expected_rejected.json"
    return Case(
        topic=filled.text(about["topic"]),
        payload=payload,
        times=about.get("times", 1),
        receiver=receiver,
        points=filled.value(_read(folder / "expected.json")),
        rejected=[(one["reason"], one["count"]) for one in _read(rejected)] if rejected.exists() else [],
    )


@dataclass(frozen=True, slots=True)
class _Filler:
    """Puts values in place of $receiver, $beaconN, $now, $now-8d…"""

    receiver: str
    beacons: Sequence[str]
    now_ms: int

    def value(self, value: Any) -> Any:
        """The same JSON with its placeholders filled: a text that is a time becomes a number."""
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, str):
            return value
        time = _NOW.fullmatch(value)
        return self._time(time) if time else self.text(value)

    def text(self, text: str) -> str:
        text = re.sub(r"\$beacon(\d+)", lambda match: self.beacons[int(match[1])], text)
        return text.replace("$receiver", self.receiver)

    def octets(self, payload: bytes) -> bytes:
        """A payload that need not be JSON, nor text: every byte but the placeholders' stays."""
        text = _NOW.sub(lambda match: str(self._time(match)), self.text(payload.decode("latin-1")))
        return text.encode("latin-1")

    def _time(self, match: re.Match[str]) -> int:
        return self.now_ms + (int(match[1]) * _UNIT_MS[match[2]] if match[1] else 0)


def _read(path: Path) -> Any:
    return json.loads(path.read_text())
