"""What every benchmark starts from: a private bus, a played BlueZ, a broker, a subscriber and the real agent."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from played_bluez import PlayedBluez
from played_broker import Broker
from private_bus import PrivateBus
from running_agent import RunningAgent, make_agent
from subscriber import Subscriber
from waiting import eventually


class Rig(NamedTuple):
    """The parts."""

    agent: RunningAgent
    bluez: PlayedBluez
    broker: Broker
    platform: Subscriber


@contextmanager
def rig(**sections: Any) -> Iterator[Rig]:
    """All parts running, the agent scanning and connected."""
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as name:
        folder = Path(name)
        with (
            PrivateBus(folder) as bus,
            PlayedBluez(bus.address) as bluez,
            Broker(folder) as broker,
            Subscriber(broker.port) as platform,
            make_agent(folder, bus.address, broker, sections) as agent,
        ):
            agent.scan_ended = lambda: not bluez.scanning
            eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
            yield Rig(agent, bluez, broker, platform)


def say(text: str) -> None:
    """A line of the report, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
