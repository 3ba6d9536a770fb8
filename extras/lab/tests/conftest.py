"""Fixtures of the laboratory's tests: those of the simulator's and of the core's system tests."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "simulator" / "tests")]

from real_broker import RealBroker  # noqa: E402 - found through the path above
from support.fixtures import *  # noqa: F403, E402 - pytest finds fixtures by their names here


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RealBroker]:
    """Mosquitto on a free port in a temporary folder, with the account `simulator`."""
    with RealBroker(tmp_path / "broker") as running:
        yield running
