"""The InfluxDBs of an installation: each has a Telegraf, a spool, ports and tokens of its own. The core has one.

An extra may bring more (extras.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .process import Process
    from .settings import Settings


@dataclass(frozen=True, slots=True)
class Store:
    """An InfluxDB and what fills it. The first has the plain names."""

    number: int

    def name(self, part: str) -> str:
        """Name of a process, of a data folder, and of Telegraf's accounts: `telegraf`, `telegraf-2`."""
        return part if self.number == 1 else f"{part}-{self.number}"

    def key(self, key: str) -> str:
        """Key in `.env`: `INFLUX_PORT`, `INFLUX_2_PORT`."""
        return key if self.number == 1 else key.replace("_", f"_{self.number}_", 1)


FIRST: Final = Store(1)
SECOND: Final = Store(2)
PORT_KEYS = ("INFLUX_PORT", "TELEGRAF_PORT", "SPOOL_PORT", "READINGS_PORT")


class Stores:
    """The one InfluxDB of an installation."""

    all: ClassVar[tuple[Store, ...]] = (FIRST,)
    own_settings: ClassVar[Mapping[str, str]] = {}
    """Keys that `.env` has for them, with their defaults."""
    port_keys: ClassVar[tuple[str, ...]] = PORT_KEYS
    tokens: ClassVar[Path | None] = None
    """A file of tokens besides those of `influx/tokens.json`."""

    def run(self, _settings: Settings) -> list[Process]:
        """Processes besides those of each store."""
        return []
