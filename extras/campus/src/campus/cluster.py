"""The broker of a campus: NATS nodes with one account a site, callouts, and HAProxy before nodes and entry."""

import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from stack import ports
from stack.broker import admits
from stack.digest import digest
from stack.health import Health
from stack.install import print_line
from stack.lifecycle import lifecycle_lock, start
from stack.orphans import end_orphans
from stack.process import Process
from stack.processes import renewal
from stack.settings import Settings, reachable
from stack.supervisor import Supervisor, open_files
from stack.tool import run_tool

from . import haproxy, health
from .broker import CALLOUTS, MODULES, callout, nats_node
from .install import HERE, haproxy_program
from .topology import Cluster, Topology

PORT_KEY = "CAMPUS_PORT"


def cluster_up(
    folder: Path, topology: Topology, sites: Mapping[str, Settings], report: Callable[[str], None] = print_line
) -> None:
    """Start the broker and HAProxy, and restart what has changed. The accounts of the sites must be there.

    Args:
        folder: of all its files.
        topology: the campus.
        sites: settings of the sites of this machine, by name.
        report: gets a line of progress for each process.

    Raises:
        StackError: naming the problem and the remedy.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with lifecycle_lock(folder):
        supervisor = Supervisor(folder)
        _check_ports(folder, topology, supervisor)
        if topology.cluster:
            _provision(folder / "broker", topology.cluster, sites)
        _write_haproxy(folder, topology)
        wanted = processes_of(folder, topology, sites)
        supervisor.apply(wanted)
        first = len(topology.cluster.nodes) if topology.cluster else 0
        # The nodes first: HAProxy avoids a node for seconds when it does not listen yet.
        for together in (wanted[:first], wanted[first:]):
            for process in together:
                supervisor.start(process.name, wait=False)
            for process in together:
                start(process, supervisor, report)


def processes_of(folder: Path, topology: Topology, sites: Mapping[str, Settings]) -> list[Process]:
    """The processes of the cluster, in the order of their start."""
    cluster = topology.cluster
    if cluster is None:
        return [_haproxy(folder, topology)]
    data = folder / "broker"
    return [
        *(nats_node(data, node.name, node.name, node.nats_port) for node in cluster.nodes),
        _haproxy(folder, topology),
        *_callouts(data, cluster, sites),
        renewal(data, reachable(cluster.bind), cluster.mqtts_port),
    ]


def _callouts(data: Path, cluster: Cluster, sites: Mapping[str, Settings]) -> list[Process]:
    """One callout at each node. The node asks it first, and the others while it is away. A single node has two."""
    options = [part for name, one in sites.items() for part in ("--site", f"{name}={one.data_dir / 'broker'}")]
    options += ["--nodes", str(len(cluster.nodes)), "--queue-bytes", str(cluster.queue.size)]
    admission = functools.partial(_admits_all, sites)
    nodes = cluster.nodes if len(cluster.nodes) > 1 else cluster.nodes * len(CALLOUTS)
    return [
        callout(data, number, node.nats_port, cluster.mqtt_port, admission, *options)
        for number, node in enumerate(nodes, 1)
    ]


def _admits_all(sites: Mapping[str, Settings]) -> Health:
    """Whether every site's accounts are admitted."""
    for name, settings in sites.items():
        if not (answer := admits(settings)()).up:
            return Health(up=False, detail=f"site {name}: {answer.detail}")
    return Health(up=True)


def _haproxy(folder: Path, topology: Topology) -> Process:
    file = folder / "haproxy" / "haproxy.cfg"
    return Process(
        name="haproxy",
        version="apt",
        command=(haproxy_program(), "-db", "-f", str(file)),
        directory=file.parent,
        environment={},
        healthy=functools.partial(health.listens, "127.0.0.1", topology.port),
        configuration=digest([file]),
    )


def _provision(data: Path, cluster: Cluster, sites: Mapping[str, Settings]) -> None:
    """Keys, certificates and the nodes' configurations; a copy of the authority for each site's receivers."""
    command: list[object] = [sys.executable, HERE / "broker" / "cluster.py", "--data", data,
                             "--open-files", open_files(), *cluster.queue.options]  # fmt: skip
    for node in cluster.nodes:
        command += ["--node", f"{node.name}=127.0.0.1:{node.route_port},{node.mqtt_port},{node.nats_port}"]
    command += [part for name in sites for part in ("--site", name)]
    command += [part for name in cluster.names for part in ("--name", name)]
    run_tool("the cluster of the broker", command, MODULES)
    authority = (data / "tls" / "ca.crt").read_bytes()
    for settings in sites.values():
        copy = settings.data_dir / "broker" / "tls" / "ca.crt"
        copy.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy.write_bytes(authority)


def _write_haproxy(folder: Path, topology: Topology) -> None:
    text = haproxy.render(topology, folder / "broker" / "tls" / "ca.crt", open_files())
    file = folder / "haproxy" / "haproxy.cfg"
    file.parent.mkdir(exist_ok=True, mode=0o700)
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(text)
    fresh.replace(file)


def _check_ports(folder: Path, topology: Topology, supervisor: Supervisor) -> None:
    """Refuse a taken port before anything is started."""
    nodes = topology.cluster.nodes if topology.cluster else ()
    if supervisor.running:
        infos = [supervisor.info(name) for name in ("haproxy", *(node.name for node in nodes))]
    else:
        end_orphans(folder)
        infos = []
    ours = {int(info["pid"]) for info in infos if info.get("pid")}
    listening = [topology.port, *(port for one in nodes for port in (one.mqtt_port, one.nats_port, one.route_port))]
    if topology.cluster:
        listening += [topology.cluster.mqtt_port, topology.cluster.mqtts_port]
    for port in listening:
        ports.check_free(PORT_KEY, port, ours)
