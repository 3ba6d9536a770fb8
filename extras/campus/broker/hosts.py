#!/usr/bin/env python3
"""Prepares the files of a NATS cluster whose nodes run on hosts of their own, and certificates for HTTPS.

    hosts.py --data DIR --folder OUT --node nats-1=10.0.0.11:6222 --node … --site north=… --https entry=10.0.0.10

OUT/<node>/files gets what that node needs and nothing else: nats.conf, a certificate of its own, the callout's keys,
the accounts of the sites. The two authorities stay in DIR. Running it again changes nothing, but renews what is due.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import nats_keys
from certificates import ensure_certificates
from command import run_command
from nats_config import Broker, Listeners, Storage, parse_node, render
from store import Store

LISTENERS = Listeners("0.0.0.0", 8883, 4222, route_host="0.0.0.0")  # noqa: S104 - inside a container
"""As compose.node.yaml publishes them."""
ACCOUNT_FILES = ("passwords", "acl", "sessions.json")


def provision(options: argparse.Namespace) -> list[str]:
    """Bring both folders to the state of `options`; returns a sentence for each change."""
    store = Store(options.data)
    sites = dict(options.site)
    with store.locked():
        for authority in ("tls", "https"):
            store.make_folder(options.data / authority)
        keys = nats_keys.ensure(store, list(sites))
        keys = replace(keys, sites={site: keys.sites[site] for site in sites})
        broker = Broker(options.node, keys.public(), keys.route_password, options.open_files)
        storage = Storage("nats/store", options.queue_bytes, options.replicas, options.sync_interval)
        done: list[str] = []
        for node in options.node:
            own, target = options.data / "nodes" / node.name, options.folder / node.name / "files"
            made = ensure_certificates(own, [node.host, *options.name], authority=options.data / "tls")
            done += [f"{node.name}: {line}" for line in made]
            written = {"nats/nats.conf": render(node, broker, LISTENERS, storage)}
            # The nodes' own password stands in nats.conf; the callout needs none.
            written["nats/keys.json"] = json.dumps(asdict(replace(keys, route_password="")), indent=1) + "\n"
            written["tls/ca.crt"] = (options.data / "tls" / "ca.crt").read_text()
            written |= {f"tls/{name}": (own / name).read_text() for name in ("server.crt", "server.key")}
            for site, folder in sites.items():
                written |= {f"sites/{site}/{name}": (folder / name).read_text() for name in ACCOUNT_FILES}
            done += [f"wrote {node.name}/files/{name}" for name in _write(target, written)]
        for name, names in options.https:
            made = ensure_certificates(options.data / "https" / name, names, authority=options.data / "https")
            done += [f"HTTPS of {name}: {line}" for line in made]
    return done


def _write(folder: Path, files: dict[str, str]) -> list[str]:
    """Write files where they differ, remove sites that are no more; returns the names of what changed."""
    store = Store(folder)
    for name in files:
        store.make_folder((folder / name).parent)
    for gone in (folder / "sites").iterdir():
        if not any(name.startswith(f"sites/{gone.name}/") for name in files):
            shutil.rmtree(gone)
    return [name for name, text in files.items() if store.replace(folder / name, text)]


def parse_site(text: str) -> tuple[str, Path]:
    """`NAME=FOLDER` of a site's accounts."""
    name, _, folder = text.partition("=")
    return name, Path(folder)


def parse_https(text: str) -> tuple[str, list[str]]:
    """`NAME=HOST,…` of a certificate."""
    name, _, names = text.partition("=")
    return name, names.split(",")


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Command-line options."""
    parser = argparse.ArgumentParser(
        prog="hosts.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder of the secrets that stay here; created when missing")
    add("--folder", type=Path, required=True, help="folder with a folder for each host")
    node = "a node, where the others reach its route; repeatable: 1, 3 or 5 of them"
    add("--node", type=parse_node, action="append", required=True, metavar="NAME=HOST:PORT", help=node)
    add("--site", type=parse_site, action="append", required=True, metavar="NAME=FOLDER", help="a site's accounts")
    certificate = "a certificate for HTTPS; repeatable"
    add("--https", type=parse_https, action="append", default=[], metavar="NAME=HOST,…", help=certificate)
    add("--replicas", type=int, required=True, help="nodes that keep each message")
    add("--queue-bytes", type=int, required=True, help="bound of a site's queue")
    add("--sync-interval", required=True, help="how often to sync to disk, or `always`")
    add("--name", action="append", default=[], help="one more name in the nodes' certificates; repeatable")
    add("--open-files", type=int, required=True, metavar="N", help="a node's limit of open files")
    return parser.parse_args(arguments)


def main() -> int:
    """Prepare the folders and print each change. Exit code 1 with a message if something is missing."""
    return run_command(lambda: provision(parse()))


if __name__ == "__main__":
    sys.exit(main())
