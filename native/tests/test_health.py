"""Node-RED is up when it answers and HTTPS, if configured, is open."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from http_server import serving
from stack.health import node_red

parts: dict[str, Any] = {}


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"status": "up", "parts": parts}).encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with serving(HTTPServer(("127.0.0.1", 0), _Answer)) as server:
        yield f"http://127.0.0.1:{server.server_port}/health"
    parts.clear()


def test_without_https_an_answer_is_enough(url: str) -> None:
    parts.update(broker={"status": "degraded", "reason": "is away"})
    assert node_red(url).up


def test_closed_https_has_a_reason(url: str) -> None:
    parts.update(https={"status": "up"})
    assert node_red(url).up
    parts.update(https={"status": "degraded", "reason": "port 443 is not open: EACCES"})
    answer = node_red(url)
    assert (answer.up, answer.detail) == (False, "port 443 is not open: EACCES")


def test_no_answer_is_down() -> None:
    assert not node_red("http://127.0.0.1:9/health").up
