"""`make campus-files`: a folder for each host of a campus in containers, with all that its role needs and nothing else.

Secrets are made once, in the folder `operator`, which stays where it was made. A further run brings the folders up to
date.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from stack.install import flows_parts, install
from stack.layout import ROOT
from stack.lifecycle import check_building
from stack.settings import Settings, load, write_env
from stack.supervisor import MAX_OPEN_FILES
from stack.tool import run_tool

from . import haproxy, hosts
from .broker import MODULES
from .haproxy import Server
from .hosts import Hosts, SiteHost
from .install import ENTRY, HERE
from .run import FILE_KEY, keep_out_of_git, make_key

FOLDER = ROOT / ".campus-files"
OPERATOR = "operator"
NOT_COPIED = {"node_modules", "__pycache__", "test", "dist", ".pytest_cache", ".mypy_cache", ".ruff_cache", "README.md"}
ENTRIES = ("entry-1", "entry-2")
ENTRY_PORT = 1890
SITE_KEYS = (
    "SDA_API_KEY", "SDA_ADMIN_USER", "SDA_ADMIN_PASSWORD", "SDA_VIEWER_USER", "SDA_VIEWER_PASSWORD",
    "SDA_TRUSTED_PROXIES", "SDA_RATE_PER_S", "SDA_RATE_TRUSTED_PER_S", "SDA_EDITOR", "SDA_CORS_ORIGINS",
    "MQTT_TELEGRAF_PASSWORD", "MQTT_NODERED_PASSWORD", "INFLUX_ADMIN_TOKEN",
)  # fmt: skip
"""The settings of a site that its containers need."""
Files = dict[str, bytes]
"""Path below a host's folder -> content."""
PLACE: Files = {"place.sh": (HERE / "broker" / "place.sh").read_bytes()}


def chosen(environment: Mapping[str, str] = os.environ) -> Hosts:
    """The campus that CAMPUS names, else the shipped one. Raises StackError naming every fault of the file."""
    return hosts.read(Path(environment.get(FILE_KEY) or hosts.SHIPPED).absolute())


def campus_files(campus: Hosts, folder: Path = FOLDER) -> list[str]:
    """Bring the folders of all hosts up to date; returns their names, in the order of their first start.

    Raises:
        StackError: naming the problem and the remedy.
    """
    install(flows_parts())
    keep_out_of_git(folder)
    operator = folder / OPERATOR
    sites = {site.name: _settings(operator, site) for site in campus.sites}
    for settings in sites.values():
        check_building(settings)
        settings.broker.render(settings)
    _provision(campus, folder, sites)
    keys = {name: _key(operator, name, settings) for name, settings in sites.items()}
    for node in campus.nodes:
        _write(folder / node.name, _node(campus, node.name, folder / node.name / "files"))
    for site in campus.sites:
        _write(folder / site.name, _site(campus, operator, site, sites[site.name]))
    _write(folder / "entry", _entry(campus, operator, keys))
    names = [*(node.name for node in campus.nodes), *sites, "entry"]
    for other in folder.iterdir():
        if other.is_dir() and other.name not in {OPERATOR, *names}:
            shutil.rmtree(other)
    return names


def _settings(operator: Path, site: SiteHost) -> Settings:
    env_file = operator / site.name / ".env"
    env_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = {"DATA_DIR": str(env_file.parent), "SDA_BUILDING": str(site.building), "BROKER": "cluster", "SIM": "0",
           "MQTT_SERVICES_OUTSIDE": "yes"}  # fmt: skip
    settings = load(env_file, own)
    write_env(env_file, own)
    return settings


def _provision(campus: Hosts, folder: Path, sites: Mapping[str, Settings]) -> None:
    """Keys, certificates, the nodes' configurations and accounts."""
    operator, entry = folder / OPERATOR, campus.entry
    command: list[object] = [sys.executable, HERE / "broker" / "hosts.py", "--data", operator / "broker",
                             "--folder", folder, "--open-files", MAX_OPEN_FILES, *campus.queue.options]  # fmt: skip
    for node in campus.nodes:
        command += ["--node", f"{node.name}={node.host}:{node.route_port}"]
    for name in _unique(entry.host, *entry.names):
        command += ["--name", name]
    for name, settings in sites.items():
        command += ["--site", f"{name}={settings.data_dir / 'broker'}"]
    for name, names in {site.name: (site.host, *site.names) for site in campus.sites}.items():
        command += ["--https", f"{name}={','.join(_unique(*names))}"]
    command += ["--https", f"entry={','.join(_unique(entry.host, *entry.names))}"]
    run_tool("the cluster of the broker", command, MODULES)


def _key(operator: Path, name: str, settings: Settings) -> bytes:
    """The entry's key at a site, made once."""
    file = operator / "entry" / f"{name}.key"
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_key(settings, file)
    return file.read_bytes()


def _node(campus: Hosts, name: str, written: Path) -> Files:
    node = next(one for one in campus.nodes if one.name == name)
    # One folder, from which the image is built.
    files = (
        _copies(ROOT, "broker") | _copies(HERE, "broker") | {"compose.yaml": (HERE / "compose.node.yaml").read_bytes()}
    )
    options = [part for site in campus.sites for part in ("--site", f"{site.name}=sites/{site.name}")]
    options += ["--nodes", str(len(campus.nodes)), "--queue-bytes", str(campus.queue.size)]
    own = {
        path.relative_to(written.parent).as_posix(): path.read_bytes() for path in written.rglob("*") if path.is_file()
    }
    configuration = _digest(own["files/nats/nats.conf"], own["files/nats/keys.json"])
    return files | own | _env(
        name,
        MQTTS_PORT=node.mqtts_port,
        ROUTE_PORT=node.route_port,
        NODE_MIB=campus.node_mib,
        NODE_HEAP_MIB=campus.node_mib * 65 // 100,  # the rest is the callout's
        CALLOUT_OPTIONS=" ".join(options),
        NODE_CONFIGURATION=configuration,
    )  # fmt: skip


def _site(campus: Hosts, operator: Path, site: SiteHost, settings: Settings) -> Files:
    composed = ("compose.yaml", "compose.https.yaml", "compose.site.yaml")
    files = _copies(ROOT, "flows", "ingest", "influx", *composed[:-1]) | _copies(HERE, composed[-1])
    https = operator / "broker" / "https" / site.name
    nodes = [Server(node.name, node.host, node.mqtts_port) for node in campus.nodes]
    broker = {
        "files/broker/haproxy.cfg": haproxy.render_site_host(nodes, MAX_OPEN_FILES).encode(),
        "files/broker/ca.crt": (operator / "broker" / "tls" / "ca.crt").read_bytes(),
    }
    files |= {
        **PLACE,
        "files/https/server.crt": (https / "server.crt").read_bytes(),
        "files/https/server.key": (https / "server.key").read_bytes(),
        "files/building/building.json": site.building.read_bytes(),
        "files/node-red/keys.json": (settings.data_dir / "node-red" / "keys.json").read_bytes(),
        **broker,
    }
    ingest = _digest(*(files[name] for name in sorted(files) if name.startswith(("ingest/", "influx/"))))
    return files | _env(
        site.name,
        COMPOSE_FILE=":".join(composed),
        HTTPS_PORT=site.https_port,
        HTTP_NAMES=",".join(_unique(site.host, *site.names)),
        SDA_BUILDING_NAME="building.json",
        BROKER_CONFIGURATION=_digest(*broker.values()),
        INFLUXDB_CONFIGURATION=_digest(files["influx/influxd.toml"]),
        TELEGRAF_CONFIGURATION=ingest,
        SPOOL_CONFIGURATION=ingest,
        **{key: settings[key] for key in SITE_KEYS},
    )


def _entry(campus: Hosts, operator: Path, keys: Mapping[str, bytes]) -> Files:
    broker = operator / "broker"
    nodes = [Server(node.name, node.host, node.mqtts_port) for node in campus.nodes]
    entries = [Server(name, name, ENTRY_PORT) for name in ENTRIES]
    pair = [(broker / "https" / "entry" / name).read_bytes() for name in ("server.crt", "server.key")]
    before = {
        "files/haproxy/haproxy.cfg": haproxy.render_entry_host(nodes, entries, MAX_OPEN_FILES).encode(),
        "files/haproxy/ca.crt": (broker / "tls" / "ca.crt").read_bytes(),
        "files/haproxy/entry.pem": b"".join(pair),
    }
    own = {f"files/entry/{name}.key": key for name, key in keys.items()}
    own |= {"files/entry/campus.toml": campus_toml(campus).encode(),
            "files/entry/https-ca.crt": (broker / "https" / "ca.crt").read_bytes()}  # fmt: skip
    composed = {"compose.yaml": (HERE / "compose.entry.yaml").read_bytes()}
    parts = _copies(ROOT, "flows") | _copies(ROOT, ENTRY.relative_to(ROOT).as_posix())
    image = {f"image/{name}": content for name, content in parts.items()}
    image["image/Dockerfile"] = (ENTRY / "Dockerfile").read_bytes()
    return image | composed | PLACE | before | own | _env(
        "entry",
        HTTPS_PORT=campus.entry.https_port,
        MQTTS_PORT=campus.entry.mqtts_port,
        ENTRY_NET=campus.entry.network,
        HAPROXY_CONFIGURATION=_digest(*before.values()),
        ENTRY_CONFIGURATION=_digest(*own.values()),
    )  # fmt: skip


def campus_toml(campus: Hosts) -> str:
    """campus.toml of the entry's processes in containers: everybody needs a key. HAProxy says who it is."""
    entry = campus.entry
    lines = [
        "# Written anew by `make campus-files`; changes here are lost.",
        "[entry]",
        'bind = "0.0.0.0"',
        f"port = {ENTRY_PORT}",
        'data_dir = "keys"',
        f"host_names = {json.dumps(_unique(entry.host, *entry.names))}",
        "trusted_nets = []",
        f"trusted_proxies = {json.dumps([f'{entry.network}.250'])}",
    ]
    for site in campus.sites:
        host = f"[{site.host}]" if ":" in site.host else site.host
        values = {"name": site.name, "url": f"https://{host}:{site.https_port}", "key_file": f"{site.name}.key"}
        values["ca_file"] = "https-ca.crt"
        lines += ["", "[[sites]]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _env(name: str, **values: object) -> Files:
    head = "# Written anew by `make campus-files`; changes here are lost. It has secrets."
    whole = {"COMPOSE_PROJECT_NAME": f"sda-campus-{name}", **values}
    return {".env": "\n".join([head, *(f"{key}={value}" for key, value in whole.items())]).encode() + b"\n"}


def _copies(base: Path, *parts: str) -> Files:
    """The files of these folders, as far as an image or a container needs them, by their path below `base`."""
    found = (path for part in parts for path in _files_of(base / part))
    return {path.relative_to(base).as_posix(): path.read_bytes() for path in found}


def _files_of(path: Path) -> Iterator[Path]:
    if path.name in NOT_COPIED:
        return
    if path.is_dir():
        for one in sorted(path.iterdir()):
            yield from _files_of(one)
    else:
        yield path


def _write(folder: Path, files: Files) -> None:
    """Bring a host's folder to exactly these files. Folders stay the same: containers may have them mounted."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        secret = name == ".env" or name.startswith("files/")
        mode = 0o600 if secret else 0o755 if content.startswith(b"#!") else 0o644
        if not path.exists() or path.read_bytes() != content:
            fresh = path.with_name(f"{path.name}.new")
            fresh.touch(mode=0o600)
            fresh.write_bytes(content)
            fresh.replace(path)
        path.chmod(mode)
    for path in list(folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)  # the services' users read what is mounted from there
        elif path.relative_to(folder).as_posix() not in files:
            path.unlink()
    for private in (folder, folder / "files"):
        private.chmod(0o700)


def _digest(*contents: bytes) -> str:
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:16]


def _unique(*names: str) -> list[str]:
    return list(dict.fromkeys(names))
