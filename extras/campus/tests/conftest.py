"""Fixtures of the tests of a campus: those of the core's system tests."""

import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
sys.path[:0] = [str(HERE / part) for part in ("tests", "broker", "influx")]

from support.fixtures import *  # noqa: F403, E402 - pytest finds fixtures by their names here
