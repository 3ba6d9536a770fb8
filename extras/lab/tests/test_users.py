"""Users without think time ask again at once, however long the answers of others take to read."""

import csv
import itertools
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

import pytest
from generator_process import plan_of, started
from http_server import serving
from lab.plan import Load, Plan, in_time
from lab.target import Target

STAFF = json.dumps([{"id": str(number), "name": f"Somebody {number}", "presence": None} for number in range(2500)])
LATE_MS = 10.0
"""Far below what twenty users wait for each other's answers: each takes some milliseconds to parse."""


class Handler(BaseHTTPRequestHandler):
    """Each answer is another one, so each must be parsed."""

    protocol_version = "HTTP/1.1"
    numbers = itertools.count()

    def do_GET(self) -> None:
        body = f'{{"staff": {STAFF}, "number": {next(self.numbers)}}}'.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    """All users of a step may connect at once. Of those beyond it (5 by default) some wait a minute for an answer."""


@pytest.fixture
def url() -> Iterator[str]:
    with serving(Server(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}"


def rows_of(plan: Plan, url: str, folder: Path) -> list[dict[str, str]]:
    """What one generator process made of a plan: a row for each answer to `staff`."""
    config = {"role": "local", "plan": plan.to_json(), "target": Target(url).to_json(), "folder": str(folder),
              "page_port": 0}  # fmt: skip
    with ExitStack() as opened:
        generator = started(opened, config, folder / "log")
        assert generator.wait(60) == 0, (folder / "log").read_text()
    with (folder / "raw" / "staff.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_who_does_not_think_is_not_late(url: str, tmp_path: Path) -> None:
    plan = plan_of(Load("users", count=20, think_s=(0, 0), mix={"staff": 1}), seconds=1.0)
    rows = rows_of(plan, url, tmp_path)
    assert {row["fault"] for row in rows} == {""}
    assert len(rows) > 20
    assert median(float(row["late_ms"]) for row in rows) < LATE_MS


def test_users_of_a_larger_step_do_not_act_in_the_next(url: str, tmp_path: Path) -> None:
    seconds, think_s = 3.0, 0.25
    many, few = (Load("users", count=count, think_s=(think_s, think_s), mix={"staff": 1}) for count in (150, 2))
    steps = in_time([("many", seconds, (many,), ""), ("few", seconds, (few,), "")], 1)
    plan = replace(plan_of(many, seconds), steps=steps)
    steps_of_rows = [row["step"] for row in rows_of(plan, url, tmp_path)]
    assert 2 <= steps_of_rows.count("1") <= 2 * (seconds / think_s + 1)
