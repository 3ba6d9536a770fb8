"""`make campus`: two sites and the campus entry on one machine, each site from the process list of `make up`."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from . import health
from .digest import digest
from .errors import StackError
from .install import install, print_line, wanted_parts
from .layout import ROOT, cache_dir, node_folder
from .lifecycle import down, lifecycle_lock, save_broker, up
from .pipeline import wait_until_healthy
from .ports import check_free
from .processes import Process
from .settings import PORT_KEYS, Settings, load
from .supervisor import Supervisor
from .wait import wait_for

FOLDER = ROOT / ".campus"
PORT_KEY = "CAMPUS_PORT"
FIRST_PORT = 18_800
"""The entry's; a site's ports follow, ten numbers for each."""
UP_WITHIN_S = 60.0
SITE_TIMEOUT_MS = 3000
KEY_NAME = "campus"
"""Name of the entry's key at each site."""
RIGHTS = ("history", "presence", "forward")


@dataclass(frozen=True, slots=True)
class Site:
    """A site of the demonstration."""

    name: str
    building: Path
    demo: str
    """SIM of its settings."""


SITES = (
    Site("north", ROOT / "flows" / "building" / "demo.json", ""),
    Site("south", ROOT / "flows" / "building" / "annex.json", "0"),
)


def campus_up(folder: Path = FOLDER, environment: Mapping[str, str] = os.environ) -> str:
    """Start both sites and the entry, and wait until every site answers the entry.

    Args:
        folder: of all its files.
        environment: CAMPUS_PORT is the entry's port.

    Returns:
        The address of the entry.

    Raises:
        StackError: naming the problem and the remedy.
    """
    install(wanted_parts("mosquitto"))
    port = entry_port(environment)
    running: dict[str, Settings] = {}
    for number, site in enumerate(SITES):
        print_line(f"site {site.name}")
        settings = up(site_settings(folder, site, port + 1 + 10 * number))
        wait_until_healthy(settings)
        save_broker(settings)
        running[site.name] = settings
    start_entry(folder / "entry", port, running)
    return f"http://127.0.0.1:{port}"


def campus_down(folder: Path = FOLDER) -> None:
    """Stop the entry and both sites; the data stay."""
    Supervisor(folder / "entry").shut_down()
    for site in SITES:
        if (folder / site.name).exists():
            down(site_settings(folder, site, FIRST_PORT + 1))


def site_settings(folder: Path, site: Site, first_port: int) -> Settings:
    """Settings of one site, its ports from `first_port` on, everything on loopback."""
    building = folder / site.name / "building" / "building.json"
    if not building.exists():
        building.parent.mkdir(parents=True)
        shutil.copy(site.building, building)
    own = {key: str(first_port + number) for number, key in enumerate(PORT_KEYS)}
    own |= {"DATA_DIR": str(folder / site.name / "data"), "SDA_BUILDING": str(building), "MQTTS_BIND": "127.0.0.1"}
    return load(folder / site.name / ".env", own | {"SIM": site.demo})


def start_entry(folder: Path, port: int, sites: Mapping[str, Settings], timeout_ms: int = SITE_TIMEOUT_MS) -> None:
    """Start the campus entry for running sites, with a key of its own at each of them.

    Args:
        folder: of campus.toml, keys and logs.
        port: it listens on, on loopback.
        sites: settings of each site by name.
        timeout_ms: so long a site may take until its answer begins.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, settings in sites.items():
        _key_at(settings, folder / f"{name}.key")
    urls = {name: one.http_url for name, one in sites.items()}
    (folder / "campus.toml").write_text(campus_toml(port, urls, timeout_ms))
    entry = entry_process(folder, port)
    with lifecycle_lock(folder):
        supervisor = Supervisor(folder)
        ours = supervisor.info(entry.name).get("pid") if supervisor.running else None
        check_free(PORT_KEY, port, [int(ours)] if ours else [])
        supervisor.apply([entry])
        supervisor.start(entry.name)
    try:
        wait_for(lambda: _reaches_all(port), UP_WITHIN_S, "the campus entry")
    except StackError as error:
        raise StackError(f"{error}; its last log lines:\n{supervisor.tail(entry.name)}") from None


def campus_toml(port: int, urls: Mapping[str, str], timeout_ms: int = SITE_TIMEOUT_MS) -> str:
    """campus.toml for sites of this machine, whose callers on this machine need no key."""
    lines = [
        "# Written by `make campus`. For a campus of your own copy it: docs/campus.md says what each key means.",
        "[entry]",
        f"port = {port}",
        'data_dir = "."',
        f"site_timeout_ms = {timeout_ms}",
        'trusted_nets = ["127.0.0.0/8", "::1/128"]',
    ]
    for name, url in urls.items():
        lines += ["", "[[sites]]", f'name = "{name}"', f'url = "{url}"', f'key_file = "{name}.key"']
    return "\n".join(lines) + "\n"


def entry_process(folder: Path, port: int) -> Process:
    """The entry as supervisord runs it."""
    flows = ROOT / "flows"
    sources = [path for path in (flows / "lib").rglob("*.js") if path.is_file()]
    return Process(
        name="campus",
        version="entry",
        command=(str(node_folder() / "node"), str(flows / "campus.js"), str(folder / "campus.toml")),
        directory=folder,
        environment={"NODE_COMPILE_CACHE": str(cache_dir() / "node-compile-cache")},
        healthy=partial(health.http, f"http://127.0.0.1:{port}/health"),
        configuration=digest([folder / "campus.toml", flows / "campus.js", flows / "package-lock.json", *sources,
                              *folder.glob("*.key")]),
    )  # fmt: skip


def key_command(user_dir: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """`make key` on another folder of keys."""
    command = [str(node_folder() / "node"), str(ROOT / "flows" / "bin" / "key.js"), *arguments]
    environment = {**os.environ, "SDA_USER_DIR": str(user_dir)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _key_at(settings: Settings, file: Path) -> None:
    """A key of the entry at a site, kept in `file`; an existing one is used on."""
    if file.exists():
        return
    user_dir = settings.data_dir / "node-red"
    key_command(user_dir, ["revoke", KEY_NAME])  # of a file that is gone
    made = key_command(user_dir, ["add", KEY_NAME, *(part for right in RIGHTS for part in ("--right", right))])
    if made.returncode:
        raise StackError(f"no key for the campus entry: {made.stderr.removeprefix('error: ').strip()}")
    fresh = file.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(made.stdout)
    fresh.replace(file)


def entry_port(environment: Mapping[str, str]) -> int:
    """The entry's port by CAMPUS_PORT; a StackError where that is no port."""
    text = environment.get(PORT_KEY) or str(FIRST_PORT)
    highest = 65_535 - 10 * len(SITES)
    if not (text.isascii() and text.isdecimal()) or not 1024 <= int(text) <= highest:
        raise StackError(f"{PORT_KEY}={text} is no port for the campus entry; give a number from 1024 to {highest}")
    return int(text)


def _reaches_all(port: int) -> bool:
    """Whether the entry runs and every site answers it."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=health.TIMEOUT_S) as answer:
            sites = json.load(answer)["sites"].values()
            return all(site["status"] != "away" for site in sites)
    except (URLError, OSError, ValueError, KeyError):
        return False
