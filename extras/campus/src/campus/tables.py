"""Reads and checks the tables of a TOML file that describes a campus. Names every fault."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gateway_agent.text_file import EncodingError, read_text
from stack.errors import StackError

T = TypeVar("T")
HIGHEST_PORT = 65_535
MAX_SITES = 20
NODES = (1, 3, 5)
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_RESERVED = ("entry", "cluster")
"""Folders beside those of the sites."""
_HOST = re.compile(r"[A-Za-z0-9.:_-]+")
_INTERVAL = re.compile(r"always|[1-9][0-9]{0,4}(ms|s|m)")


@dataclass(frozen=True, slots=True)
class Queue:
    """What the nodes keep of each site's messages."""

    replicas: int
    """Nodes that keep each message."""
    mib: int
    """Bound on each node, in MiB."""
    sync_interval: str
    """How often it is synced to disk, or `always`."""

    @property
    def size(self) -> int:
        """Bound on each node, in bytes."""
        return self.mib * 2**20

    @property
    def options(self) -> list[object]:
        """For the programs that write the nodes' configurations."""
        return ["--replicas", self.replicas, "--queue-bytes", self.size, "--sync-interval", self.sync_interval]


def read_toml(file: Path, describe: Callable[[dict[str, Any], list[str]], T]) -> T:
    """Read a TOML file and return what `describe` makes of it. `describe` appends faults to its second argument.

    Raises:
        StackError: naming every fault.
    """
    try:
        data = tomllib.loads(read_text(file))
    except OSError as error:
        raise StackError(f"{file} cannot be read: {error.strerror}") from None
    except EncodingError as error:
        raise StackError(f"{file} {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise StackError(f"{file} is no TOML: {error}") from None
    faults: list[str] = []
    described = describe(data, faults)
    if faults:
        raise StackError("\n  ".join([f"{file} cannot be used:", *faults]))
    return described


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

    def reject_other_keys(self, *keys: str) -> None:
        """Add a fault for each key that is none of these."""
        self._faults += [f"{self._where} has no key {key!r}" for key in self._data if key not in keys]

    def name(self) -> str:
        name = self.text("name", "")
        if not _NAME.fullmatch(name) or name in _RESERVED:
            self.fault("name", f"{name!r}: give a name of small letters, digits, - and _, other than entry and cluster")
        return name

    def host(self) -> str:
        host = self.text("host", "")
        if not _HOST.fullmatch(host):
            self.fault("host", f"{host!r}: give the name or address under which the other hosts reach it")
        return host

    def host_names(self) -> tuple[str, ...]:
        """More names under which it is reached."""
        names = self.texts("names")
        if faulty := [name for name in names if not _HOST.fullmatch(name)]:
            self.fault("names", f"{', '.join(faulty)}: give host names or addresses")
        return tuple(names)

    def building(self, folder: Path) -> Path:
        """The building's file; a relative path starts at this folder."""
        building = folder / self.text("building", "")
        if not building.is_file():
            self.fault("building", f"{building} is no file; give a building file's path")
        return building.resolve()

    def queue(self, nodes: int) -> Queue:
        """`replicas`, `queue_mib` and `sync_interval` of a broker with so many nodes."""
        replicas = self.number("replicas", max(1, min(nodes, 3)), 1, max(NODES))
        if replicas not in NODES or replicas > nodes:
            self.fault("replicas", f"{replicas}: take 1, 3 or 5, and no more than there are nodes")
        interval = self.text("sync_interval", "30s")
        if not _INTERVAL.fullmatch(interval):
            self.fault("sync_interval", f"{interval!r}: give a time such as 30s, or always")
        return Queue(replicas, self.number("queue_mib", 2048, 1, 2**20), interval)

    def text(self, key: str, default: str) -> str:
        return self._value(key, default, lambda value: isinstance(value, str) and value.isprintable(), "a text")

    def texts(self, key: str) -> list[str]:
        def good(value: object) -> bool:
            return isinstance(value, list) and all(isinstance(one, str) for one in value)

        return self._value(key, [], good, "a list of texts")

    def flag(self, key: str) -> bool:
        return self._value(key, False, lambda value: isinstance(value, bool), "true or false")

    def number(self, key: str, default: int, minimum: int, maximum: int) -> int:
        def good(value: object) -> bool:
            return type(value) is int and minimum <= value <= maximum

        return self._value(key, default, good, f"a number from {minimum} to {maximum}")

    def _value(self, key: str, default: T, good: Callable[[Any], bool], what: str) -> T:
        value: T = self._data.get(key, default)
        if good(value):
            return value
        self.fault(key, f"{value!r} is not {what}")
        return default


def tables(data: Mapping[str, Any], key: str, faults: list[str], max_count: int) -> list[Table]:
    """The tables [[key]], of which there are 1 to `max_count`."""
    listed = data.get(key, [])
    if not isinstance(listed, list) or not 1 <= len(listed) <= max_count:
        faults.append(f"{key}: give 1 to {max_count} tables [[{key}]]")
        return []
    return [Table(one, f"{key}[{number}]", faults) for number, one in enumerate(listed)]


def check_unique_names(names: Iterable[str], faults: list[str]) -> None:
    """Add a fault for each name that two sites have."""
    listed = list(names)
    faults += [f"sites: the name {name} is there twice" for name in sorted(set(listed)) if listed.count(name) > 1]


def wrong_number_of_nodes(count: int) -> str:
    """What is wrong with this number of nodes. Empty: nothing."""
    return "" if count in NODES else f"{count}: take 1, 3 or 5, of which a majority is left when one fails"
