"""Compares both parsers on mutated messages, piece by piece."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from stack.layout import ROOT
from support.building import Building
from support.stack_client import now_ms

from . import parsers
from .mutations import message

BUILDING = ROOT / "flows" / "building" / "demo.json"
PIECE = 4000
"""Messages of one request to Telegraf."""
SHOWN = 20
"""Differences that are kept."""


@dataclass(slots=True)
class Compared:
    """What a run has found."""

    messages: int = 0
    taken: int = 0
    """Messages of which both take something."""
    different: int = 0
    examples: list[str] = field(default_factory=list)


def run(
    mutations: int, seed: int, building: Path = BUILDING, report: Callable[[Compared], None] = lambda _: None
) -> Compared:
    """Compare both parsers on this many messages.

    Args:
        building: its beacons are the registered ones.
        report: is called after each piece.
    """
    beacons = [beacon.id for beacon in Building(building).beacons]
    found = Compared()
    with parsers.flows() as flows, parsers.ingest(building) as ingest:
        for first in range(0, mutations, PIECE):
            at_ms = now_ms()
            numbers = range(first, min(first + PIECE, mutations))
            payloads = [message(seed, number, beacons[:3], at_ms) for number in numbers]
            ours = flows.take(payloads, at_ms, frozenset(beacons))
            theirs = ingest.take(payloads)
            for number, payload, located, stored in zip(numbers, payloads, ours, theirs, strict=True):
                found.messages += 1
                found.taken += located.ts is not None and stored.ts is not None
                if located == stored:
                    continue
                found.different += 1
                if len(found.examples) < SHOWN:
                    found.examples.append(f"{seed}/{number}: {payload!r}\n  flows {located}\n  ingest {stored}")
            report(found)
        found.examples += ingest.refused[:SHOWN]
        found.different += len(ingest.refused)
    return found
