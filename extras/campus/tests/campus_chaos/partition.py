"""Cuts a node of a campus' broker off from the network, for this process' life at most.

All nodes are on loopback. Packets are dropped by a table of nftables that belongs to the `nft` that made it: the kernel
removes it with that process, which ends with its standard input. So the cut ends with this process, even if that is
killed.
"""

import os
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import psutil
from campus.install import nft_program
from campus.topology import Node
from stack.wait import wait_for

WITHIN_S = 10


@contextmanager
def cut_off(node: Node, pid: int, others: Collection[Node], *, from_everybody: bool) -> Iterator[None]:
    """Drop what goes between a node and the other nodes during the block, in both directions.

    Args:
        node: that is cut off.
        pid: of its process.
        others: the other nodes. No nodes can open a new route meanwhile; those that the others have among them stay.
        from_everybody: drop also what goes between it and its clients, HAProxy and callouts.

    Raises:
        StackError: where this user may not do that.
    """
    table = f"sda-chaos-{os.getpid()}-{node.name}"
    with subprocess.Popen([nft_program(), "-i"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as nft:
        try:
            _run(nft, table, no_new_routes(table, [node, *others]))
            ports = [node.route_port, *opened_ports(pid, others)]
            _run(nft, table, drops(table, [*ports, node.mqtt_port, node.nats_port] if from_everybody else ports))
            yield
        finally:
            assert nft.stdin
            nft.stdin.close()
            nft.wait(WITHIN_S)


def no_new_routes(table: str, nodes: Collection[Node]) -> list[str]:
    """Commands for a table that ends with its `nft`, and in which no node can open a route. Pure."""
    routes = ", ".join(str(node.route_port) for node in nodes)
    return [
        f"add table inet {table} {{ flags owner; }}",
        f"add chain inet {table} received {{ type filter hook input priority 0; policy accept; }}",
        f"add rule inet {table} received tcp dport {{ {routes} }} tcp flags & (syn | ack) == syn drop",
    ]


def drops(table: str, ports: Collection[int]) -> list[str]:
    """Commands that drop what comes from these ports or goes to them. Pure."""
    listed = ", ".join(map(str, ports))
    return [f"add rule inet {table} received tcp {end} {{ {listed} }} drop" for end in ("dport", "sport")]


def opened_ports(pid: int, others: Collection[Node]) -> list[int]:
    """Local ports of the routes that a node has opened to the others."""
    routes = {node.route_port for node in others}
    connections = psutil.Process(pid).net_connections("tcp")
    return [one.laddr.port for one in connections if one.raddr and one.raddr.port in routes]


def _run(nft: "subprocess.Popen[str]", table: str, commands: list[str]) -> None:
    """Have `nft` run commands, and wait until the kernel has their rules."""
    wanted = _rules(table) + sum(" rule " in one for one in commands)
    assert nft.stdin
    nft.stdin.write("".join(f"{one}\n" for one in commands))
    nft.stdin.flush()
    wait_for(lambda: _rules(table) == wanted, WITHIN_S, "the rules of a partition; nft needs root")


def _rules(table: str) -> int:
    """Number of a table's rules, 0 where there is none."""
    command = [nft_program(), "list", "table", "inet", table]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.count(" drop\n")
