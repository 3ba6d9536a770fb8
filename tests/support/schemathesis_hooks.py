"""Rules between parameters that OpenAPI cannot express.

Generated valid requests are adjusted to them; intentionally invalid requests are not. A 503 with Retry-After is
retried.
"""

import time
from functools import partial
from typing import Any

import requests
import schemathesis
from requests.adapters import HTTPAdapter
from schemathesis.generation import GenerationMode
from urllib3 import Retry

DAY_S = 86_400
PAST = "2020-01-01T00:00:00Z"
RETRY_503 = Retry(
    None, status=20, status_forcelist=[503], allowed_methods=None, raise_on_status=False, connect=0, read=0
)
"""On a busy machine the database may be late: 503 with a Retry-After, which is retried, as clients should."""

# schemathesis does not expose its session
requests.sessions.HTTPAdapter = partial(HTTPAdapter, max_retries=RETRY_503)  # type: ignore[attr-defined, assignment]


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:  # noqa: ARG001 - the hook's own signature
    """Adjust the parameters of a valid request to each other."""
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    for part in (case.query, case.body):
        if isinstance(part, dict):
            _align(part)


def _align(part: dict[str, Any]) -> None:
    part.pop("cursor", None)  # only cursors of an earlier response are valid
    if "start" in part or "end" in part:
        _window(part)
    if "start_time" in part:  # HACS-era routes; with several people the window must be short
        several = str(part.get("staff_id", "")) == "*" or "," in str(part.get("staff_id", ""))
        start, end = float(part["start_time"]), float(part["end_time"])
        part["start_time"], part["end_time"] = min(start, end), min(start, end) if several else max(start, end)
    if "from" in part:  # of a rebuild
        part["from"] = _no_later_than_now(part["from"])
        if "to" in part:
            part["to"] = time.time()


def _window(part: dict[str, Any]) -> None:
    """At most 31 days, the end not before the start."""
    start = part.get("start")
    if start is None:
        return
    part["end"] = start if isinstance(start, str) and not _is_number(start) else float(start) + 31 * DAY_S - 1
    if isinstance(part["end"], float) and part["end"] >= 1e11:
        part["end"] = start


def _no_later_than_now(moment: Any) -> Any:
    if _is_number(moment):
        return min(float(moment), time.time() - 1)
    return PAST if str(moment)[:4] >= "2026" else moment


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
