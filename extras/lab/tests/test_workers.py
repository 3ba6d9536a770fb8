"""Generator processes on a real broker: a worker ends with its run, with its coordinator, and with its command."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from generator_process import plan_of, started
from lab import run as runs
from lab.plan import Load
from lab.target import Target
from real_broker import PASSWORDS, RealBroker, wait_for

UNREACHABLE = 3
READINGS = "sda/v1/phone/+/readings"


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def address() -> str:
    """Where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"127.0.0.1:{probe.getsockname()[1]}"


def test_a_worker_too_many_is_refused_and_the_other_ends_when_its_coordinator_is_gone(
    broker: RealBroker, tmp_path: Path, opened: ExitStack, address: str
) -> None:
    listener = opened.enter_context(broker.listener(READINGS))
    target = Target("", mqtt_port=broker.port, mqtt_password=PASSWORDS["simulator"])
    plan = plan_of(Load("devices", count=4, interval_s=0.2), seconds=300.0)
    leading = {"role": "coordinator", "plan": plan.to_json(), "target": {}, "folder": str(tmp_path / "run"),
               "workers": 1, "bind": address, "page_port": 0}  # fmt: skip
    coordinator = started(opened, leading, tmp_path / "coordinator.log")
    log = tmp_path / "worker.log"
    worker = started(opened, {**runs.worker_config(target, address), "gone_s": 4}, log)
    wait_for(lambda: bool(listener.messages), "the run goes on", log.read_text)

    stranger_log = tmp_path / "stranger.log"
    stranger = started(opened, runs.worker_config(target, address), stranger_log)
    assert stranger.wait(60) == UNREACHABLE
    assert "this worker ends: the run has its 1 workers already" in stranger_log.read_text()
    assert "a worker is refused" in (tmp_path / "coordinator.log").read_text()

    coordinator.kill()
    assert worker.wait(60) == UNREACHABLE
    assert f"this worker ends: the coordinator at {address} has been silent for 4 s" in log.read_text()


def test_a_worker_ends_with_the_command_that_started_it(tmp_path: Path, opened: ExitStack, address: str) -> None:
    """Killed, the command says nothing, but it no longer holds the worker's standard input."""
    log = tmp_path / "worker.log"
    worker = started(opened, runs.worker_config(Target(""), address), log)
    assert worker.stdin
    worker.stdin.close()
    assert worker.wait(60) == UNREACHABLE
    assert "the command that started this process is gone" in log.read_text()
