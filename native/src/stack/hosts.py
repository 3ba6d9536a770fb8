"""The file of `make campus-files`: which part of a campus runs on which host. Checked, with every fault named."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .topology import HIGHEST_PORT, HOST, INTERVAL, MOST_SITES, NODES, Table, read_toml

SHIPPED = Path(__file__).resolve().parents[2] / "campus-hosts.toml"


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
    """What callers and receivers connect to."""

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
    replicas: int
    queue_mib: int
    sync_interval: str
    node_mib: int
    """Memory of a node's container."""


def read(file: Path) -> Hosts:
    """The campus that a file describes; its relative paths start at the file's folder.

    Raises:
        StackError: naming every fault.
    """
    return read_toml(file, lambda data, faults: _hosts(data, file.parent, faults))


def _hosts(data: Mapping[str, Any], folder: Path, faults: list[str]) -> Hosts:
    Table(data, "the file", faults).only("entry", "broker", "nodes", "sites")
    entry = _entry(Table(data.get("entry", {}), "entry", faults))
    nodes = tuple(_node(table, number) for number, table in enumerate(_tables(data, "nodes", faults), 1))
    sites = tuple(_site(table, folder) for table in _tables(data, "sites", faults))
    if len(nodes) not in NODES:
        faults.append(f"nodes: {len(nodes)}; take 1, 3 or 5, of which a majority is left when one fails")
    if not 1 <= len(sites) <= MOST_SITES:
        faults.append(f"sites: give 1 to {MOST_SITES} tables [[sites]]")
    names = [site.name for site in sites]
    faults += [f"sites: the name {name} is there twice" for name in sorted(set(names)) if names.count(name) > 1]
    places = [(entry.host, entry.https_port), (entry.host, entry.mqtts_port)]
    places += [(node.host, port) for node in nodes for port in (node.mqtts_port, node.route_port)]
    places += [(site.host, site.https_port) for site in sites]
    twice = sorted({place for place in places if places.count(place) > 1})
    faults += [f"{host} has port {port} twice; give each part its own" for host, port in twice]
    broker = Table(data.get("broker", {}), "broker", faults)
    broker.only("replicas", "queue_mib", "sync_interval", "memory_mib")
    replicas = broker.number("replicas", max(1, min(len(nodes), 3)), 1, max(NODES))
    if replicas not in NODES or replicas > len(nodes):
        broker.fault("replicas", f"{replicas}: take 1, 3 or 5, and no more than there are nodes")
    interval = broker.text("sync_interval", "30s")
    if not INTERVAL.fullmatch(interval):
        broker.fault("sync_interval", f"{interval!r}: give a time such as 30s, or always")
    queue_mib = broker.number("queue_mib", 2048, 1, 2**20)
    return Hosts(entry, nodes, sites, replicas, queue_mib, interval, broker.number("memory_mib", 512, 128, 2**20))


def _tables(data: Mapping[str, Any], key: str, faults: list[str]) -> list[Table]:
    listed = data.get(key, [])
    if not isinstance(listed, list):
        faults.append(f"{key}: give tables [[{key}]]")
        return []
    return [Table(one, f"{key}[{number}]", faults) for number, one in enumerate(listed)]


def _entry(table: Table) -> EntryHost:
    table.only("host", "https_port", "mqtts_port", "names", "network")
    return EntryHost(
        host=_host(table),
        https_port=table.number("https_port", 443, 1, HIGHEST_PORT),
        mqtts_port=table.number("mqtts_port", 8883, 1, HIGHEST_PORT),
        names=_names(table),
        network=table.text("network", "10.57.39"),
    )


def _node(table: Table, number: int) -> NodeHost:
    table.only("host", "mqtts_port", "route_port")
    return NodeHost(
        name=f"nats-{number}",
        host=_host(table),
        mqtts_port=table.number("mqtts_port", 8883, 1, HIGHEST_PORT),
        route_port=table.number("route_port", 6222, 1024, HIGHEST_PORT),
    )


def _site(table: Table, folder: Path) -> SiteHost:
    table.only("name", "host", "https_port", "building", "names")
    building = folder / table.text("building", "")
    if not building.is_file():
        table.fault("building", f"{building} is no file; give a building file's path")
    name = table.name()
    if name.startswith("nats-") or name == "operator":
        table.fault("name", f"{name!r} is the name of another folder; choose another one")
    port = table.number("https_port", 8443, 1, HIGHEST_PORT)
    return SiteHost(name, _host(table), port, building.resolve(), _names(table))


def _host(table: Table) -> str:
    host = table.text("host", "")
    if not HOST.fullmatch(host):
        table.fault("host", f"{host!r}: give the name or address under which the other hosts reach it")
    return host


def _names(table: Table) -> tuple[str, ...]:
    names = table.texts("names")
    if faulty := [name for name in names if not HOST.fullmatch(name)]:
        table.fault("names", f"{', '.join(faulty)}: give host names or addresses")
    return tuple(names)
