"""Shared fixtures: the demo building and a real broker."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # real_broker.py, generator_process.py, cli.py
# The project's folder and the package have the same name, and pytest has made an empty package of the folder. Remove
# it, so that the real package is imported.
if getattr(sys.modules.get("simulator"), "__file__", None) is None:
    sys.modules.pop("simulator", None)

from cli import DEMO_FILE
from real_broker import RealBroker
from simulator.building import Building, load
from simulator.plan import Plan


@pytest.fixture(scope="session")
def demo() -> Building:
    return load(DEMO_FILE)


@pytest.fixture(scope="session")
def plan(demo: Building) -> Plan:
    return Plan(demo)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RealBroker]:
    """Mosquitto on a free port in a temporary folder, with persistence, the account `simulator` and a `listener`."""
    with RealBroker(tmp_path / "broker") as running:
        yield running
