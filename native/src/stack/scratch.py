"""A whole stack on free ports in a folder of its own, for tests and measurements."""

import random
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .extras import brokers, stores
from .install import install, wanted_parts
from .layout import ROOT
from .lifecycle import down, up
from .pipeline import wait_until_healthy
from .settings import PORT_KEYS, Settings, load

DEMO_BUILDING = ROOT / "flows" / "building" / "demo.json"
FIRST_PORT, BEHIND_PORTS = 20_000, 32_000
"""Below the ports of outgoing connections."""


@contextmanager
def scratch_stack(folder: Path, own: Mapping[str, str], building: Path = DEMO_BUILDING) -> Iterator[Settings]:
    """The stack runs during the block, without the demo; then the folder is deleted.

    Args:
        folder: of all its files.
        own: settings that differ from a new `.env`. For all other ports free ones are chosen.
        building: the building file; the demo's is copied, since pictures are stored beside it.
    """
    broker, several = brokers()[own.get("BROKER", "mosquitto")], stores()[own.get("STORES", "1")]
    install([*broker.parts(), *wanted_parts()])
    if building == DEMO_BUILDING:
        building = folder / "building" / DEMO_BUILDING.name
        building.parent.mkdir(parents=True)
        shutil.copy(DEMO_BUILDING, building)
    keys = [key for key in {*PORT_KEYS, *broker.port_keys, *several.port_keys} if key not in own]
    chosen = {key: str(port) for key, port in zip(keys, free_ports(len(keys)), strict=True)}
    chosen |= {"DATA_DIR": str(folder / ".data"), "SDA_BUILDING": str(building), "MQTTS_BIND": "127.0.0.1"}
    chosen["SIM"] = "1"  # enables the account with which callers publish
    chosen["MQTT_SERVICES_OUTSIDE"] = "yes"  # callers read topics with the services' accounts, at the same time
    chosen |= own
    settings = load(folder / ".env", chosen)
    try:
        settings = up(settings, report=lambda _: None, leave_out=("simulator",))
        wait_until_healthy(settings)
        yield settings
    finally:
        down(settings)
        shutil.rmtree(folder, ignore_errors=True)


def free_ports(count: int) -> list[int]:
    """Ports of this machine on which nobody listens."""
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = random.SystemRandom().randrange(FIRST_PORT, BEHIND_PORTS)
            try:
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            found.append(port)
    return found
