"""`make campus`: sites, their broker and the campus entry on one machine, as campus.toml says.

Each site is from the process list of `make up`; the broker is a cluster for all of them, or a Mosquitto each.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from stack import health
from stack.broker import Mosquitto
from stack.digest import digest
from stack.errors import StackError
from stack.install import Part, install, print_line, wanted_parts
from stack.layout import ROOT, cache_dir, node_folder
from stack.lifecycle import lifecycle_lock, process_lines, status, up
from stack.pipeline import wait_until_healthy
from stack.ports import check_free
from stack.process import Process
from stack.settings import PORT_KEYS, Settings, load, write_env
from stack.supervisor import Supervisor
from stack.wait import wait_for

from . import topology
from .cluster import PORT_KEY, cluster_up, processes_of
from .install import ENTRY, entry_part, haproxy_part, nats_part
from .stores import SECOND_PORT_KEYS
from .topology import Cluster, Site, Topology

FOLDER = ROOT / ".campus"
FILE_KEY = "CAMPUS"
"""Names another campus.toml than the shipped one."""
UP_WITHIN_S = 60.0
SITE_TIMEOUT_MS = 3000
KEY_NAME = "campus"
"""Name of the entry's key at each site."""
RIGHTS = ("history", "presence", "forward")
NODE_SEMI_SPACE_OPTION = "--max-semi-space-size=16"
"""Bounds the room that Node.js gives to short-lived objects, as the service in extras/campus/docs/campus.md does."""


@dataclass(frozen=True, slots=True)
class SiteEndpoint:
    """Where the entry reaches a site, and with which key."""

    name: str
    url: str
    key_file: Path
    ca_file: Path | None = None


def chosen(environment: Mapping[str, str] = os.environ) -> Topology:
    """The campus that the environment asks for: CAMPUS is its file, CAMPUS_PORT its first port.

    Raises:
        StackError: naming every fault of the file.
    """
    file = Path(environment.get(FILE_KEY) or topology.SHIPPED)
    return topology.read(file.absolute(), environment.get(PORT_KEY, ""))


def campus_parts(on_cluster: bool) -> list[Part]:
    """What is to be installed for sites that share a cluster of NATS or have a Mosquitto each."""
    broker = [nats_part()] if on_cluster else Mosquitto().parts()
    return [*broker, *wanted_parts(), entry_part(), haproxy_part()]


def campus_up(campus: Topology, folder: Path = FOLDER, leave_out: Collection[str] = ()) -> dict[str, Settings]:
    """Start the broker, the sites and the entry, and wait until every site answers the entry.

    Args:
        campus: what to start.
        folder: of all its files.
        leave_out: names of a site's processes not to run.

    Returns:
        Settings of the sites of this machine, by name.

    Raises:
        StackError: naming the problem and the remedy.
    """
    install(campus_parts(campus.cluster is not None))
    keep_out_of_git(folder)
    _stop_others(folder, {site.name for site in campus.sites})
    sites = {site.name: site_settings(folder, site, campus.cluster) for site in campus.sites}
    print_line("broker and HAProxy" if campus.cluster else "HAProxy")
    if campus.cluster:
        for settings in sites.values():
            settings.broker.render(settings)  # the callouts read these accounts
    cluster_up(folder / "cluster", campus, sites)
    for name, settings in sites.items():
        print_line(f"site {name}")
        sites[name] = up(settings, leave_out=leave_out)
        wait_until_healthy(sites[name])
        sites[name].broker.save(sites[name])
    endpoints = [_site_endpoint(folder / "entry", name, settings) for name, settings in sites.items()]
    endpoints += [SiteEndpoint(one.name, one.url, one.key_file, one.ca_file) for one in campus.elsewhere]
    start_entries(folder / "entry", campus.entry_ports, endpoints)
    wait_for(lambda: health.http(f"http://127.0.0.1:{campus.port}/health").up, UP_WITHIN_S, "HAProxy to find the entry")
    return sites


def keep_out_of_git(folder: Path) -> None:
    """Its files are no part of the repository."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / ".gitignore").write_text("*\n")


def campus_down(folder: Path = FOLDER) -> None:
    """Stop the entry, all sites and the broker; the data stay."""
    for data in (folder / "entry", *_site_folders(folder), folder / "cluster"):
        if data.exists():
            _stop(data)


def campus_status(campus: Topology, folder: Path = FOLDER) -> tuple[list[str], bool]:
    """One line for each process of the broker, the sites and the entry, and whether all of them are up."""
    if missing := [site.name for site in campus.sites if not (folder / site.name / ".env").exists()]:
        raise StackError(f"{', '.join(missing)}: never started; make campus starts the whole campus")
    sites = {site.name: site_settings(folder, site, campus.cluster) for site in campus.sites}
    files = [folder / "entry" / _entry_file(number) for number in range(1, 1 + len(campus.entry_ports))]
    entries = [entry_process(number, file, port)
               for number, (file, port) in enumerate(zip(files, campus.entry_ports, strict=True), 1)]  # fmt: skip
    lines, all_up = process_lines(Supervisor(folder / "cluster"), processes_of(folder / "cluster", campus, sites))
    for name, settings in sites.items():
        more, up_here = status(settings)
        lines += [f"site {name}", *(f"  {line}" for line in more)]
        all_up &= up_here
    more, up_here = process_lines(Supervisor(folder / "entry"), entries)
    return [*lines, "entry", *(f"  {line}" for line in more)], all_up and up_here


def _stop_others(folder: Path, names: Collection[str]) -> None:
    """Stop sites that are no longer in campus.toml."""
    for data in _site_folders(folder):
        if data.parent.name not in names:
            _stop(data)


def _site_folders(folder: Path) -> Iterator[Path]:
    return (run.parent for run in folder.glob("*/data/run"))


def _stop(data_dir: Path) -> None:
    with lifecycle_lock(data_dir):
        Supervisor(data_dir).shut_down()


def site_settings(folder: Path, site: Site, cluster: Cluster | None) -> Settings:
    """Settings of one site, with everything on loopback. They are written to its `.env` too, so that
    `STACK_ENV_FILE=.campus/north/.env make status` finds them."""
    building = folder / site.name / "building" / "building.json"
    if not building.exists():
        building.parent.mkdir(parents=True)
        shutil.copy(site.building, building)
    keys = (*PORT_KEYS, *(SECOND_PORT_KEYS if site.stores > 1 else ()))
    own = {key: str(site.first_port + number) for number, key in enumerate(keys)}
    own |= {"DATA_DIR": str(folder / site.name / "data"), "SDA_BUILDING": str(building), "MQTTS_BIND": "127.0.0.1"}
    own |= {"SIM": site.demo, "STORES": str(site.stores), "BROKER": "cluster" if cluster else "mosquitto"}
    if cluster:
        own |= {"MQTT_PORT": str(cluster.mqtt_port), "MQTTS_PORT": str(cluster.mqtts_port), "MQTTS_BIND": cluster.bind}
    env_file = folder / site.name / ".env"
    settings = load(env_file, own)
    write_env(env_file, own)
    return settings


def start_entry(folder: Path, port: int, sites: Mapping[str, Settings], timeout_ms: int = SITE_TIMEOUT_MS) -> None:
    """Start one process of the campus entry for running sites, with a key of its own at each of them.

    Args:
        folder: of campus.toml, keys and logs.
        port: the loopback port on which it listens.
        sites: settings of each site by name.
        timeout_ms: so long a site may take until its answer begins.
    """
    endpoints = [_site_endpoint(folder, name, settings) for name, settings in sites.items()]
    start_entries(folder, (port,), endpoints, timeout_ms)


def start_entries(
    folder: Path, ports: Sequence[int], sites: Sequence[SiteEndpoint], timeout_ms: int = SITE_TIMEOUT_MS
) -> None:
    """Start the entry's processes, side by side with the same keys, and wait until they reach every site.

    Args:
        folder: of their files.
        ports: of the processes, on loopback.
        sites: their order decides between two records of the same second.
        timeout_ms: so long a site may take until its answer begins.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    wanted = []
    for number, port in enumerate(ports, 1):
        file = folder / _entry_file(number)
        file.write_text(campus_toml(port, sites, timeout_ms))
        wanted.append(entry_process(number, file, port))
    with lifecycle_lock(folder):
        supervisor = Supervisor(folder)
        running = supervisor.running
        pids = [supervisor.info(process.name).get("pid") for process in wanted] if running else []
        for port in ports:
            check_free(PORT_KEY, port, [int(pid) for pid in pids if pid])
        supervisor.apply(wanted)
        for process in wanted:
            supervisor.start(process.name)
    for process, port in zip(wanted, ports, strict=True):
        try:
            wait_for(partial(_reaches_all, port), UP_WITHIN_S, "the campus entry")
        except StackError as error:
            raise StackError(f"{error}; its last log lines:\n{supervisor.tail(process.name)}") from None


def campus_toml(port: int, sites: Sequence[SiteEndpoint], timeout_ms: int) -> str:
    """campus.toml of a process of the entry, whose callers on this machine need no key."""
    lines = [
        "# Written by `make campus`. For an entry of your own copy it; extras/campus/docs/campus.md explains each key.",
        "[entry]",
        f"port = {port}",
        'data_dir = "."',
        f"site_timeout_ms = {timeout_ms}",
        'trusted_nets = ["127.0.0.0/8", "::1/128"]',
    ]
    for site in sites:
        lines += ["", "[[sites]]", f"name = {json.dumps(site.name)}", f"url = {json.dumps(site.url)}"]
        lines += [f"key_file = {json.dumps(str(site.key_file))}"]
        lines += [f"ca_file = {json.dumps(str(site.ca_file))}"] if site.ca_file else []
    return "\n".join(lines) + "\n"


def _entry_file(number: int) -> str:
    return "campus.toml" if number == 1 else f"campus-{number}.toml"


def entry_process(number: int, file: Path, port: int) -> Process:
    """A process of the entry as supervisord runs it."""
    folders = (ROOT / "flows" / "lib", ENTRY / "lib")
    sources = [path for folder in folders for path in folder.rglob("*.js") if path.is_file()]
    locks = (ROOT / "flows" / "package-lock.json", ENTRY / "package-lock.json")
    return Process(
        name=f"entry-{number}",
        version="entry",
        command=(str(node_folder() / "node"), NODE_SEMI_SPACE_OPTION, str(ENTRY / "campus.js"), str(file)),
        directory=file.parent,
        environment={"NODE_COMPILE_CACHE": str(cache_dir() / "node-compile-cache")},
        healthy=partial(health.http, f"http://127.0.0.1:{port}/health"),
        configuration=digest([file, ENTRY / "campus.js", *locks, *sources,
                              *file.parent.glob("*.key")]),
    )  # fmt: skip


def key_command(user_dir: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """`make key` on another folder of keys."""
    command = [str(node_folder() / "node"), str(ROOT / "flows" / "bin" / "key.js"), *arguments]
    environment = {**os.environ, "SDA_USER_DIR": str(user_dir)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _site_endpoint(folder: Path, name: str, settings: Settings) -> SiteEndpoint:
    """A site of this machine, with the entry's key there. The entry's folder keeps the key; an existing one is used."""
    file = folder / f"{name}.key"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_key(settings, file)
    return SiteEndpoint(name, settings.http_url, Path(file.name))


def make_key(settings: Settings, file: Path) -> None:
    """Make the entry's key at a site, and write it to a file."""
    user_dir = settings.data_dir / "node-red"
    key_command(user_dir, ["revoke", KEY_NAME])  # a key whose file is gone
    made = key_command(user_dir, ["add", KEY_NAME, *(part for right in RIGHTS for part in ("--right", right))])
    if made.returncode:
        raise StackError(f"no key for the campus entry: {made.stderr.removeprefix('error: ').strip()}")
    fresh = file.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(made.stdout)
    fresh.replace(file)


def _reaches_all(port: int) -> bool:
    """Whether the entry runs and every site answers it."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=health.TIMEOUT_S) as answer:
            sites = json.load(answer)["sites"].values()
            return all(site["status"] != "away" for site in sites)
    except (URLError, OSError, ValueError, KeyError):
        return False
