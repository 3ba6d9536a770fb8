"""Checks the whole pipeline with Node-RED's /health, whose heartbeat passes through all of it."""

import json
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from .errors import StackError
from .health import TIMEOUT_S
from .settings import Settings
from .wait import wait_for

LOCATED_WITHIN_S = 15.0
"""After an ordinary stop a start needs a few seconds. After a longer outage locating goes on in the background."""


def problems(settings: Settings) -> list[str]:
    """The parts that are not up according to /health, each with reason and remedy. Empty: all are up."""
    try:
        report = _report(settings)
    except (URLError, OSError, ValueError) as error:
        return [f"node-red does not answer: {error}"]
    return [_problem_text(name, part) for name, part in report["parts"].items() if part["status"] != "up"]


def _problem_text(name: str, part: dict[str, Any]) -> str:
    lines = [f"{name} is {part['status']}: {part.get('reason', 'no reason is given')}", *part.get("faults", [])]
    return "\n  ".join([*lines, *([f"-> {part['remedy']}"] if "remedy" in part else [])])


def _report(settings: Settings) -> dict[str, Any]:
    with urlopen(f"{settings.http_url}/health", timeout=TIMEOUT_S) as answer:  # noqa: S310 - our own address
        report: dict[str, Any] = json.load(answer)
    return report


def wait_until_healthy(settings: Settings, within_s: float = 60.0) -> None:
    """Wait until broker, ingest, database and flows work together.

    Raises:
        StackError: with the last text of /health.
    """
    last: list[str] = []

    def healthy() -> bool:
        last[:] = problems(settings)
        return not last

    try:
        wait_for(healthy, within_s, "the pipeline")
    except StackError:
        text = "\n".join(last)
        raise StackError(f"not everything works after {within_s:.0f} s:\n{text}") from None


def wait_until_located(settings: Settings, within_s: float = LOCATED_WITHIN_S) -> bool:
    """Wait until the past is located, so that history answers instead of 503. False: not within `within_s`."""
    try:
        wait_for(lambda: _is_located(settings), within_s, "the past to be located")
    except StackError:
        return False
    return True


def _is_located(settings: Settings) -> bool:
    try:
        return bool(_report(settings)["parts"]["rebuild"]["state"] == "idle")
    except (URLError, OSError, ValueError, KeyError):
        return False
