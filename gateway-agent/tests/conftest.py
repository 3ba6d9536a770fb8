"""A private D-Bus with a fake BlueZ, a real broker, and the real agent between them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fake_bluez import FakeBluez
from private_bus import PrivateBus
from real_broker import Broker
from running_agent import RunningAgent, StartAgent, make_agent
from subscriber import Subscriber


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[PrivateBus]:
    """The agent's system bus."""
    with PrivateBus(tmp_path) as bus:
        yield bus


@pytest.fixture
def bluez(bus: PrivateBus) -> Iterator[FakeBluez]:
    """A fake bluetoothd with one adapter."""
    with FakeBluez(bus.address) as bluez:
        yield bluez


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A Mosquitto with the repository's configuration."""
    with Broker(tmp_path) as broker:
        yield broker


@pytest.fixture
def platform(broker: Broker) -> Iterator[Subscriber]:
    """A subscriber with the ingest's account."""
    with Subscriber(broker.port) as subscriber:
        yield subscriber


@pytest.fixture
def start_agent(
    request: pytest.FixtureRequest, tmp_path: Path, bus: PrivateBus, broker: Broker
) -> Iterator[StartAgent]:
    """Starts agents; sections of the configuration override the defaults."""
    with ExitStack() as stack:

        def start(environment: dict[str, str] | None = None, **sections: Any) -> RunningAgent:
            agent = make_agent(tmp_path, bus.address, broker, sections, environment)
            if "bluez" in request.fixturenames:
                bluez: FakeBluez = request.getfixturevalue("bluez")
                agent.scan_ended = lambda: not bluez.scanning
            return stack.enter_context(agent)

        yield start
