"""A campus in containers, all hosts on one engine: what `make campus-files` makes, with names and ports of its own."""

import json
import os
import re
import ssl
import subprocess
import sys
import uuid
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import paho.mqtt.client as mqtt
import pytest
from campus import hosts
from campus.files import OPERATOR, campus_files
from campus.install import VERSIONS, haproxy_program, nats_program
from containers import images
from containers.daemon import STORES, Engine, own_of_machine, private_engine, run_in_group
from paho.mqtt.enums import CallbackAPIVersion
from stack.layout import ROOT
from support import web
from support.stack_client import end, eventually
from unused_ports import unused_ports

UP_WITHIN_S = 900.0
"""The first build of the images takes minutes."""
NODES = 3


HAPROXY = """
RUN { id haproxy || useradd --no-create-home haproxy; } && ln -s busybox /usr/bin/wget
ENV LD_LIBRARY_PATH=/usr/local/lib/haproxy
USER haproxy
CMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
"""


def _haproxy_files() -> dict[Path, str]:
    """This machine's HAProxy and its libraries, but for those of libc; each with its place in the image."""
    program = haproxy_program()
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = [Path(path) for path in re.findall(r"=> (/\S+)", needed) if not re.search(r"/lib(c|m)\.so", path)]
    return {Path(program): "usr/local/bin/haproxy", **{one: f"usr/local/lib/haproxy/{one.name}" for one in libraries}}


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """SDA_ENGINE_STORE chooses the kind of image store of a private one."""
    if own := own_of_machine():
        yield own
        return
    own_images: dict[str, images.Recipe] = {
        f"nats:{VERSIONS['NATS_VERSION']}-alpine": ({nats_program(): "usr/local/bin/nats-server"}, ""),
        f"haproxy:{VERSIONS['HAPROXY_IMAGE_VERSION']}": (_haproxy_files(), HAPROXY),
    }
    with private_engine(os.environ.get("SDA_ENGINE_STORE", STORES[0])) as private:
        images.provide(private)
        images.provide(private, own_images)
        yield private


class ContainerCampus:
    """Three nodes, a site, the entry: each in a folder of its own, as on a host of its own."""

    def __init__(self, engine: Engine, folder: Path, building: Path) -> None:
        self._engine = engine
        self._folder = folder / "hosts"
        self._project = f"sda-test-{uuid.uuid4().hex[:8]}"
        bridge = engine.docker("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}").strip()
        ports = iter(unused_ports(3 + 2 * NODES))
        self._host, self._https, self._mqtts = bridge, next(ports), next(ports)
        host = f'host = "{bridge}"'
        lines = ["[entry]", host, f"https_port = {self._https}", f"mqtts_port = {self._mqtts}", 'network = "10.57.38"']
        for _ in range(NODES):
            lines += ["[[nodes]]", host, f"mqtts_port = {next(ports)}", f"route_port = {next(ports)}"]
        lines += ["[[sites]]", 'name = "south"', host, f"https_port = {next(ports)}", f'building = "{building}"']
        self._file = folder / "hosts.toml"
        self._file.write_text("\n".join(lines))
        self.hosts: list[str] = []

    def make_files(self) -> None:
        """`make campus-files`."""
        self.hosts = campus_files(hosts.read(self._file), self._folder)

    def up(self, names: Collection[str]) -> None:
        """`docker compose up` in these hosts' folders, as on machines beside each other."""
        with ThreadPoolExecutor(len(names)) as pool:
            for done in pool.map(lambda name: self._compose(name, "up", "--detach", "--wait"), names):
                logs = (
                    [self._engine.unhealthy_logs(f"{self._project}-{host}") for host in names]
                    if done.returncode
                    else []
                )
                assert done.returncode == 0, "\n".join([f"{done.args}: {done.stdout}{done.stderr}", *logs])

    def compose(self, host: str, *arguments: str) -> str:
        """Output of a `docker compose` command."""
        done = self._compose(host, *arguments)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def _compose(self, host: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **self._engine.environment, "COMPOSE_PROJECT_NAME": f"{self._project}-{host}"}
        command = ["docker", "compose", *arguments]
        return run_in_group(command, self._folder / host, environment, UP_WITHIN_S, stderr=subprocess.PIPE)

    def account(self, *arguments: str) -> str:
        """`make account` with the site's settings; returns the password."""
        accounts = self._folder / OPERATOR / "south" / "broker"
        program = str(ROOT / "broker" / "accounts.py")
        command = [sys.executable, program, "--data", str(accounts), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def key(self) -> str:
        """A caller's key at the entry."""
        command = ("node", "bin/key.js", "add", "hacs", "--right", "history")
        return self.compose("entry", "run", "--rm", "--no-deps", "--no-TTY", "entry-1", *command).strip()

    def get(self, path: str, key: str, **parameters: str) -> httpx.Response:
        """What the entry answers over HTTPS."""
        authority = ssl.create_default_context(cafile=self._folder / OPERATOR / "broker" / "https" / "ca.crt")
        with web.Client(retry_503=False, transport=httpx.HTTPTransport(verify=authority)) as client:
            url = f"https://{self._host}:{self._https}{path}"
            return client.get(url, params=parameters, headers={"X-API-Key": key}, timeout=10)

    def publish(self, account: str, password: str, payload: Mapping[str, object]) -> None:
        """Publish a phone's batch over TLS through the entry's HAProxy; returns when it is acknowledged."""
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=account)
        client.username_pw_set(account, password)
        client.tls_set(str(self._folder / OPERATOR / "broker" / "tls" / "ca.crt"))
        client.reconnect_delay_set(1, 2)
        client.connect_async(self._host, self._mqtts)
        client.loop_start()
        try:
            eventually(client.is_connected, what=f"MQTT connection of {account}")
            sent = client.publish(f"sda/v1/phone/{account}/readings", json.dumps(payload), qos=1)
            eventually(sent.is_published, what="an acknowledgement")
        finally:
            end(client)

    def remove(self) -> None:
        """Containers, volumes, networks and images of it."""
        for host in self.hosts:
            self._compose(host, "down", "--volumes", "--timeout", "2", "--rmi", "local")
            for image in ("broker", "flows", "entry"):
                self._engine.docker("image", "rm", "--force", f"{self._project}-{host}/{image}:0.1.0", check=False)


@contextmanager
def container_campus(engine: Engine, folder: Path, building: Path) -> Iterator[ContainerCampus]:
    """A campus during the block, not yet started."""
    campus = ContainerCampus(engine, folder, building)
    try:
        campus.make_files()
        yield campus
    finally:
        campus.remove()
