"""Runs a whole stack on free ports in a temporary folder, with the process list of `make up`."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
from stack import scratch
from stack.pipeline import problems, wait_until_healthy
from stack.process import Process
from stack.processes import processes
from stack.settings import OPTIONAL_PORT_KEYS, PORT_KEYS, Settings
from stack.supervisor import Supervisor
from stack.wait import wait_for
from unused_ports import unused_ports

from . import web

DEMO_BUILDING = scratch.DEMO_BUILDING
HEALTHY_WITHIN_S = 60.0


class RunningStack:
    """Addresses, secrets and control of a running stack."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.secrets = settings.values
        self.data_dir = settings.data_dir
        self.building = settings.building
        self.http_url = settings.http_url
        self.authority = settings.data_dir / "broker" / "tls" / "ca.crt"
        self.influx_url = settings.influx_url
        self.ports = SimpleNamespace(
            **{key.removesuffix("_PORT").lower(): settings.port(key) for key in {*PORT_KEYS, *settings.port_keys}},
        )
        self._supervisor = Supervisor(settings.data_dir)

    def stop(self, name: str) -> None:
        """Stop a service cleanly; returns when its process has ended."""
        self._supervisor.stop(name)

    def start(self, name: str) -> None:
        """Start a service and wait until it is healthy."""
        self._supervisor.start(name)
        wait_for(lambda: self._process(name).healthy().up, HEALTHY_WITHIN_S, name)

    def kill(self, name: str) -> None:
        """SIGKILL a service and keep it down until `start`."""
        self._supervisor.signal(name, signal.SIGKILL)
        wait_for(lambda: self._is_down(name), HEALTHY_WITHIN_S, f"the end of {name}")

    def crash(self, name: str) -> None:
        """SIGKILL a service; supervisord starts it again."""
        self._supervisor.signal(name, signal.SIGKILL)

    def suspend(self, name: str) -> None:
        """SIGSTOP, without waiting for the threads."""
        self._supervisor.signal(name, signal.SIGSTOP)

    def works(self, name: str) -> bool:
        """Whether a service is healthy by itself."""
        return self._process(name).healthy().up

    def freeze(self, name: str) -> None:
        """SIGSTOP: the service keeps connections but does not answer until `thaw`. Returns when all threads stop."""
        self._supervisor.signal(name, signal.SIGSTOP)
        threads = Path(f"/proc/{self.pid(name)}/task")
        wait_for(lambda: {_state(thread) for thread in threads.iterdir()} == {"T"}, HEALTHY_WITHIN_S, f"{name} to stop")

    def thaw(self, name: str) -> None:
        """SIGCONT."""
        self._supervisor.signal(name, signal.SIGCONT)

    def command(self, *arguments: str) -> str:
        """Run a command of the Makefile on this stack; returns its output."""
        environment = {**os.environ, **self.settings.environment, "STACK_ENV_FILE": str(self.settings.env_file)}
        command = [sys.executable, "-m", "stack", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pid(self, name: str) -> int:
        """The process id of a service, 0 when it does not run."""
        return int(self._supervisor.info(name).get("pid", 0))

    def log(self, name: str, lines: int = 60) -> str:
        """The last lines of a service's log."""
        return self._supervisor.tail(name, lines)

    def logs(self) -> dict[str, str]:
        return {process.name: self.log(process.name) for process in self._services()}

    def is_caught_up(self) -> bool:
        """Whether all missed readings are located."""
        rebuild = web.get(f"{self.http_url}/health", timeout=10).json()["parts"]["rebuild"]
        return bool(rebuild["state"] == "idle")

    def is_settled(self, until_ms: int) -> bool:
        """Whether history up to then is complete, and nothing of it is about to be located once more. No without an
        answer."""
        try:
            rebuild = web.get(f"{self.http_url}/health", timeout=10, retry_503=False).json()["parts"]["rebuild"]
        except (httpx.TransportError, ValueError):
            return False
        complete = rebuild["complete_until_ms"] >= until_ms
        return bool(complete and rebuild["state"] == "idle" and rebuild["waiting"] == 0)

    def restore(self) -> None:
        """Start stopped services and wait until the whole pipeline works."""
        for process in self._services():
            if self._supervisor.info(process.name).get("statename") != "RUNNING":
                self.start(process.name)
        self.wait_until_healthy()

    def wait_until_healthy_but(self, part: str) -> None:
        """Wait until nothing but this part of /health is amiss."""

        def healthy() -> bool:
            return all(one.startswith(f"{part} is") for one in problems(self.settings))

        wait_for(healthy, HEALTHY_WITHIN_S, f"all parts but {part}")

    def wait_until_healthy(self) -> None:
        """Wait until the pipeline works and no earlier readings are still being located."""
        wait_until_healthy(self.settings)
        wait_for(self.is_caught_up, HEALTHY_WITHIN_S, "what was missed to be located")

    def _services(self) -> list[Process]:
        return [process for process in processes(self.settings) if process.name != "simulator"]

    def _is_down(self, name: str) -> bool:
        """Whether it stays stopped; supervisord may be about to restart it."""
        self._supervisor.stop(name)
        return bool(self._supervisor.info(name).get("statename") == "STOPPED")

    def _process(self, name: str) -> Process:
        return next(process for process in processes(self.settings) if process.name == name)


def _state(thread: Path) -> str:
    """The kernel's state letter, `T` for stopped; see proc(5)."""
    return (thread / "stat").read_text().rpartition(") ")[2][:1]


@contextmanager
def running_stack(
    building: Path = DEMO_BUILDING, environment: Mapping[str, str] | None = None
) -> Iterator[RunningStack]:
    """Run mosquitto, influxd, telegraf and Node-RED during the block, without the demo.

    Args:
        building: the building file; the demo's is copied, since pictures are stored beside it.
        environment: settings that differ from a new `.env`.
    """
    keys = PORT_KEYS + OPTIONAL_PORT_KEYS
    own = {key: str(port) for key, port in zip(keys, unused_ports(len(keys)), strict=True)}
    own |= {"HTTPS_BIND": "127.0.0.1", **(environment or {})}
    with scratch.scratch_stack(Path(tempfile.mkdtemp(prefix="sda-test-")), own, building) as settings:
        stack = RunningStack(settings)
        stack.wait_until_healthy()
        settings.broker.save(settings)
        yield stack
