"""Retries obey `Retry-After` and are bounded; wrong answers are faults although they are 200."""

import os
import resource
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import ClassVar

import pytest
from http_server import serving
from lab.calls import CallContext, Place, Site, insert
from lab.http_client import Caller, Outcome
from lab.target import Target

RIGHT = b"New Beacon Detection Added"
PLACE = Place("A0B1C2D3E4F5", "L1", "l1-lobby", "Lobby")


class Busy(HTTPServer):
    """Answers 503 with `Retry-After` so many times, then `body`."""

    busy, after, body, asked = 0, "1", RIGHT, 0


class ThreadingBusy(ThreadingMixIn, Busy):
    """A connection that is kept occupies a thread of its own."""


class Handler(BaseHTTPRequestHandler):
    server: Busy

    def do_GET(self) -> None:
        self.server.asked += 1
        busy = self.server.asked <= self.server.busy
        self.send_response(503 if busy else 200)
        if busy:
            self.send_header("Retry-After", self.server.after)
        body = b"busy" if busy else self.server.body
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Busy]:
    with serving(Busy(("127.0.0.1", 0), Handler)) as running:
        yield running


def ask(server: Busy, retries: int = 3) -> tuple[Outcome, list[float]]:
    waits: list[float] = []
    caller = Caller(Target(f"http://127.0.0.1:{server.server_port}"), retries)
    found = caller.call(insert(CallContext(Site((PLACE,)), 0, 1, 0, 0, 0, 0)), waits.append)
    caller.close()
    return found, waits


class Keeping(Handler):
    protocol_version = "HTTP/1.1"
    callers: ClassVar[set[int]] = set()
    """Ports that requests came from."""

    def do_GET(self) -> None:
        self.callers.add(self.client_address[1])
        super().do_GET()


def test_beside_a_thousand_receivers_a_connection_is_kept() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as opened:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1100):
            opened.callback(os.close, os.dup(0))
        Keeping.callers.clear()
        with serving(ThreadingBusy(("127.0.0.1", 0), Keeping)) as running:
            caller = Caller(Target(f"http://127.0.0.1:{running.server_port}"), 0)
            found = [caller.call(insert(CallContext(Site((PLACE,)), 0, 1, 0, 0, 0, 0))) for _ in range(3)]
            caller.close()
    assert [one.fault for one in found] == ["", "", ""]
    assert len(Keeping.callers) == 1


def test_a_busy_platform_is_asked_again_when_it_says(server: Busy) -> None:
    server.busy, server.after = 2, "2"
    found, waits = ask(server)
    assert (found.fault, found.retries, found.status, waits) == ("", 2, 200, [2.0, 2.0])


def test_retries_end(server: Busy) -> None:
    server.busy = 99
    found, waits = ask(server)
    assert (found.fault, found.retries, len(waits), server.asked) == ("HTTP 503", 3, 3, 4)


def test_a_long_wait_is_not_waited_for(server: Busy) -> None:
    server.busy, server.after = 1, "3600"
    found, waits = ask(server)
    assert (found.fault, waits) == ("HTTP 503", [])


def test_a_wrong_answer_is_a_fault_although_it_is_200(server: Busy) -> None:
    server.body = b"something else"
    found, _ = ask(server)
    assert (found.status, found.fault) == (200, "answer b'something else'")


def test_nobody_there_is_a_fault_and_no_exception() -> None:
    caller = Caller(Target("http://127.0.0.1:9"), 3)
    found = caller.call(insert(CallContext(Site((PLACE,)), 0, 1, 0, 0, 0, 0)))
    assert found.status == 0
    assert "refused" in found.fault
