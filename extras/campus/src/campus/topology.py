"""Reads and checks campus.toml, which says what `make campus` starts. Names every fault, and works out the ports."""

import ipaddress
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .install import HERE
from .tables import (
    HIGHEST_PORT,
    MAX_SITES,
    NODES,
    Queue,
    Table,
    check_unique_names,
    read_toml,
    tables,
    wrong_number_of_nodes,
)

SHIPPED = HERE / "campus.toml"
FIRST_PORT = 18_800
MAX_ENTRIES = 6
BROKER_FROM, ENTRIES_FROM, NODES_FROM, SITES_FROM = 1, 3, 10, 30
"""Ports after that of the entry: HAProxy's for the broker, the entry's processes, the nodes, the sites."""
NODE_PORTS, SITE_PORTS = 3, 16


@dataclass(frozen=True, slots=True)
class Node:
    """A nats-server of this machine and its ports, on loopback."""

    name: str
    mqtt_port: int
    nats_port: int
    route_port: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """The broker of all sites."""

    nodes: tuple[Node, ...]
    queue: Queue
    mqtt_port: int
    """HAProxy's port without TLS, on loopback."""
    mqtts_port: int
    """HAProxy's port for receivers. TLS passes through it."""
    bind: str
    """Address of the port for receivers."""
    names: tuple[str, ...]
    """More names in the certificate."""


@dataclass(frozen=True, slots=True)
class Site:
    """A site that is started here."""

    name: str
    building: Path
    demo: str
    """Value of SIM in its settings."""
    stores: int
    """InfluxDBs, 1 or 2."""
    first_port: int
    """The first of its nine ports."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A site that runs on another machine: the entry asks it, nothing is started for it."""

    name: str
    url: str
    key_file: Path
    ca_file: Path | None


@dataclass(frozen=True, slots=True)
class Topology:
    """A campus."""

    port: int
    """HAProxy's port for callers."""
    entry_ports: tuple[int, ...]
    """Ports of the entry's processes, behind HAProxy."""
    cluster: Cluster | None
    """None: each site has a broker of its own."""
    sites: tuple[Site, ...]
    elsewhere: tuple[Elsewhere, ...]


def read(file: Path, port: str = "") -> Topology:
    """The campus that a file describes; its relative paths start at the file's folder.

    Args:
        file: campus.toml.
        port: replaces the port of the file, unless it is empty.

    Raises:
        StackError: naming every fault.
    """

    def describe(data: dict[str, Any], faults: list[str]) -> Topology:
        if port:
            entry = data.get("entry", {})
            number = int(port) if port.isascii() and port.isdecimal() else port
            data["entry"] = {**entry, "port": number} if isinstance(entry, dict) else entry
        return _topology(data, file.parent, faults)

    return read_toml(file, describe)


def _topology(data: Mapping[str, Any], folder: Path, faults: list[str]) -> Topology:
    Table(data, "the file", faults).reject_other_keys("entry", "broker", "sites")
    entry = Table(data.get("entry", {}), "entry", faults)
    entry.reject_other_keys("port", "processes")
    port = entry.number("port", FIRST_PORT, 1024, HIGHEST_PORT - SITES_FROM - MAX_SITES * SITE_PORTS)
    processes = entry.number("processes", 2, 1, MAX_ENTRIES)
    sites: list[Site] = []
    elsewhere: list[Elsewhere] = []
    for number, table in enumerate(tables(data, "sites", faults, MAX_SITES)):
        if "url" in table:
            elsewhere.append(_elsewhere(table, folder))
        else:
            sites.append(_site(table, folder, port + SITES_FROM + SITE_PORTS * number))
    check_unique_names([*(one.name for one in sites), *(one.name for one in elsewhere)], faults)
    firsts = sorted(one.first_port for one in sites)
    if any(after - before < SITE_PORTS for before, after in itertools.pairwise(firsts)):
        faults.append(f"sites: their first_port must be {SITE_PORTS} apart, since each has so many ports")
    cluster = _cluster(Table(data["broker"], "broker", faults), port) if "broker" in data else None
    entry_ports = tuple(range(port + ENTRIES_FROM, port + ENTRIES_FROM + processes))
    return Topology(port, entry_ports, cluster, tuple(sites), tuple(elsewhere))


def _site(table: Table, folder: Path, first_port: int) -> Site:
    table.reject_other_keys("name", "building", "demo", "stores", "first_port")
    building = table.building(folder)
    return Site(
        name=table.name(),
        building=building,
        demo="1" if table.flag("demo") else "0",
        stores=table.number("stores", 1, 1, 2),
        first_port=table.number("first_port", first_port, 1024, HIGHEST_PORT - SITE_PORTS),
    )


def _elsewhere(table: Table, folder: Path) -> Elsewhere:
    table.reject_other_keys("name", "url", "key_file", "ca_file")
    ca_file = table.text("ca_file", "")
    key_file = table.text("key_file", "")
    if not key_file:
        table.fault("key_file", "a site elsewhere needs one: make key there, extras/campus/docs/campus.md")
    return Elsewhere(table.name(), table.text("url", ""), (folder / key_file).resolve(),
                     (folder / ca_file).resolve() if ca_file else None)  # fmt: skip


def _cluster(table: Table, port: int) -> Cluster:
    table.reject_other_keys("nodes", "replicas", "queue_mib", "sync_interval", "bind", "names")
    count = table.number("nodes", 3, 1, max(NODES))
    if wrong := wrong_number_of_nodes(count):
        table.fault("nodes", wrong)
    queue = table.queue(count)
    bind = table.text("bind", "127.0.0.1")
    if not is_address(bind):
        table.fault("bind", f"{bind!r} is not an IP address (127.0.0.1, 0.0.0.0)")
    firsts = [port + NODES_FROM + NODE_PORTS * number for number in range(count)]
    return Cluster(
        nodes=tuple(Node(f"nats-{n}", first, first + 1, first + 2) for n, first in enumerate(firsts, 1)),
        queue=queue,
        mqtt_port=port + BROKER_FROM,
        mqtts_port=port + BROKER_FROM + 1,
        bind=bind,
        names=table.host_names(),
    )


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
