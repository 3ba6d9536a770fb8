"""A clone with its containers on an engine: runs the commands of the Makefile, on free ports."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import paho.mqtt.client as mqtt
from dotenv import dotenv_values
from paho.mqtt.enums import CallbackAPIVersion
from stack.layout import ROOT
from stack.settings import PORT_KEYS
from support import web
from support.stack_client import end, eventually
from support.stored import unfolded
from unused_ports import unused_ports

from . import images
from .daemon import Engine, run_in_group

UP_WITHIN_S = 900.0
"""The first build of the images takes minutes."""


class Installation:
    """One clone with its own project name, ports and network."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.folder = folder
        self.project = f"sda-test-{uuid.uuid4().hex[:8]}"
        ports = zip(PORT_KEYS, unused_ports(len(PORT_KEYS)), strict=True)
        chosen = {key: str(port) for key, port in ports}
        self.environment = {**os.environ, **engine.environment, **chosen, "MQTTS_BIND": "127.0.0.1", "SIM": "1",
                            "COMPOSE_PROJECT_NAME": self.project}  # fmt: skip
        for variable in ("MODE", "STACK_ENV_FILE", "MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL"):
            self.environment.pop(variable, None)
        self.ports = SimpleNamespace(**{key.removesuffix("_PORT").lower(): int(port) for key, port in chosen.items()})
        self.http_url = f"http://127.0.0.1:{self.ports.http}"

    @property
    def secrets(self) -> dict[str, str]:
        return {key: value or "" for key, value in dotenv_values(self.folder / ".env", interpolate=False).items()}

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the clone; `stdout` has all output, as on a screen."""
        return run_in_group(arguments, self.folder, {**self.environment, **environment}, UP_WITHIN_S)

    def make(self, target: str, **variables: str) -> str:
        """Output of `make TARGET`. Raises AssertionError if it fails."""
        done = self.tried(target, **variables)
        assert done.returncode == 0, f"make {target}: {done.stdout}\n{self.engine.unhealthy_logs(self.project)}"
        return done.stdout

    def tried(self, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `make TARGET` without checking the result."""
        return self.command("make", "--no-print-directory", target, **variables)

    def compose(self, *arguments: str) -> str:
        done = self.command("docker", "compose", *arguments)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def containers(self) -> dict[str, str]:
        """Service -> id of each container, including stopped ones, without temporary commands."""
        label = "com.docker.compose"
        shown = f'{{{{.Label "{label}.service"}}}} {{{{.ID}}}} {{{{.Label "{label}.oneoff"}}}}'
        lines = self.engine.docker("ps", "--all", "--no-trunc", "--format", shown, "--filter",
                                   f"label={label}.project={self.project}")  # fmt: skip
        split = [line.split() for line in lines.splitlines()]
        return {service: container for service, container, oneoff in split if oneoff == "False"}

    def inspect(self, service: str, template: str) -> str:
        return self.engine.docker("inspect", "--format", template, self.containers()[service]).strip()

    def health(self) -> dict[str, Any]:
        """The response of /health; `status` is `away` without an answer."""
        try:
            answer: dict[str, Any] = web.get(f"{self.http_url}/health", timeout=10).json()
        except (OSError, ValueError, httpx.HTTPError):
            return {"status": "away", "parts": {}}
        return answer

    def is_up(self) -> bool:
        return bool(self.health()["status"] == "up")

    def degraded(self) -> set[str]:
        """The parts that are not up."""
        return {name for name, part in self.health()["parts"].items() if part["status"] != "up"}

    def authority(self) -> Path:
        """The certificate that receivers trust."""
        file = self.folder / "ca.crt"
        if not file.exists():
            self.compose("cp", "mosquitto:/mosquitto/data/tls/ca.crt", str(file))
        return file

    def publish(self, account: str, password: str, payloads: Sequence[Mapping[str, Any]], kind: str = "phone") -> None:
        """Publish batches at QoS 1 over TLS, like a receiver; returns when all are acknowledged."""
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=account)
        client.username_pw_set(account, password)
        client.tls_set(ca_certs=str(self.authority()))
        client.max_inflight_messages_set(1000)
        client.connect("127.0.0.1", self.ports.mqtts)
        client.loop_start()
        try:
            eventually(client.is_connected, what="MQTT connection")
            sent = [client.publish(f"sda/v1/{kind}/{account}/readings", json.dumps(one), qos=1) for one in payloads]
            for message in sent:
                message.wait_for_publish(30)
                assert message.is_published()
        finally:
            end(client)

    def stored(self, account: str) -> int:
        """Number of this receiver's readings in InfluxDB."""
        answer = web.get(
            f"http://127.0.0.1:{self.ports.influx}/query",
            params={
                "db": "readings",
                "q": "SELECT kind, receiver, readings FROM batch WHERE receiver = $receiver",
                "params": json.dumps({"receiver": account}),
            },
            headers={"Authorization": f"Token {self.secrets['INFLUX_ADMIN_TOKEN']}"},
        )
        series = answer.json()["results"][0].get("series", [])
        rows = [dict(zip(one["columns"], row, strict=True)) for one in series for row in one["values"]]
        return sum(1 for _ in unfolded(rows))


def account_in(printed: str) -> str:
    """The password in the output of `make account`."""
    (password,) = re.findall(r"^[A-Za-z0-9_-]{20,}$", printed, re.MULTILINE)
    return str(password)


@contextmanager
def installation(engine: Engine) -> Iterator[Installation]:
    """A clone during the block; its containers, volumes and images are removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="sda-clone-"))
    folder.chmod(0o755)
    for path in images.tracked():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, folder / path)
    clone = Installation(engine, folder)
    try:
        yield clone
    finally:
        clone.command("docker", "compose", "--profile", "demo", "--profile", "play", "down", "--volumes",
                      "--timeout", "2", "--rmi", "local")  # fmt: skip
        for name in ("flows", "simulator"):
            engine.docker("image", "rm", "--force", f"{clone.project}/{name}:0.1.0", check=False)
        shutil.rmtree(folder, ignore_errors=True)
