"""Runs real reverse proxies in front of a stack, with the configurations of docs/network.md and proxy/Caddyfile."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stack.layout import ROOT
from unused_ports import unused_ports

from .running import RunningStack
from .stack_client import eventually

NAME = "sda.example.org"
SBIN = f"{os.environ['PATH']}:/usr/sbin"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy's TLS address for `NAME`."""

    port: int
    url: str


@contextmanager
def nginx(stack: RunningStack, folder: Path) -> Iterator[Proxy]:
    """nginx with the server of docs/network.md; only ports, paths and upstream differ."""
    page = (ROOT / "docs" / "network.md").read_text()
    (reported,) = re.findall(r"<!-- tested -->\n```nginx\n(.*?)```", page, re.DOTALL)
    (port,) = unused_ports(1)
    tls = stack.data_dir / "broker" / "https"
    changes = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "127.0.0.1:1880": f"127.0.0.1:{stack.ports.http}",
        "/etc/ssl/sda/fullchain.pem": f"{tls}/server.crt",
        "/etc/ssl/sda/privkey.pem": f"{tls}/server.key",
    }
    for text, ours in changes.items():
        assert text in reported, text
        reported = reported.replace(text, ours)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file = folder / "nginx.conf"
    file.write_text(f"daemon off; pid {folder}/pid; error_log stderr; user root;\n"
                    f"events {{}}\nhttp {{ access_log off; {temporary}\n{reported}\n}}\n")  # fmt: skip
    with _running(["nginx", "-p", str(folder), "-e", "stderr", "-c", str(file)], {}, port) as proxy:
        yield proxy


@contextmanager
def caddy(stack: RunningStack, folder: Path) -> Iterator[Proxy]:
    """Caddy with proxy/Caddyfile and its own certificate."""
    port, plain = unused_ports(2)
    environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
                   "PROXY_NAME": NAME, "PROXY_TLS": "internal", "PROXY_HTTPS_PORT": str(port),
                   "PROXY_HTTP_PORT": str(plain), "PROXY_UPSTREAM": f"127.0.0.1:{stack.ports.http}"}  # fmt: skip
    command = ["caddy", "run", "--config", str(ROOT / "proxy" / "Caddyfile"), "--adapter", "caddyfile"]
    with _running(command, environment, port) as proxy:
        yield proxy


@contextmanager
def _running(command: list[str], environment: dict[str, str], port: int) -> Iterator[Proxy]:
    program = shutil.which(command[0], path=SBIN)
    assert program, command[0]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen([program, *command[1:]], env={"PATH": SBIN, **environment}, stderr=log) as running,
    ):
        try:
            eventually(lambda: running.poll() is not None or _shakes_hands(port), within_s=30, what=command[0])
            log.seek(0)
            assert running.poll() is None, log.read()
            yield Proxy(port, f"https://{NAME}:{port}")
        finally:
            running.terminate()


def _shakes_hands(port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection(("127.0.0.1", port), 1) as plain,
            context.wrap_socket(plain, server_hostname=NAME),
        ):
            return True
    except OSError:
        return False
