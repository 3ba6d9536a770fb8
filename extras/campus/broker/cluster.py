#!/usr/bin/env python3
"""Prepares the data folder of a NATS cluster whose nodes run on this machine: keys, certificates, a configuration each.

    cluster.py --data DIR --node nats-1=127.0.0.1:6222,1884,4222 --node … --site north --site south
    cd DIR && nats-server --config nats/nats-1.conf          # and so on

Running it again changes nothing. Accounts are those of the sites' own folders, which `provision.py --nats-elsewhere`
prepares; the callouts read them (README.md).
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import nats_keys
from certificates import ensure_certificates
from command import run_command
from nats_config import QUEUE_BYTES, Broker, Listeners, Node, Storage, render_cluster
from store import Store

LOOPBACK_NAMES = ("localhost", "127.0.0.1")


def provision(options: argparse.Namespace) -> list[str]:
    """Bring the data folder to the state of `options`; returns a sentence for each change."""
    store = Store(options.data)
    nodes = [node for node, _ in options.node]
    here = {node.name: listeners for node, listeners in options.node}
    names = list(dict.fromkeys([*LOOPBACK_NAMES, *(node.host for node in nodes), *options.name]))
    with store.locked():
        store.make_folder(options.data / "tls")
        done = ensure_certificates(options.data / "tls", names)
        keys = nats_keys.ensure(store, options.site)
        public = keys.public()
        public = replace(public, sites={site: public.sites[site] for site in options.site})
        broker = Broker(nodes, public, keys.route_password, options.open_files)
        storage = Storage("nats/store", options.queue_bytes, options.replicas, options.sync_interval)
        for name, text in render_cluster(broker, here, storage).items():
            store.make_folder(options.data / "nats" / "store" / name)
            if store.replace(options.data / "nats" / f"{name}.conf", text):
                done.append(f"wrote nats/{name}.conf")
        done += _remove_others(options.data / "nats", set(here))
    return done


def _remove_others(folder: Path, names: set[str]) -> list[str]:
    """Configurations of nodes that are no more; what they stored stays."""
    gone = [path for path in folder.glob("*.conf") if path.stem not in names]
    for path in gone:
        path.unlink()
    return [f"removed nats/{path.name}" for path in gone]


def parse_node(text: str) -> tuple[Node, Listeners]:
    """`NAME=HOST:ROUTE_PORT,MQTT_PORT,NATS_PORT` of a node; the last two are on loopback."""
    name, _, rest = text.partition("=")
    address, mqtt_port, nats_port = rest.split(",")
    host, _, route_port = address.rpartition(":")
    return Node(name, host.strip("[]"), int(route_port)), Listeners("127.0.0.1", int(mqtt_port), int(nats_port))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Command-line options."""
    parser = argparse.ArgumentParser(
        prog="cluster.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--data", type=Path, required=True, help="the cluster's data folder; created when missing")
    node = "a node, where the others reach it, and its two ports on loopback; repeatable: 1, 3 or 5 of them"
    add("--node", type=parse_node, action="append", required=True, metavar="NAME=HOST:ROUTE,MQTT,NATS", help=node)
    add("--site", action="append", required=True, metavar="NAME", help="a site, one NATS account each; repeatable")
    add("--replicas", type=int, help="nodes that keep each message (default: 3 of a cluster)")
    add("--queue-bytes", type=int, default=QUEUE_BYTES, help="bound of a site's queue (default %(default)s)")
    add("--sync-interval", default="30s", help="how often to sync to disk, or `always` (default %(default)s)")
    add("--name", action="append", default=[], help="one more name in the certificate; repeatable")
    add("--open-files", type=int, required=True, metavar="N", help="a node's limit of open files")
    options = parser.parse_args(arguments)
    options.data = options.data.absolute()
    return options


def main() -> int:
    """Prepare the folder and print each change. Exit code 1 with a message if something is missing."""
    return run_command(lambda: provision(parse()))


if __name__ == "__main__":
    sys.exit(main())
