"""A private nats-server for tests that change or stop it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from campus.broker import MODULES, REFUSED
from campus.install import HERE, nats_program
from ingest.private_broker import ENVIRONMENT, PrivateBroker, run_tool
from support.stack_client import eventually
from unused_ports import unused_ports


class PrivateNats(PrivateBroker):
    """nats-server and two callouts in `folder`."""

    without_name = "Bad user name or password"
    foreign_client_id = "Not authorized"
    callout_options: tuple[str, ...] = ()
    callout_count = 2

    def __init__(self, folder: Path, open_files: int | None = None) -> None:
        super().__init__(folder, open_files)
        self._open_files = open_files
        self.port = self.tls_port
        (self.nats_port,) = unused_ports(1)
        self.callouts: list[subprocess.Popen[bytes]] = []

    def provision(self, *more: str, environment: Mapping[str, str] = ENVIRONMENT) -> str:
        """Output of provision.py and of one_node.py, which gets `more`."""
        accounts = super().provision(*REFUSED, environment=environment)
        ports = ("--port", self.nats_port, "--tls-port", self.tls_port, "--tls-bind", "127.0.0.1")
        limit = ("--open-files", self._open_files) if self._open_files else ()
        arguments = map(str, ("--data", self.folder, *ports, *limit, *more))
        done = run_tool(str(HERE / "broker" / "one_node.py"), *arguments, environment=MODULES)
        assert done.returncode == 0, done.stderr
        return accounts + done.stdout

    def start(self) -> None:
        self.launch()
        eventually(lambda: self.callout_log().count("admits clients") >= len(self.callouts), what="the callouts")
        eventually(self.admits, what="a callout")

    def launch(self) -> None:
        """Start nats-server, and the callouts where there are none; return when it listens."""
        with (self.folder / "log").open("ab") as log:
            command = [*self._limited, str(nats_program()), "--config", str(self.folder / "nats" / "nats.conf")]
            self._process = subprocess.Popen(command, cwd=self.folder, stderr=log)
        eventually(self._listens, what="nats-server")
        if not self.callouts:
            self.callouts = [self.callout() for _ in range(self.callout_count)]

    def callout(self) -> "subprocess.Popen[bytes]":
        """One more callout."""
        command = [sys.executable, "-m", "callout", "--data", str(self.folder), "--port", str(self.nats_port),
                   "--mqtt-port", str(self.port), *self.callout_options]  # fmt: skip
        with (self.folder / "callout.log").open("ab") as log:
            return subprocess.Popen(command, env={**os.environ, **MODULES}, stderr=log)

    def callout_log(self) -> str:
        return (self.folder / "callout.log").read_text()

    def close(self) -> None:
        for callout in self.callouts:
            callout.terminate()
        for callout in self.callouts:
            callout.wait(20)
        self.callouts = []
        super().close()

    def admits(self) -> bool:
        """Whether somebody can connect."""
        try:
            with self.session("nodered-probe") as session:
                return session.answer == "Success"
        except OSError:
            return False


@pytest.fixture(scope="session")
def broker_kind() -> type[PrivateNats]:
    """NATS in place of Mosquitto, for tests of what both do alike."""
    return PrivateNats
