"""The one or two InfluxDBs of an installation: each has a Telegraf, a spool, ports and tokens of its own."""

from dataclasses import dataclass
from typing import Final


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
SECOND_PORT_KEYS = tuple(SECOND.key(key) for key in PORT_KEYS)
