"""campus.toml: what `make campus` brings up. Read and checked, with every fault named. It works out the ports too."""

import ipaddress
import itertools
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .errors import StackError
from .layout import ROOT

T = TypeVar("T")
SHIPPED = ROOT / "native" / "campus.toml"
FIRST_PORT, HIGHEST_PORT = 18_800, 65_535
MOST_ENTRIES, MOST_SITES = 6, 20
NODES = (1, 3, 5)
BROKER_FROM, ENTRIES_FROM, NODES_FROM, SITES_FROM = 1, 3, 10, 30
"""Ports after that of the entry: HAProxy's for the broker, the entry's processes, the nodes, the sites."""
NODE_PORTS, SITE_PORTS = 3, 16
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_RESERVED = ("entry", "cluster")
"""Folders beside those of the sites."""
HOST = re.compile(r"[A-Za-z0-9.:_-]+")
INTERVAL = re.compile(r"always|[1-9][0-9]{0,4}(ms|s|m)")


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
    replicas: int
    queue_mib: int
    sync_interval: str
    mqtt_port: int
    """HAProxy's without TLS, on loopback."""
    mqtts_port: int
    """HAProxy's for receivers; TLS passes through it."""
    bind: str
    """Address of that one."""
    names: tuple[str, ...]
    """More names in the certificate."""


@dataclass(frozen=True, slots=True)
class Site:
    """A site that is brought up here."""

    name: str
    building: Path
    demo: str
    """SIM of its settings."""
    stores: int
    """InfluxDBs, 1 or 2."""
    first_port: int
    """Nine ports from this one on are its own."""


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
    """HAProxy's for callers."""
    entry_ports: tuple[int, ...]
    """Of the entry's processes, behind it."""
    cluster: Cluster | None
    """None: each site has a broker of its own."""
    sites: tuple[Site, ...]
    elsewhere: tuple[Elsewhere, ...]


def read(file: Path, port: str = "") -> Topology:
    """The campus that a file describes; its relative paths start at the file's folder.

    Args:
        file: campus.toml.
        port: replaces that of the file, if there is one.

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


def read_toml(file: Path, describe: Callable[[dict[str, Any], list[str]], T]) -> T:
    """What `describe` makes of the content; it appends to its second argument what is wrong.

    Raises:
        StackError: naming every fault.
    """
    try:
        data = tomllib.loads(file.read_text())
    except OSError as error:
        raise StackError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StackError(f"{file} is no TOML: {error}") from None
    faults: list[str] = []
    described = describe(data, faults)
    if faults:
        raise StackError("\n  ".join([f"{file} cannot be used:", *faults]))
    return described


def _topology(data: Mapping[str, Any], folder: Path, faults: list[str]) -> Topology:
    Table(data, "the file", faults).only("entry", "broker", "sites")
    entry = Table(data.get("entry", {}), "entry", faults)
    entry.only("port", "processes")
    port = entry.number("port", FIRST_PORT, 1024, HIGHEST_PORT - SITES_FROM - MOST_SITES * SITE_PORTS)
    processes = entry.number("processes", 2, 1, MOST_ENTRIES)
    sites: list[Site] = []
    elsewhere: list[Elsewhere] = []
    listed = data.get("sites", [])
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_SITES:
        faults.append(f"sites: give 1 to {MOST_SITES} tables [[sites]]")
        listed = []
    for number, one in enumerate(listed):
        table = Table(one, f"sites[{number}]", faults)
        if "url" in table:
            elsewhere.append(_elsewhere(table, folder))
        else:
            sites.append(_site(table, folder, port + SITES_FROM + SITE_PORTS * number))
    names = [*(one.name for one in sites), *(one.name for one in elsewhere)]
    faults += [f"sites: the name {name} is there twice" for name in sorted(set(names)) if names.count(name) > 1]
    firsts = sorted(one.first_port for one in sites)
    if any(after - before < SITE_PORTS for before, after in itertools.pairwise(firsts)):
        faults.append(f"sites: their first_port must be {SITE_PORTS} apart, since each has so many ports")
    cluster = _cluster(Table(data["broker"], "broker", faults), port) if "broker" in data else None
    entry_ports = tuple(range(port + ENTRIES_FROM, port + ENTRIES_FROM + processes))
    return Topology(port, entry_ports, cluster, tuple(sites), tuple(elsewhere))


def _site(table: "Table", folder: Path, first_port: int) -> Site:
    table.only("name", "building", "demo", "stores", "first_port")
    building = folder / table.text("building", "")
    if not building.is_file():
        table.fault("building", f"{building} is no file; give a building file's path")
    return Site(
        name=table.name(),
        building=building.resolve(),
        demo="1" if table.flag("demo") else "0",
        stores=table.number("stores", 1, 1, 2),
        first_port=table.number("first_port", first_port, 1024, HIGHEST_PORT - SITE_PORTS),
    )


def _elsewhere(table: "Table", folder: Path) -> Elsewhere:
    table.only("name", "url", "key_file", "ca_file")
    ca_file = table.text("ca_file", "")
    key_file = table.text("key_file", "")
    if not key_file:
        table.fault("key_file", "a site elsewhere needs one: make key there, docs/campus.md")
    return Elsewhere(table.name(), table.text("url", ""), (folder / key_file).resolve(),
                     (folder / ca_file).resolve() if ca_file else None)  # fmt: skip


def _cluster(table: "Table", port: int) -> Cluster:
    table.only("nodes", "replicas", "queue_mib", "sync_interval", "bind", "names")
    count = table.number("nodes", 3, 1, max(NODES))
    replicas = table.number("replicas", min(count, 3), 1, max(NODES))
    if count not in NODES:
        table.fault("nodes", f"{count}: take 1, 3 or 5, of which a majority is left when one fails")
    if replicas not in NODES or replicas > count:
        table.fault("replicas", f"{replicas}: take 1, 3 or 5, and no more than there are nodes")
    interval = table.text("sync_interval", "30s")
    if not INTERVAL.fullmatch(interval):
        table.fault("sync_interval", f"{interval!r}: give a time such as 30s, or always")
    bind, names = table.text("bind", "127.0.0.1"), table.texts("names")
    if not is_address(bind):
        table.fault("bind", f"{bind!r} is not an IP address (127.0.0.1, 0.0.0.0)")
    faulty = [name for name in names if not HOST.fullmatch(name)]
    if faulty:
        table.fault(
            "names", f"{', '.join(faulty)}: give host names or addresses under which receivers reach the broker"
        )
    firsts = [port + NODES_FROM + NODE_PORTS * number for number in range(count)]
    return Cluster(
        nodes=tuple(Node(f"nats-{n}", first, first + 1, first + 2) for n, first in enumerate(firsts, 1)),
        replicas=replicas,
        queue_mib=table.number("queue_mib", 2048, 1, 2**20),
        sync_interval=interval,
        mqtt_port=port + BROKER_FROM,
        mqtts_port=port + BROKER_FROM + 1,
        bind=bind,
        names=tuple(names),
    )


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class Table:
    """A table of the file. What is wrong with it is added to `faults`."""

    def __init__(self, data: object, where: str, faults: list[str]) -> None:
        self._where, self._faults = where, faults
        self._data: Mapping[str, Any] = data if isinstance(data, dict) else {}
        if not isinstance(data, dict):
            faults.append(f"{where} must be a table")

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def fault(self, key: str, what: str) -> None:
        self._faults.append(f"{self._where}.{key}: {what}")

    def only(self, *keys: str) -> None:
        """Refuse other keys."""
        self._faults += [f"{self._where} has no key {key!r}" for key in self._data if key not in keys]

    def name(self) -> str:
        name = self.text("name", "")
        if not _NAME.fullmatch(name) or name in _RESERVED:
            self.fault("name", f"{name!r}: give a name of small letters, digits, - and _, other than entry and cluster")
        return name

    def text(self, key: str, default: str) -> str:
        return self._value(key, default, lambda value: isinstance(value, str) and value.isprintable(), "a text")

    def texts(self, key: str) -> list[str]:
        def good(value: object) -> bool:
            return isinstance(value, list) and all(isinstance(one, str) for one in value)

        return self._value(key, [], good, "a list of texts")

    def flag(self, key: str) -> bool:
        return self._value(key, False, lambda value: isinstance(value, bool), "true or false")

    def number(self, key: str, default: int, least: int, most: int) -> int:
        def good(value: object) -> bool:
            return type(value) is int and least <= value <= most

        return self._value(key, default, good, f"a number from {least} to {most}")

    def _value(self, key: str, default: T, good: Callable[[Any], bool], what: str) -> T:
        value: T = self._data.get(key, default)
        if good(value):
            return value
        self.fault(key, f"{value!r} is not {what}")
        return default
