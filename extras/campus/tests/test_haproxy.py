"""The configurations that are rendered for HAProxy: of one machine, of the entry's host, of a site's host."""

from pathlib import Path

import pytest
from campus.haproxy import Server, render, render_entry_host, render_site_host
from campus.tables import Queue
from campus.topology import Cluster, Node, Topology

NODES = [Node(f"nats-{number}", 1880 + number, 4220 + number, 6220 + number) for number in (1, 2, 3)]
CLUSTER = Cluster(tuple(NODES), Queue(3, 2048, "30s"), 18_801, 18_802, "127.0.0.1", ())
SERVERS = [Server(node.name, f"192.0.2.{number}", 8883) for number, node in enumerate(NODES, 1)]
ENTRIES = [Server("entry-1", "entry-1", 1890), Server("entry-2", "entry-2", 1890)]
RENDERED = {
    "one machine": render(Topology(18_800, (18_803, 18_804), CLUSTER, (), ()), Path("/ca.crt"), 20_000),
    "entry": render_entry_host(SERVERS, ENTRIES, 20_000),
    "site": render_site_host(SERVERS, 20_000),
}


def backend(text: str, name: str) -> list[str]:
    """Its lines, without comments."""
    section = text.split(f"backend {name}\n")[-1].split("\n\n")[0]
    return [line.strip() for line in section.splitlines() if not line.strip().startswith("#")]


@pytest.mark.parametrize("where", RENDERED)
def test_clients_are_sent_to_the_nodes_in_turns(where: str) -> None:
    """By the fewest connections all would go to a node that is cut off, since that one ends its connections."""
    lines = backend(RENDERED[where], "nodes")
    assert "balance roundrobin" in lines
    assert "leastconn" not in RENDERED[where]
    assert [line.split()[1] for line in lines if line.startswith("server ")] == [node.name for node in NODES]


@pytest.mark.parametrize("where", RENDERED)
def test_a_node_that_refuses_or_hangs_is_left_and_its_clients_are_sent_on(where: str) -> None:
    (default,) = [line for line in backend(RENDERED[where], "nodes") if line.startswith("default-server ")]
    assert "verify required" in default, "only a node of the installation counts"
    assert "on-error mark-down on-marked-down shutdown-sessions" in default
    assert "inter 2s fall 2 rise 2" in default


def test_only_tls_reaches_the_nodes_from_receivers() -> None:
    for where in ("one machine", "entry"):
        lines = RENDERED[where].split("frontend mqtts\n")[1].split("\n\n")[0]
        assert "accept if { req.ssl_hello_type 1 }" in lines
        assert "tcp-request content reject" in lines


@pytest.mark.parametrize("where", ["one machine", "entry"])
def test_the_entrys_processes_are_asked_in_turns(where: str) -> None:
    lines = backend(RENDERED[where], "entries")
    assert "balance roundrobin" in lines
    assert [line.split()[1] for line in lines if line.startswith("server ")] == ["entry-1", "entry-2"]
