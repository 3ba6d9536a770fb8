#!/usr/bin/env python3
"""Prepares a broker's data folder for a nats-server in it: its configuration and keys, in the folder `nats`.

    broker/provision.py --data DIR --tls-port 8883 --other-broker NATS --refused-in-ids .
    one_node.py --data DIR --tls-port 8883 --port 4222
    cd DIR && nats-server --config nats/nats.conf

Running it again changes nothing. Accounts and certificates are those that `broker/provision.py` has written. Needs the
package `nkeys`, and the modules of the folder `broker` (PYTHONPATH).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import nats_keys
from command import run_command
from nats_config import Broker, Listeners, Node, parse_node, render
from store import Store


def provision(options: argparse.Namespace) -> list[str]:
    """Bring the folder to the state of `options`; returns a sentence for each change. Raises ValueError for an
    impossible cluster."""
    store = Store(options.data)
    nodes = options.node or [Node("nats-1")]
    this = next((node for node in nodes if node.name == options.this), nodes[0])
    with store.locked():
        keys = nats_keys.ensure(store, options.site or ["site"])
        listeners = Listeners(options.tls_bind or "0.0.0.0", options.tls_port, options.port)  # noqa: S104 - as Mosquitto
        text = render(this, Broker(nodes, keys.public(), keys.route_password, options.open_files), listeners)
        store.make_folder(options.data / "nats" / "store")
        wrote = store.replace(options.data / "nats" / "nats.conf", text)
    return ["wrote nats/nats.conf"] if wrote else []


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Command-line options."""
    parser = argparse.ArgumentParser(
        prog="one_node.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--data", type=Path, required=True, help="the broker's data folder")
    add("--port", type=int, required=True, help="NATS' own port on loopback")
    add("--tls-port", type=int, required=True, help="its one MQTT listener, for receivers and services")
    add("--tls-bind", default="", help="its address (default: all)")
    add("--open-files", type=int, default=20_000, metavar="N", help="its limit of open files (default %(default)s)")
    add("--site", action="append", metavar="NAME", help="a site, one NATS account each; repeatable (default: site)")
    node = "a node of a cluster and where the others reach it; repeatable, the same on all (default: one node)"
    add("--node", type=parse_node, action="append", metavar="NAME=HOST:PORT", help=node)
    add("--this", default="", metavar="NAME", help="which node this is (default: the first)")
    options = parser.parse_args(arguments)
    options.data = options.data.absolute()
    return options


def main() -> int:
    """Prepare the folder and print each change. Exit code 1 with a message if something is missing."""
    return run_command(lambda: provision(parse()))


if __name__ == "__main__":
    sys.exit(main())
