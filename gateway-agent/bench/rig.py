"""Set-up of every benchmark: a private bus, a fake BlueZ, a broker, a subscriber and the real agent."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fake_bluez import FakeBluez
from private_bus import PrivateBus
from real_broker import Broker
from running_agent import RunningAgent, make_agent
from subscriber import Subscriber
from waiting import eventually


class Rig(NamedTuple):
    """The running parts."""

    agent: RunningAgent
    bluez: FakeBluez
    broker: Broker
    platform: Subscriber


@contextmanager
def rig(**sections: Any) -> Iterator[Rig]:
    """Start all parts; the agent scans and is connected."""
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as name:
        folder = Path(name)
        with (
            PrivateBus(folder) as bus,
            FakeBluez(bus.address) as bluez,
            Broker(folder) as broker,
            Subscriber(broker.port) as platform,
            make_agent(folder, bus.address, broker, sections) as agent,
        ):
            agent.scan_ended = lambda: not bluez.scanning
            eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
            yield Rig(agent, bluez, broker, platform)


def say(text: str) -> None:
    """Print a line of the report at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
