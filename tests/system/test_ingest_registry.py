"""Rewrites the list of registered beacons under load: Telegraf reloads it, and nothing is lost."""

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from ingest.steady import SteadySender
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, influx, publish


class Registry:
    """Telegraf's two files of registered beacons, written like the flows do."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> dict[str, Mapping[str, str]]:
        return dict(json.loads((self._folder / "beacons.json").read_text()))

    def write(self, beacons: Mapping[str, Mapping[str, str]]) -> None:
        text = json.dumps(beacons)
        self._replace("beacons.json", text)
        self._replace("registry.conf", f"# {hashlib.sha256(text.encode()).hexdigest()}\n")

    def _replace(self, name: str, text: str) -> None:
        (self._folder / f"{name}.new").write_text(text)
        (self._folder / f"{name}.new").replace(self._folder / name)


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
        return influx(stack, "readings", f"SELECT rssi FROM reading WHERE receiver = '{receiver}'")  # noqa: S608

    with sender.running():
        sender.seconds_pass(1)
        assert not stored()
        registry.write(registry.read() | {new: {"registered": "1"}})
        eventually(stored, within_s=60, what="readings of the new beacon")
        sender.seconds_pass(1)
    sender.all_arrive()
