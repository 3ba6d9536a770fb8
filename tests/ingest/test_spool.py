"""The queue between Telegraf and InfluxDB: what it acknowledged it passes on, in order, whatever ends it."""

import http.client
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import segments
import serve
import shipper as shipping
from disk_queue import DiskQueue, Outlets, QueueFullError, Space
from http_server import serving
from shipper import InfluxWriter, Shipper, UnavailableError
from support.stack_client import eventually

TOKEN = "secret"
NO_RESERVE = 0
Opened = Callable[..., DiskQueue]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens queues; those that the test leaves open, as a kill does, are closed after it."""
    queues: list[DiskQueue] = []

    def open_one(folder: Path, max_bytes: int = 0, reserve_bytes: int = NO_RESERVE) -> DiskQueue:
        queues.append(DiskQueue(folder, reserve_bytes, max_bytes))
        return queues[-1]

    yield open_one
    for queue in queues:
        queue.close()


def bodies(queue: DiskQueue) -> list[bytes]:
    """All that waits, taken as the shipper takes it."""
    found = []
    while queue.wait(0):
        records, position = queue.peek(max_bytes=1)
        found += [record.body for record in records]
        queue.advance(records, position)
    return found


def test_what_was_appended_comes_out_in_order_after_a_kill(opened: Opened, tmp_path: Path) -> None:
    killed = opened(tmp_path)
    wanted = [b"batch value=%d" % number for number in range(50)]
    for body in wanted:
        killed.append("readings", body)
    killed.advance(*killed.peek(max_bytes=100))  # its position is perhaps not saved yet
    found = bodies(opened(tmp_path))
    assert found == wanted[len(wanted) - len(found) :]
    assert len(found) >= 40


def test_a_write_that_a_kill_cut_short_is_not_passed_on(opened: Opened, tmp_path: Path) -> None:
    queue = opened(tmp_path)
    queue.append("readings", b"whole")
    (segment,) = tmp_path.glob("*.log")
    record = segments.new_record("readings", b"torn")
    with segment.open("ab") as file:
        file.write(segments.header_of(record) + b"to")
    again = opened(tmp_path)
    again.append("readings", b"next")
    assert bodies(again) == [b"whole", b"next"]


@pytest.mark.parametrize("bound", ["of the queue", "of the disk"])
def test_the_oldest_goes_first_where_space_ends_and_is_counted(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr("disk_queue.SEGMENT_BYTES", 200)
    if bound == "of the queue":
        queue = opened(tmp_path, max_bytes=1000)
    else:
        free = serve.RESERVE_BYTES + 1000

        def disk_usage(folder: Path) -> SimpleNamespace:
            return SimpleNamespace(free=free - sum(file.stat().st_size for file in folder.glob("*.log")))

        monkeypatch.setattr("shutil.disk_usage", disk_usage)
        queue = opened(tmp_path, reserve_bytes=serve.RESERVE_BYTES)
    wanted = [b"one\n" + b"%090d" % number for number in range(20)]
    for body in wanted:
        queue.append("readings", body)
    waiting = queue.status()["waiting_lines"]
    kept = bodies(queue)
    assert kept == wanted[len(wanted) - len(kept) :]
    assert 1 < len(kept) < 10
    assert waiting == 2 * len(kept)
    dropped = 2 * (len(wanted) - len(kept))
    assert opened(tmp_path).status()["dropped"]["readings"] == dropped


def test_a_full_disk_refuses_and_spoils_nothing(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = opened(tmp_path)
    queue.append("readings", b"before")
    with monkeypatch.context() as full:
        full.setattr(os, "writev", lambda descriptor, parts: os.write(descriptor, parts[0][:7]))
        with pytest.raises(QueueFullError, match="No space left"):
            queue.append("readings", b"refused")
    queue.append("readings", b"after")
    assert bodies(queue) == [b"before", b"after"]


def test_a_new_segment_never_looks_shipped(opened: Opened, tmp_path: Path) -> None:
    queue = opened(tmp_path)
    queue.append("readings", b"first")
    assert bodies(queue) == [b"first"]
    queue.close()
    again = opened(tmp_path)
    assert not again.wait(0)
    again.append("readings", b"second")
    assert bodies(again) == [b"second"]


class Influx(BaseHTTPRequestHandler):
    """Refuses each write with a line `bad`, as InfluxDB refuses what it cannot parse."""

    stored: list[bytes] = []  # noqa: RUF012 - one list for the test
    answer = 204

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 400 if b"bad" in body and self.answer == 204 else self.answer
        if status == 204:
            self.stored += body.splitlines()
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_a_bad_line_alone_is_refused_and_an_outage_refuses_nothing(opened: Opened, tmp_path: Path) -> None:
    queue = opened(tmp_path)
    Influx.stored = []
    with serving(HTTPServer(("127.0.0.1", 0), Influx)) as influx:
        write = InfluxWriter(f"http://127.0.0.1:{influx.server_port}", TOKEN, "sda", log=lambda _: None)
        shipper = Shipper(queue, write, threading.Event(), log=lambda _: None)
        queue.append("readings", b"a\nb\nbad\nc\n")
        Influx.answer = 503
        with pytest.raises(UnavailableError):
            shipper.ship_once()
        Influx.answer = 204
        shipper.ship_once()
        assert write._connection is not None
        write._connection.close()
    assert Influx.stored == [b"a", b"b", b"c"]
    status = queue.status()
    assert (status["stored"], status["refused"], status["waiting_bytes"]) == ({"readings": 3}, {"readings": 1}, 0)


def test_what_waits_of_a_bucket_is_one_write_and_an_outage_between_two_writes_loses_nothing(
    opened: Opened, tmp_path: Path
) -> None:
    queue = opened(tmp_path)
    written: list[tuple[str, bytes]] = []
    away = {"locations"}

    def write(bucket: str, body: bytes) -> int:
        if bucket in away:
            raise UnavailableError("away")
        written.append((bucket, body))
        return body.count(b"bad")

    shipper = Shipper(queue, write, threading.Event(), log=lambda _: None)
    for bucket, body in (("readings", b"a"), ("locations", b"l\n"), ("readings", b"b\nbad\n"), ("locations", b"m\n")):
        queue.append(bucket, body)
    with pytest.raises(UnavailableError):
        shipper.ship_once()
    away.clear()
    shipper.ship_once()
    readings = ("readings", b"a\nb\nbad\n")
    assert written == [readings, readings, ("locations", b"l\nm\n")]
    status = queue.status()
    assert status["stored"] == {"readings": 2, "locations": 2}
    assert (status["refused"], status["waiting_bytes"]) == ({"readings": 1}, 0)


def test_a_shipper_gathers_until_enough_waits(opened: Opened, tmp_path: Path) -> None:
    queue, stopped = opened(tmp_path), threading.Event()
    written: list[tuple[str, int]] = []

    def write(bucket: str, body: bytes) -> int:
        written.append((bucket, body.count(b"\n")))
        if len(written) == 1:  # all of it comes while the shipper gathers
            for number in range(4):
                queue.append("readings", b"%d" % number * 20)
        else:
            stopped.set()
        return 0

    queue.append("readings", b"first")
    Shipper(queue, write, stopped, log=lambda _: None, gather_s=3600.0, max_bytes=100).run()
    assert written == [("readings", 1), ("readings", 4)]


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        ("/api/v2/write?org=sda&bucket=readings", TOKEN, 204),
        ("/api/v2/write?org=sda&bucket=readings", "guessed", 401),
        ("/api/v2/write?org=sda&bucket=telemetry", TOKEN, 400),
        ("/api/v2/delete?org=sda&bucket=readings", TOKEN, 400),
    ],
)
def test_only_telegrafs_writes_are_taken(opened: Opened, tmp_path: Path, path: str, token: str, status: int) -> None:
    queue = opened(tmp_path)
    with serving(serve.Server(("127.0.0.1", 0), queue, opened(tmp_path / "messages"), TOKEN)) as spool:
        client = http.client.HTTPConnection("127.0.0.1", spool.server_port, timeout=10)
        chunks = iter([b"batch ", b"value=1"])
        client.request("POST", path, chunks, {"Authorization": f"Token {token}"}, encode_chunked=True)
        assert client.getresponse().status == status
        client.close()
    assert bodies(queue) == ([b"batch value=1"] if status == 204 else [])


class Faulty(BaseHTTPRequestHandler):
    """Answers as `how` says for the bucket; without an entry it stores. Frozen: it answers when `thawed`."""

    how: dict[str, int] = {}  # noqa: RUF012 - one for the test
    stored: dict[str, list[bytes]] = {}  # noqa: RUF012
    thawed = threading.Event()

    def do_POST(self) -> None:
        (bucket,) = parse_qs(urlsplit(self.path).query)["bucket"]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.how.get(bucket, 204)
        if not status:
            self.thawed.wait()
            status = 503
        if status == 204:
            self.stored.setdefault(bucket, []).extend(body.splitlines())
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def spool(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[serve.Server]:
    """The spool's endpoint with its shippers, before a `Faulty` InfluxDB."""
    monkeypatch.setattr(Faulty, "how", {})
    monkeypatch.setattr(Faulty, "stored", {})
    monkeypatch.setattr(Faulty, "thawed", threading.Event())
    stopped, space = threading.Event(), Space(NO_RESERVE)
    outlets = Outlets(folder, serve.BUCKETS, space)
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Faulty)) as influx:
        url = f"http://127.0.0.1:{influx.server_port}"
        server = serve.Server(("127.0.0.1", 0), outlets, DiskQueue(folder / "messages", space=space), TOKEN)
        server.shippers = {
            bucket: Shipper(queue, InfluxWriter(url, TOKEN, "sda", lambda _: None), stopped, lambda _: None)
            for bucket, queue in outlets.queues.items()
        }
        threads = [threading.Thread(target=one.run) for one in server.shippers.values()]
        for thread in threads:
            thread.start()
        try:
            yield server
        finally:
            stopped.set()
            Faulty.thawed.set()
            for thread in threads:
                thread.join()
            server.server_close()
            outlets.close()
            server.messages.close()
            for one in server.shippers.values():
                writer: Any = one._write
                if writer._connection is not None:
                    writer._connection.close()


def others_have(count: int) -> bool:
    return all(len(Faulty.stored.get(bucket, [])) == count for bucket in ("readings", "health"))


def outlets_of(server: serve.Server) -> Any:
    return json.loads(json.dumps(server.status()))["outlets"]


@pytest.mark.parametrize(
    ("how", "why"),
    [(500, "InfluxDB answers 500"), (401, "answers 401"), (404, "answers 404"), (0, "has not answered for")],
)
def test_a_bucket_that_takes_nothing_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: int, why: str
) -> None:
    monkeypatch.setattr(shipping, "SLOW_S", 0.2)
    with spool(tmp_path, monkeypatch) as server:
        Faulty.how["locations"] = how
        for number in range(5):
            for bucket in serve.BUCKETS:
                server.keep(bucket, b"point value=%d" % number)
            eventually(partial(others_have, number + 1), 5)
        eventually(lambda: why in outlets_of(server)["locations"]["fault"], 5, why)
        waiting = outlets_of(server)
        assert (waiting["locations"]["waiting_lines"], waiting["locations"]["oldest_ms"] is None) == (5, False)

        def are_taken() -> bool:  # an answer that came late on a busy machine is a fault until the next one
            well = {"waiting_lines": 0, "oldest_ms": None, "fault": "", "fault_ms": None}
            if outlets_of(server)["readings"] == well:
                return True
            server.keep("readings", b"point value=9")
            return False

        eventually(are_taken, 5)
        assert why in str(server.status()["fault"] or server.shippers["locations"].fault)
        del Faulty.how["locations"]
        Faulty.thawed.set()
        eventually(lambda: len(Faulty.stored.get("locations", [])) == 5, 10)
        eventually(lambda: outlets_of(server)["locations"]["fault"] == "", 5)


def test_a_slow_answer_is_reported_until_the_next_quick_one(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "SLOW_S", 0.1)
    queue, pauses = opened(tmp_path), [0.2, 0.2, 0.0]

    def write(bucket: str, body: bytes) -> int:  # noqa: ARG001 - a Writer's
        threading.Event().wait(pauses.pop(0))
        return 0

    one = Shipper(queue, write, threading.Event(), lambda _: None)
    began_ms = []
    for fault in ("answers after 0 s", "answers after 0 s", ""):
        queue.append("readings", b"a")
        one.ship_once()
        assert fault in one.fault
        began_ms.append(one.fault_ms)
    first, second, last = began_ms
    assert first is not None
    assert second is not None
    assert abs(first - second) <= 5, "since the first of them"
    assert (one.fault, last) == ("", None)


def test_a_full_disk_is_reported_for_each_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with spool(tmp_path, monkeypatch) as server:
        with monkeypatch.context() as full:
            full.setattr(os, "writev", lambda descriptor, parts: os.write(descriptor, parts[0][:7]))
            with pytest.raises(QueueFullError):
                server.keep("health", b"point value=1")
            assert "the disk takes nothing more" in outlets_of(server)["health"]["fault"]
        server.keep("health", b"point value=2")
        assert outlets_of(server)["health"]["fault"] == ""


def test_what_waits_in_the_one_queue_of_a_version_before_is_taken_over(opened: Opened, tmp_path: Path) -> None:
    before = opened(tmp_path)
    for number in range(3):
        for bucket in serve.BUCKETS:
            before.append(bucket, b"%d" % number)
    records, position = before.peek(1)
    before.advance(records, position, {"readings": 1})
    arrived = [record.arrived_ms for record in before.peek(10_000)[0] if record.bucket == "health"]
    before.close()
    outlets = Outlets(tmp_path, serve.BUCKETS, Space(NO_RESERVE))
    try:
        assert [record.arrived_ms for record in outlets.queues["health"].peek(10_000)[0]] == arrived
        assert {bucket: bodies(queue) for bucket, queue in outlets.queues.items()} == {
            "readings": [b"1", b"2"], "locations": [b"0", b"1", b"2"], "health": [b"0", b"1", b"2"]
        }  # fmt: skip
        assert outlets.counters["refused"] == {"readings": 1}
        assert not list(tmp_path.glob("*.log"))
    finally:
        outlets.close()
    again = Outlets(tmp_path, serve.BUCKETS, Space(NO_RESERVE))
    assert again.status()["refused"] == {"readings": 1}
    again.close()


def test_a_bucket_that_takes_nothing_gives_space_to_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("disk_queue.SEGMENT_BYTES", 200)
    outlets = Outlets(tmp_path, serve.BUCKETS, Space(NO_RESERVE, max_bytes=2000))
    for number in range(15):
        outlets.append("locations", b"%090d" % number)
    for number in range(6):
        outlets.append("readings", b"%090d" % number)
    status = outlets.status()
    outlets.close()
    assert status["dropped"].get("readings", 0) == 0
    assert status["dropped"]["locations"] > 0
    assert status["outlets"]["readings"]["waiting_lines"] == 6
