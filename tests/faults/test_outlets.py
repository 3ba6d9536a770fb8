"""One part that is half dead stops no other, and within ten seconds /health, the page's topic and an alert say so."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from http_server import serving
from ingest.steady import SteadySender
from support import web
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import eventually, get, influx, now_ms
from unused_ports import unused_ports

SAYS_WITHIN_S = 10.0
OWN_DELAY_S = 5.0
"""Additional delay on a machine that is busy with other tests."""
RATE = 50


class Way(ThreadingHTTPServer):
    """The way of the spool's writes to InfluxDB; `how` says what becomes of those of a bucket."""

    daemon_threads = True

    def __init__(self, port: int, influx_port: int) -> None:
        super().__init__(("127.0.0.1", port), _Passing)
        self.influx_port = influx_port
        self.how: dict[str, str] = {}
        self.thawed = threading.Event()


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Way

    def do_POST(self) -> None:
        (bucket,) = parse_qs(urlsplit(self.path).query)["bucket"]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        how = self.server.how.get(bucket, "")
        if how == "frozen":
            self.server.thawed.wait()
        if how == "slow":
            time.sleep(4)
        if how.isdigit():
            return self._answer(int(how), b'{"message":"unexpected error writing points: no space left on device"}')
        if how == "lost":
            return self._answer(204, b"")
        way = HTTPConnection("127.0.0.1", self.server.influx_port, timeout=30)
        try:
            way.request("POST", self.path, body, {"Authorization": self.headers["Authorization"]})
            answer = way.getresponse()
            return self._answer(answer.status, answer.read())
        except OSError:  # it is not there yet, or stopped
            return self._answer(502, b"{}")
        finally:
            way.close()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def way() -> Iterator[Way]:
    """The way, which only the spool takes."""
    port, influx_port = unused_ports(2)
    with serving(Way(port, influx_port)) as server:
        try:
            yield server
        finally:
            server.thawed.set()


@pytest.fixture(scope="module")
def house(way: Way) -> Iterator[RunningStack]:
    """A stack whose spool writes by that way."""
    environment = {"LINK_PORTS": f"spool-influxd={way.server_port}", "INFLUX_PORT": str(way.influx_port)}
    with running_stack(environment=environment) as stack:
        yield stack


@contextmanager
def faulty(way: Way, bucket: str, how: str) -> Iterator[None]:
    way.thawed.clear()
    way.how[bucket] = how
    try:
        yield
    finally:
        way.how.clear()
        way.thawed.set()


def ingest(stack: RunningStack) -> dict[str, Any]:
    return dict(web.get(f"{stack.http_url}/health", timeout=10).json()["parts"]["ingest"])


def open_alert(stack: RunningStack) -> dict[str, Any] | None:
    alerts = get(stack, "/api/v1/alerts", kind="ingest_behind", state="open").json()["alerts"]
    return next(iter(alerts), None)


@pytest.mark.parametrize(
    ("bucket", "how"),
    [
        ("readings", "500"),
        ("locations", "500"),
        ("health", "500"),
        ("readings", "slow"),
        ("locations", "frozen"),
        ("health", "401"),
    ],
)  # each of them with each bucket: flows/test/outlets.test.js
def test_a_bucket_that_is_half_dead_stops_no_other_and_is_reported(
    house: RunningStack, way: Way, demo: Building, bucket: str, how: str
) -> None:
    house.wait_until_healthy()
    eventually(lambda: open_alert(house) is None, within_s=120, what="no alert of the test before")
    sender = SteadySender(house, [beacon.id for beacon in demo.beacons[:2]], RATE)
    with sender.running(), faulty(way, bucket, how):
        began_s = time.monotonic()
        eventually(lambda: ingest(house)["status"] == "degraded", SAYS_WITHIN_S + OWN_DELAY_S, "health says so")
        alert = eventually(
            lambda: open_alert(house), SAYS_WITHIN_S + OWN_DELAY_S - (time.monotonic() - began_s), "an alert"
        )
        says = {"500": "answers 500", "401": "answers 401"}.get(how, "InfluxDB")
        eventually(lambda: says in str(ingest(house)["reason"]), 5, says)
        assert alert is not None
        assert "not being stored" in alert["text"]
        if how != "slow":
            outlets = ingest(house)["outlets"]
            assert outlets[bucket]["waiting_lines"] > 0
            assert now_ms() - outlets[bucket]["oldest_ms"] > 2000
            for other in {"readings", "locations", "health"} - {bucket}:
                oldest = outlets[other]["oldest_ms"]
                assert oldest is None or now_ms() - oldest < 3000, json.dumps(outlets)
    sender.all_arrive()
    eventually(lambda: ingest(house)["status"] == "up", within_s=60, what="up again")


def test_history_goes_on_while_the_bucket_of_figures_takes_nothing(house: RunningStack, way: Way) -> None:
    """The heartbeat that proves locations to be stored does not go by that bucket."""
    house.wait_until_healthy()
    with faulty(way, "health", "500"):
        began_ms = now_ms()
        eventually(lambda: ingest(house)["status"] == "degraded", SAYS_WITHIN_S + OWN_DELAY_S)
        newest = "SELECT last(uptime_s) FROM flows_health"
        eventually(lambda: influx(house, "locations", newest)[0]["time"] > began_ms + 10_000, within_s=30)
        complete = web.get(f"{house.http_url}/health", timeout=10).json()["parts"]["rebuild"]["complete_until_ms"]
        assert now_ms() - complete < 20_000


def test_writes_that_are_answered_and_not_stored_are_reported(house: RunningStack, way: Way) -> None:
    """As of an InfluxDB that answers old data: nothing waits, and nothing comes."""
    house.wait_until_healthy()
    with faulty(way, "locations", "lost"):
        eventually(lambda: ingest(house)["status"] == "degraded", SAYS_WITHIN_S + OWN_DELAY_S)
        assert "no heartbeat" in str(ingest(house)["reason"])


@pytest.mark.parametrize(
    ("service", "part", "says"),
    [
        ("influxd", "influxdb", "InfluxDB"),
        ("telegraf", "ingest", "no heartbeat"),
        ("spool", "ingest", "spool"),
        ("mosquitto", "broker", "broker"),
    ],
)
def test_a_frozen_service_is_reported(house: RunningStack, service: str, part: str, says: str) -> None:
    house.wait_until_healthy()
    house.freeze(service)
    try:

        def is_reported() -> bool:
            found = web.get(f"{house.http_url}/health", timeout=10).json()["parts"][part]
            return found["status"] == "degraded" and says in found["reason"]

        eventually(is_reported, SAYS_WITHIN_S + OWN_DELAY_S, f"{part} says that {service} is frozen")
    finally:
        house.thaw(service)
