"""What several tests need."""

import pytest

from accuracy.__main__ import RECORDINGS
from accuracy.recorded import Recording, load


@pytest.fixture(scope="session")
def recorded() -> list[Recording]:
    return [one for some in load([RECORDINGS]) for one in some.recordings]


@pytest.fixture(scope="session")
def walk(recorded: list[Recording]) -> Recording:
    """A short walk with a tag, in four rooms without walls."""
    return next(one for one in recorded if one.name == "zigzagging_without_rotation")
