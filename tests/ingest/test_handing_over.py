"""The spool hands messages to Telegraf and counts them as done when what Telegraf made of them is on disk."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import telegraf
from http_server import serving
from shipper import UnavailableError
from telegraf import MARK, Receipts, TelegrafWriter

BODY = b'batch,kind=phone,receiver=1 message="{}"\nbatch,kind=phone,receiver=2 message="{}"\n'


@contextmanager
def listening(answer: Callable[[bytes], int]) -> Iterator[str]:
    """A server in Telegraf's place that gives each body to `answer`, which returns a status; its URL."""

    class Listener(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            assert self.headers["Authorization"] == "Basic c3Bvb2w6c2VjcmV0"
            status = answer(self.rfile.read(int(self.headers["Content-Length"])))
            if not status:
                self.close_connection = True  # as a kill ends it
                status = 204
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with serving(HTTPServer(("127.0.0.1", 0), Listener)) as server:
        yield f"http://127.0.0.1:{server.server_port}/readings"


@contextmanager
def writer(url: str, receipts: Receipts, log: list[str]) -> Iterator[TelegrafWriter]:
    write = TelegrafWriter(url, "secret", receipts, log.append)
    try:
        yield write
    finally:
        write._close()


def mark_of(body: bytes) -> bytes:
    """The mark as Telegraf writes it: with a time."""
    return body.splitlines()[-1] + b" 1700000000000000000\n"


def test_a_request_is_done_when_its_mark_comes_back_among_the_points() -> None:
    receipts = Receipts()

    def answer(body: bytes) -> int:
        points = b'batch,receiver=1 readings="b 1" 1\n' + mark_of(body) + b"heard,beacon=b rssi=1i 2\n"
        rest, mark = receipts.take(points)
        assert rest == b'batch,receiver=1 readings="b 1" 1\nheard,beacon=b rssi=1i 2\n'
        receipts.confirm(mark)
        return 204

    with listening(answer) as url, writer(url, receipts, []) as write:
        assert write("messages", BODY) == 0


def test_a_body_without_a_mark_is_left_as_it_is() -> None:
    assert Receipts().take(b'batch readings="handed_over," 1\n') == (b'batch readings="handed_over," 1\n', 0)


def test_a_mark_of_an_earlier_process_confirms_nothing() -> None:
    assert Receipts().take(b"handed_over,run=%b id=9i 1\n" % Receipts().run) == (b"", 0)


def test_without_a_mark_it_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telegraf, "WRITTEN_WITHIN_S", 0.2)
    with (
        listening(lambda _: 204) as url,
        writer(url, Receipts(), []) as write,
        pytest.raises(UnavailableError, match="has not written"),
    ):
        write("messages", BODY)


def test_a_killed_telegraf_is_noticed_at_once() -> None:
    """Long before the time for writing has passed."""
    with (
        listening(lambda _: 0) as url,
        writer(url, Receipts(), []) as write,
        pytest.raises(UnavailableError, match="has not written"),
    ):
        write("messages", BODY)


def test_the_one_bad_message_is_refused() -> None:
    receipts, taken, log = Receipts(), [], []  # type: ignore[var-annotated]

    def answer(body: bytes) -> int:
        if b"receiver=2" in body:
            return 400
        taken.append(MARK.sub(b"", body))
        receipts.confirm(receipts.take(mark_of(body))[1])
        return 204

    with listening(answer) as url, writer(url, receipts, log) as write:
        assert write("messages", BODY) == 1
    assert len(taken) == 1
    assert taken[0].startswith(BODY.splitlines(keepends=True)[0])
    assert "refused a message" in log[0]
