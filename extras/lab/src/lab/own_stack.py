"""A whole stack on free ports in a folder of its own, for measurements; it ends with its standard input."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from stack.errors import StackError
from stack.install import install
from stack.layout import ROOT, VERSIONS
from stack.scratch import free_ports, scratch_stack
from stack.settings import Settings
from stack.supervisor import Supervisor

from lab.links import LINKS, SETTING, Links, proxies, toxiproxy_part

PARTS = ("mosquitto", "telegraf", "spool", "influxd", "node-red")


def main(arguments: Sequence[str]) -> int:
    """`python -m lab.own_stack [--links] FOLDER [KEY=value …]`: run a stack in a new folder until standard input ends.

    Its description is printed as one line of JSON. Lines of standard input stop and start parts, and delay the
    connections between them (with `--links`). At the end the stack is stopped and the folder is deleted.
    """
    with_links, rest = "--links" in arguments, [one for one in arguments if one != "--links"]
    folder = Path(rest[0]).resolve()
    own = dict(one.split("=", 1) for one in rest[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller ends this process, and may be interrupted itself
    with ExitStack() as stack:
        ports, links = stack.enter_context(linked(own)) if with_links else ({}, None)
        settings = stack.enter_context(scratch_stack(folder, own | ports))
        print(json.dumps(_description(settings)), flush=True)  # noqa: T201 - this is the answer
        for line in sys.stdin:
            _run_command(settings, links, *line.split())
    return 0


@contextmanager
def linked(own: Mapping[str, str]) -> Iterator[tuple[dict[str, str], Links]]:
    """Run proxies between the parts of a stack. Yields `own` with the settings that make the stack use them."""
    install([toxiproxy_part()])
    own_port, *free = free_ports(1 + 2 * len(LINKS))
    keys = dict.fromkeys(LINKS.values())
    chosen = {**dict(zip(keys, map(str, free), strict=False)), **own}
    ways = {
        f"{part}-{other}": (port, int(chosen[key]))
        for ((part, other), key), port in zip(LINKS.items(), free[len(LINKS) :], strict=True)
    }
    with proxies(ways, own_port) as links:
        yield {**chosen, SETTING: ",".join(f"{name}={port}" for name, (port, _) in ways.items())}, links


def _run_command(settings: Settings, links: Links | None, command: str, *words: str) -> None:
    """`stop PART` and `start PART` make an outage for a scenario. `delay PART-OTHER MS` delays a connection."""
    if command == "delay" and links is not None:
        links.delay(words[0], float(words[1]))
        return
    supervisor = Supervisor(settings.data_dir)
    {"stop": supervisor.stop, "start": supervisor.start}[command](words[0])


def _description(settings: Settings) -> dict[str, Any]:
    """Addresses, secrets, process ids and versions; the reader keeps the secrets to itself."""
    supervisor = Supervisor(settings.data_dir)
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"]
    revision = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "url": settings.http_url,
        "mqtt_host": settings.mqtt_host,
        "mqtt_port": settings.port("MQTT_PORT"),
        "influx_url": settings.influx_url,
        "key": settings["SDA_API_KEY"],
        "viewer": settings["SDA_VIEWER_USER"],
        "viewer_password": settings["SDA_VIEWER_PASSWORD"],
        "mqtt_password": settings["MQTT_SIMULATOR_PASSWORD"],
        "influx_token": settings["INFLUX_READ_TOKEN"],
        "influx_write_token": settings["INFLUX_ADMIN_TOKEN"],
        "building_file": str(settings.building),
        "parts": {name: int(supervisor.info(name).get("pid", 0)) for name in PARTS},
        "versions": {**{key.lower(): value for key, value in VERSIONS.items()}, "revision": revision},
        "scratch": True,
    }


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except StackError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
