"""The shared engine of these tests: this machine's own, else a private one with substitutes for the pinned images."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import images
from .daemon import STORES, Engine, own_of_machine, private_engine
from .installation import Installation, installation


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test of a machine waits for the engine, its images, and two that are built."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """SDA_ENGINE_STORE chooses the kind of image store of a private one."""
    if own := own_of_machine():
        yield own
        return
    with private_engine(os.environ.get("SDA_ENGINE_STORE", STORES[0])) as private:
        images.provide(private)
        yield private


@pytest.fixture
def fresh(engine: Engine) -> Iterator[Installation]:
    """A clone that has never been started."""
    with installation(engine) as clone:
        yield clone


@pytest.fixture(scope="session")
def whole_clone(engine: Engine) -> Iterator[Installation]:
    """A running clone without the demo, for the whole run."""
    with installation(engine) as clone:
        clone.environment["SIM"] = "0"
        clone.make("up")
        yield clone


@pytest.fixture
def clone(whole_clone: Installation) -> Iterator[Installation]:
    """The shared clone; stopped services are restarted before the next test."""
    yield whole_clone
    if not whole_clone.is_up():
        whole_clone.make("up")
