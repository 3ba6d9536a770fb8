"""Whether the whole chain works: Node-RED's own /health knows, since its heartbeat travels all of it."""

import json
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from .errors import StackError
from .health import TIMEOUT_S
from .settings import Settings
from .wait import wait_for


def reasons(settings: Settings) -> list[str]:
    """What /health says is not up, a line each with what to do; empty: all is up."""
    try:
        report = _report(settings)
    except (URLError, OSError, ValueError) as error:
        return [f"node-red does not answer: {error}"]
    return [_sentence(name, part) for name, part in report["parts"].items() if part["status"] != "up"]


def _sentence(name: str, part: dict[str, Any]) -> str:
    lines = [f"{name} is {part['status']}: {part.get('reason', 'no reason is given')}", *part.get("faults", [])]
    return "\n  ".join([*lines, *([f"-> {part['remedy']}"] if "remedy" in part else [])])


def _report(settings: Settings) -> dict[str, Any]:
    with urlopen(f"{settings.http_url}/health", timeout=TIMEOUT_S) as answer:  # noqa: S310 - our own address
        report: dict[str, Any] = json.load(answer)
    return report


def wait_until_whole(settings: Settings, within_s: float = 60.0) -> None:
    """Wait until broker, ingest, database and flows work together.

    Raises:
        StackError: with what /health said last.
    """
    last: list[str] = []

    def whole() -> bool:
        last[:] = reasons(settings)
        return not last

    try:
        wait_for(whole, within_s, "the pipeline")
    except StackError:
        said = "\n".join(last)
        raise StackError(f"not everything works after {within_s:.0f} s:\n{said}") from None
