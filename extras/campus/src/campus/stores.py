"""Two InfluxDBs that are filled alike (STORES=2): erasing a person from both, filling one from the other."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from typing import TYPE_CHECKING, ClassVar

from stack.digest import digest
from stack.errors import StackError
from stack.layout import ROOT
from stack.process import Process
from stack.processes import LOW_PRIORITY
from stack.settings import load
from stack.stores import FIRST, PORT_KEYS, SECOND, Store, Stores

from . import health
from .install import HERE
from .retained import clear_location

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from stack.settings import Settings

ERASING_WITHIN_S = 900.0
"""Time to erase one person from a week of readings on a large site."""
SECOND_PORT_KEYS = tuple(SECOND.key(key) for key in PORT_KEYS)
PROGRAMS = HERE / "influx"
MODULES = {"PYTHONPATH": str(ROOT / "influx")}


class TwoStores(Stores):
    """Two InfluxDBs, and what erases people from one that was away at the time of the request."""

    all: ClassVar[tuple[Store, ...]] = (FIRST, SECOND)
    own_settings: ClassVar[Mapping[str, str]] = {
        "INFLUX_2_PORT": "8186", "SPOOL_2_PORT": "8187", "TELEGRAF_2_PORT": "8188", "READINGS_2_PORT": "8189",
        "INFLUX_2_WRITE_TOKEN": "", "INFLUX_2_READ_TOKEN": "", "INFLUX_ERASE_TOKEN": "", "INFLUX_2_ERASE_TOKEN": "",
    }  # fmt: skip
    port_keys: ClassVar[tuple[str, ...]] = (*PORT_KEYS, *SECOND_PORT_KEYS)
    tokens: ClassVar[Path | None] = PROGRAMS / "tokens.two-stores.json"

    def run(self, settings: Settings) -> list[Process]:
        data = settings.data_dir / "erasures"
        environment = {
            f"STORE_{store.number}_{name}": value
            for store in self.all
            for name, value in (
                ("URL", settings.influx_url_from("erasures", store)),
                ("SPOOL_URL", settings.url_of("SPOOL_PORT", store)),
                ("TOKEN", settings[store.key("INFLUX_ERASE_TOKEN")]),
            )
        }
        programs = (PROGRAMS / "erase.py", PROGRAMS / "erasures.py", ROOT / "influx" / "api.py")
        return [
            Process(
                name="erasures",
                version="disk",
                command=(*LOW_PRIORITY, sys.executable, str(PROGRAMS / "erase.py"), "serve", "--data", str(data)),
                directory=data,
                environment={**environment, **MODULES},
                healthy=functools.partial(health.recent, data / "alive", ERASING_WITHIN_S),
                configuration=digest(programs),
            )
        ]


def store_fill(rest: list[str]) -> int:
    """`make store-fill`: the numbers of the store to copy from and of the one to fill."""
    settings = load()
    stores = {str(store.number): store for store in settings.stores}
    if len(stores) == 1:
        raise StackError("there is one InfluxDB only; a second one: STORES=2 make up")
    if sorted(rest) != sorted(stores):
        raise StackError("say which InfluxDB to fill from which: make store-fill FROM=1 TO=2")
    if owed := list((settings.data_dir / "erasures").glob("*.json")):
        raise StackError(
            f"{len(owed)} people are still to be erased from an InfluxDB, and would be copied: make erase lists them; "
            "run this again when nothing is owed"
        )
    source, target = (stores[number] for number in rest)
    urls = [settings.url_of("INFLUX_PORT", store) for store in (source, target)]
    tokens = {
        "FILL_FROM_TOKEN": settings[source.key("INFLUX_READ_TOKEN")],
        "FILL_TO_TOKEN": settings["INFLUX_ADMIN_TOKEN"],
    }
    command = [*LOW_PRIORITY, sys.executable, str(PROGRAMS / "fill.py"), "--from", urls[0], "--to", urls[1]]
    command += ["--buckets", str(ROOT / "influx" / "buckets.json")]
    return subprocess.run(command, env={**os.environ, **tokens}, check=False).returncode


def erase(rest: list[str]) -> int:
    """`make erase`: a person and their tags; without: what is owed."""
    settings = load()
    if len(settings.stores) == 1:
        raise StackError("with one InfluxDB the commands of docs/privacy.md erase a person")
    person, *tags = " ".join(rest).split() or [""]
    what = ["ask", person, *tags] if person else ["list"]
    command: list[str | Path] = [sys.executable, PROGRAMS / "erase.py", "--data", settings.data_dir / "erasures"]
    environment = {**os.environ, **MODULES}
    code = subprocess.run([*command, *what], env=environment, check=False).returncode
    if code == 0 and person:
        clear_location(settings, person)
    return code
