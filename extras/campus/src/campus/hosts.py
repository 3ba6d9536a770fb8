"""Reads and checks the file of `make campus-files`: which part of a campus runs on which host. Names every fault."""

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

SHIPPED = HERE / "campus-hosts.toml"


@dataclass(frozen=True, slots=True)
class NodeHost:
    """A node of the broker."""

    name: str
    host: str
    """Name or address under which all other hosts reach it."""
    mqtts_port: int
    route_port: int
    """For the other nodes."""


@dataclass(frozen=True, slots=True)
class SiteHost:
    """A site: database, ingest, flows."""

    name: str
    host: str
    https_port: int
    building: Path
    names: tuple[str, ...]
    """More names in its certificate."""


@dataclass(frozen=True, slots=True)
class EntryHost:
    """The host to which callers and receivers connect."""

    host: str
    https_port: int
    mqtts_port: int
    names: tuple[str, ...]
    """More names in its certificate, and in those of the nodes."""
    network: str
    """The first three numbers of its containers' network."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """A campus on several hosts, or on one."""

    entry: EntryHost
    nodes: tuple[NodeHost, ...]
    sites: tuple[SiteHost, ...]
    queue: Queue
    node_mib: int
    """Memory of a node's container."""


def read(file: Path) -> Hosts:
    """The campus that a file describes; its relative paths start at the file's folder.

    Raises:
        StackError: naming every fault.
    """
    return read_toml(file, lambda data, faults: _hosts(data, file.parent, faults))


def _hosts(data: Mapping[str, Any], folder: Path, faults: list[str]) -> Hosts:
    Table(data, "the file", faults).reject_other_keys("entry", "broker", "nodes", "sites")
    entry = _entry(Table(data.get("entry", {}), "entry", faults))
    nodes = tuple(_node(table, number) for number, table in enumerate(tables(data, "nodes", faults, max(NODES)), 1))
    sites = tuple(_site(table, folder) for table in tables(data, "sites", faults, MAX_SITES))
    if wrong := wrong_number_of_nodes(len(nodes)):
        faults.append(f"nodes: {wrong}")
    check_unique_names((site.name for site in sites), faults)
    places = [(entry.host, entry.https_port), (entry.host, entry.mqtts_port)]
    places += [(node.host, port) for node in nodes for port in (node.mqtts_port, node.route_port)]
    places += [(site.host, site.https_port) for site in sites]
    twice = sorted({place for place in places if places.count(place) > 1})
    faults += [f"{host} has port {port} twice; give each part its own" for host, port in twice]
    broker = Table(data.get("broker", {}), "broker", faults)
    broker.reject_other_keys("replicas", "queue_mib", "sync_interval", "memory_mib")
    queue = broker.queue(len(nodes))
    return Hosts(entry, nodes, sites, queue, broker.number("memory_mib", 512, 128, 2**20))


def _entry(table: Table) -> EntryHost:
    table.reject_other_keys("host", "https_port", "mqtts_port", "names", "network")
    return EntryHost(
        host=table.host(),
        https_port=table.number("https_port", 443, 1, HIGHEST_PORT),
        mqtts_port=table.number("mqtts_port", 8883, 1, HIGHEST_PORT),
        names=table.host_names(),
        network=table.text("network", "10.57.39"),
    )


def _node(table: Table, number: int) -> NodeHost:
    table.reject_other_keys("host", "mqtts_port", "route_port")
    return NodeHost(
        name=f"nats-{number}",
        host=table.host(),
        mqtts_port=table.number("mqtts_port", 8883, 1, HIGHEST_PORT),
        route_port=table.number("route_port", 6222, 1024, HIGHEST_PORT),
    )


def _site(table: Table, folder: Path) -> SiteHost:
    table.reject_other_keys("name", "host", "https_port", "building", "names")
    building = table.building(folder)
    name = table.name()
    if name.startswith("nats-") or name == "operator":
        table.fault("name", f"{name!r} is the name of another folder; choose another one")
    port = table.number("https_port", 8443, 1, HIGHEST_PORT)
    return SiteHost(name, table.host(), port, building, table.host_names())
