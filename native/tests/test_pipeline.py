"""`make up` waits until history answers, and gives up without a fault where an outage takes longer."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import chain, repeat
from typing import cast

import pytest
from http_server import serving
from stack.pipeline import wait_until_located
from stack.settings import Settings

states: Iterator[str] = iter(())


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"parts": {"rebuild": {"status": "up", "state": next(states)}}}).encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _Address:
    def __init__(self, port: int) -> None:
        self.http_url = f"http://127.0.0.1:{port}"


@pytest.fixture
def settings() -> Iterator[Settings]:
    with serving(HTTPServer(("127.0.0.1", 0), _Answer)) as server:
        yield cast("Settings", _Address(server.server_port))


def test_waits_until_the_past_is_located(settings: Settings) -> None:
    global states
    states = chain(["running", "running"], repeat("idle"))
    assert wait_until_located(settings, within_s=30)
    assert next(states) == "idle"


def test_gives_up_when_it_takes_longer(settings: Settings) -> None:
    global states
    states = repeat("running")
    assert not wait_until_located(settings, within_s=0.3)
