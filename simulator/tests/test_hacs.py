"""Polls like HACS, against a small fake of the platform."""

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cli import simulator
from http_server import serving

RECORDS = [
    {"level": "L3", "location": "Canteen", "timestamp": 1637396919},
    {"level": "L3", "location": "Corridor", "timestamp": 1637396918},
]


class Platform(ThreadingHTTPServer):
    """Answers every request with `status` and `body`; records queries and keys."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.body: Any = {"location": RECORDS}
        self.queries: list[dict[str, list[str]]] = []
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Platform

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        assert parts.path == "/extractbeacon"
        self.server.queries.append(parse_qs(parts.query))
        self.server.keys.append(self.headers["X-API-Key"])
        content = (self.server.body if isinstance(self.server.body, str) else json.dumps(self.server.body)).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def platform() -> Iterator[Platform]:
    with serving(Platform()) as server:
        yield server


def test_polls_like_hacs(platform: Platform) -> None:
    done = simulator("hacs", "--url", platform.url, "--every", 0.5, "--duration", 1, "--key", "secret")
    now = time.time()
    assert done.returncode == 0, done.stderr
    assert sorted(query["staff_id"][0] for query in platform.queries) == ["0", "0", "2", "2"]
    for query in platform.queries:
        start, end = int(query["start_time"][0]), int(query["end_time"][0])
        assert end - start == 10
        assert now - 60 < end <= now
    assert set(platform.keys) == {"secret"}
    lines = done.stdout.splitlines()
    assert sum(line.endswith("staff 2: 2 records, newest L3 Canteen") for line in lines) == 2
    assert any(line.split() == ["answered", "4"] for line in lines)


@pytest.mark.parametrize(
    ("staff", "asked"),
    [
        (("--staff", "0,2", "--bulk"), ["0,2"]),
        (("--staff", "0-249", "--bulk"), [",".join(map(str, range(200))), ",".join(map(str, range(200, 250)))]),
        (("--staff", "*"), ["*"]),
    ],
)
def test_polls_many_in_one_call(platform: Platform, staff: tuple[str, ...], asked: list[str]) -> None:
    platform.body = {"location": [{"staff_id": "0", **record} for record in RECORDS]}
    done = simulator("hacs", "--url", platform.url, *staff, "--every", 9, "--duration", 1)
    assert done.returncode == 0, done.stderr
    assert sorted(query["staff_id"][0] for query in platform.queries) == asked
    assert "records, newest L3 Canteen" in done.stdout


def test_polls_at_a_rate(platform: Platform) -> None:
    url = f"{platform.url}/"
    done = simulator("hacs", "--url", url, "--staff", "0-9", "--rate", 100, "--duration", 1, "--quiet", "--json")
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["polls"], summary["answered"], summary["records"]) == (0, 100, 100, 200)
    assert summary["errors"] == {}
    assert summary["answer_ms"]["p50"] <= summary["answer_ms"]["p99"]
    asked = [query["staff_id"][0] for query in platform.queries]
    assert {asked.count(str(number)) for number in range(10)} == {10}


@pytest.mark.parametrize(
    ("status", "body", "error", "code"),
    [
        (503, {"error": "the store is away", "location": []}, "HTTP 503: the store is away", 1),
        (401, {"error": "no key"}, "HTTP 401: no key", 4),
        (200, {"data": []}, "the answer is not", 1),
        (200, {"location": [{"level": "L3"}]}, "the answer is not", 1),
        (200, "<html>", "JSONDecodeError", 1),
    ],
)
def test_counts_errors(platform: Platform, status: int, body: object, error: str, code: int) -> None:
    platform.status, platform.body = status, body
    done = simulator("hacs", "--url", platform.url, "--staff", "0", "--every", 9, "--duration", 1, "--json")
    summary = json.loads(done.stdout)
    assert (summary["polls"], summary["failed"]) == (1, 1)
    ((said, count),) = summary["errors"].items()
    assert said.startswith(error)
    assert count == 1
    assert f"staff 0: error: {error}" in done.stderr
    assert done.returncode == code


def test_no_record_is_no_error(platform: Platform) -> None:
    platform.body = {"location": []}
    done = simulator("hacs", "--url", platform.url, "--staff", "9", "--every", 9, "--duration", 1)
    assert "staff 9: 0 records\n" in done.stdout
    assert done.returncode == 0


def test_no_platform() -> None:
    done = simulator("hacs", "--url", "http://127.0.0.1:1", "--staff", "0", "--every", 9, "--duration", 1)
    assert "staff 0: error: no connection: " in done.stdout
    assert done.returncode == 3
