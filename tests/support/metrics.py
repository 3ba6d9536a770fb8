"""Reads the metrics of a running stack in Prometheus' format."""

import re

from . import web
from .running import RunningStack

_LINE = re.compile(r'([a-zA-Z_:][\w:]*(?:\{(?:[^"}]|"[^"]*")*\})?) (\S+)')


def figures(stack: RunningStack) -> dict[str, float]:
    """Every sample of /metrics by its name and labels: `sda_refused_total{reason="not_json"}`."""
    answer = web.get(f"{stack.http_url}/metrics", timeout=10)
    answer.raise_for_status()
    return samples(answer.text)


def samples(text: str) -> dict[str, float]:
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            match = _LINE.fullmatch(line)
            assert match, f"no sample: {line!r}"
            found[match[1]] = float(match[2])
    return found
