"""Shared fixtures of the system tests."""

from support.fixtures import *  # noqa: F403 - pytest finds fixtures by their names here
