"""Rewrites the list of registered beacons under load: Telegraf reloads it, and nothing is lost."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from ingest.steady import SteadySender
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, publish
from support.stored import stored_readings


class Registry:
    """Telegraf's file of registered beacons, written like the flows do."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "registry.conf"

    def read(self) -> str:
        return self._path.read_text()

    def add(self, beacon: str) -> None:
        self.write(self.read().replace("registered = [", f'registered = [\n      "{beacon}",', 1))

    def write(self, text: str) -> None:
        staged = self._path.with_suffix(".new")
        staged.write_text(text)
        staged.replace(self._path)


@pytest.fixture
def registry(stack: RunningStack) -> Iterator[Registry]:
    registry = Registry(stack.data_dir / "ingest")
    before = registry.read()
    yield registry
    registry.write(before)


def test_beacon_added_under_load_is_stored_and_nothing_is_lost(
    stack: RunningStack, demo: Building, registry: Registry
) -> None:
    new, receiver = "A0B1C2D3E4F5", f"registry-{uuid.uuid4().hex[:8]}"
    sender = SteadySender(stack, [beacon.id for beacon in demo.beacons[:4]], rate=100)

    def stored() -> list[dict[str, object]]:
        publish(stack, (f"gateway/{receiver}/readings", batch((new, -61))))
        return stored_readings(stack, f"receiver = '{receiver}'")

    with sender.running():
        sender.seconds_pass(1)
        assert not stored()
        registry.add(new)
        eventually(stored, within_s=60, what="readings of the new beacon")
        sender.seconds_pass(1)
    sender.all_arrive()
