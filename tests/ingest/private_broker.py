"""A private broker, prepared by broker/provision.py, for tests that change or stop it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from stack.install import mosquitto_program
from stack.layout import ROOT
from support.stack_client import end, eventually
from unused_ports import unused_ports

PASSWORDS = {"telegraf": "t-secret", "nodered": "n-secret", "simulator": "s-secret"}
ENVIRONMENT = {f"MQTT_{name.upper()}_PASSWORD": password for name, password in PASSWORDS.items()}
INPUTS = ("readings", "gateway_status", "gateway_health", "locations", "events", "rejected", "flows_health")
# Service -> its password and its client id.
SERVICES = {
    **{f"telegraf-{name}": ("t-secret", f"telegraf/{name}") for name in INPUTS},
    "nodered": ("n-secret", "nodered/flows"),
    "nodered-publisher": ("n-secret", "nodered/publisher"),
    "nodered-operator": ("n-secret", "nodered/operator"),
    "nodered-probe": ("n-secret", "nodered"),
    "simulator": ("s-secret", ""),
}


def run_tool(
    script: str,
    *arguments: str | Path,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a Python script of the repository with nothing but `environment` and PATH; its output is text.

    `before`: a command that runs it.
    """
    command = [*before, sys.executable, str(ROOT / script), *map(str, arguments)]
    bare = {"PATH": os.environ["PATH"], **(environment or {})}
    return subprocess.run(command, env=bare, capture_output=True, text=True, check=False)


class Session:
    """One client: whether the broker took it, what it received, how it was lost."""

    def __init__(self, client_id: str = "", keep: bool = False) -> None:
        self.received: list[tuple[str, bytes]] = []
        self.answer: str | None = None
        self.losses: list[str] = []
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=client_id, clean_session=not keep)
        self.client.on_connect = self._on_connect
        self.client.on_disconnect = self._on_disconnect
        self.client.on_message = self._on_message

    def publish(self, *topics: str, payload: bytes | str, retain: bool = False) -> None:
        """Publish at QoS 1 on each topic and wait for the acknowledgements, which a denied message gets as well."""
        for sent in [self.client.publish(topic, payload, qos=1, retain=retain) for topic in topics]:
            sent.wait_for_publish(30)
            assert sent.is_published(), "the broker has acknowledged nothing for 30 s"

    def subscribe(self, *topics: str) -> None:
        """Subscribe at QoS 1 and wait for the broker's answer."""
        answers: list[object] = []
        self.client.on_subscribe = lambda *arguments: answers.append(arguments)
        self.client.subscribe([(topic, 1) for topic in topics])
        eventually(lambda: answers, what=f"an answer to subscribing to {topics}")

    def topics(self, payload: bytes) -> set[str]:
        """Topics on which `payload` was received."""
        return {topic for topic, body in self.received if body == payload}

    def close(self) -> None:
        end(self.client)
        # Nothing refers back to this session, so the client ends at once and closes its sockets.
        self.client.on_connect = self.client.on_disconnect = self.client.on_message = self.client.on_subscribe = None

    def _on_connect(self, _client: mqtt.Client, _data: object, _flags: object, reason: Any, _more: object) -> None:
        self.answer = str(reason)
        if reason.is_failure:
            self.client.disconnect()  # do not try again

    def _on_disconnect(self, _client: mqtt.Client, _data: object, _flags: object, reason: Any, _more: object) -> None:
        self.losses.append(str(reason))

    def _on_message(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        self.received.append((message.topic, bytes(message.payload)))


class PrivateBroker:
    """Mosquitto in `folder` on free ports, stopped and started at will."""

    without_name = "Not authorized"
    """What it answers to an empty user name."""
    foreign_client_id = "Success"
    """What it answers over TLS to an account with a client id that is not its name."""

    def __init__(self, folder: Path, open_files: int | None = None) -> None:
        self.folder = folder
        self._limited = [] if open_files is None else ["prlimit", f"--nofile={open_files}"]
        self.port, self.tls_port = unused_ports(2)
        self._process: subprocess.Popen[bytes] | None = None

    def provision(self, *more: str, environment: Mapping[str, str] = ENVIRONMENT) -> str:
        """Output of provision.py."""
        ports = ["--port", str(self.port), "--tls-port", str(self.tls_port), "--tls-bind", "127.0.0.1"]
        arguments: list[str | Path] = ["--data", self.folder, *ports, *more]
        done = run_tool("broker/provision.py", *arguments, environment=environment, before=self._limited)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def accounts(self, *arguments: str) -> str:
        """Output of accounts.py: for add and rotate the new password. A running broker has applied the change."""
        done = run_tool("broker/accounts.py", "--data", self.folder, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @property
    def pid(self) -> int:
        """Of the broker that runs."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """SIGKILL the broker."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(20)
        self._process = None

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            run = ["sh", str(ROOT / "broker" / "run.sh"), mosquitto_program()]
            command = [*self._limited, *run, "-c", str(ROOT / "broker" / "mosquitto.conf")]
            self._process = subprocess.Popen(command, cwd=self.folder, stderr=log)
        eventually(self._listens, what="Mosquitto")

    def stop(self) -> None:
        """Stop cleanly and wait for the end."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(20)
            self._process = None

    def close(self) -> None:
        """Stop all that runs."""
        self.stop()

    def restart(self) -> None:
        self.stop()
        self.start()

    def log(self) -> str:
        return (self.folder / "log").read_text()

    @contextmanager
    def session(
        self, username: str | None, password: str | None = None, *, tls: bool = False, **more: Any
    ) -> Iterator[Session]:
        """A client once the broker has answered it. `tls`: over the receivers' listener. `more`: as for Session."""
        own_password, own_id = SERVICES.get(username or "", (None, ""))
        session = Session(**({"client_id": own_id} | more))
        if username is not None:
            session.client.username_pw_set(username, password or own_password)
        if tls:
            session.client.tls_set(ca_certs=str(self.folder / "tls" / "ca.crt"))
        session.client.connect("localhost" if tls else "127.0.0.1", self.tls_port if tls else self.port)
        session.client.loop_start()
        try:
            eventually(lambda: session.answer, what="an answer to CONNECT")
            yield session
        finally:
            session.close()

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.tls_port), timeout=1).close()
        except OSError:
            return False
        return True


@contextmanager
def private_broker(
    folder: Path, open_files: int | None = None, kind: type[PrivateBroker] = PrivateBroker
) -> Iterator[PrivateBroker]:
    """A provisioned, running broker for the length of the block; the services' passwords are SERVICES.

    Args:
        folder: of its data.
        open_files: how many it may have, with its connections; by default as many as the tests.
        kind: of broker.
    """
    broker = kind(folder, open_files)
    broker.provision()
    broker.start()
    try:
        yield broker
    finally:
        broker.close()
