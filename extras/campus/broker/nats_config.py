"""The configuration of nats-server: one node, or one of a cluster. Pure.

What differs from its defaults, and why, stands in the comments that it renders.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

REPLICAS_OF_A_CLUSTER = 3
QUEUE_BYTES = 2 * 2**30
"""Bound of a site's message queue: half an hour at 2,500 messages/s of 450 bytes."""
STORE_PER_QUEUE = 2
"""Half of what a node may store is for the queues, so that sessions and retained messages have room when all queues are
full: at this limit nobody could connect, not even who empties them."""
FIGURES_USER = "broker-figures"
"""`broker-figures/SITE`: MQTT account under which the callout publishes the broker's figures on `$SYS/broker/…`."""


@dataclass(frozen=True, slots=True)
class Node:
    """A server of the cluster; `host` is what the others reach."""

    name: str
    host: str = "127.0.0.1"
    route_port: int = 6222


def parse_node(text: str) -> Node:
    """``NAME=HOST:PORT`` of a node, as the others reach its route."""
    name, _, address = text.partition("=")
    host, _, port = address.rpartition(":")
    return Node(name, host.strip("[]"), int(port))


@dataclass(frozen=True, slots=True)
class Listeners:
    """Where this node listens."""

    mqtt_host: str
    mqtt_port: int
    nats_port: int
    """For the callout on this machine only."""
    route_host: str = ""
    """Address of the routes' listener; empty: the node's host. Another one where that is not this system's own, as in a
    container."""


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """Public nkeys; the seeds are with the callout alone."""

    issuer: str
    callout: str
    system: str
    sites: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Storage:
    """What a node keeps on disk."""

    folder: str = "nats/store"
    queue_bytes: int = QUEUE_BYTES
    """Bound of each site's message queue; the callout sets it (callout/queue.py)."""
    replicas: int | None = None
    """Nodes that keep each message; None: 3 of a cluster."""
    sync_interval: str = "30s"
    """`always`: an acknowledged message is on disk. It costs two to three times the CPU."""


DEFAULT_STORAGE = Storage()


@dataclass(frozen=True, slots=True)
class Broker:
    """What all nodes have in common."""

    nodes: Sequence[Node]
    keys: PublicKeys
    route_password: str
    open_files: int


def render_cluster(broker: Broker, here: Mapping[str, Listeners], storage: Storage) -> dict[str, str]:
    """Configurations of the nodes of this machine, by name. They share a data folder; each has a store of its own.

    Args:
        broker: what all nodes have in common.
        here: where each node of this machine listens.
        storage: `folder` is that in which each node's store lies.

    Raises:
        ValueError: as `render`.
    """
    own = {node.name: node for node in broker.nodes if node.name in here}
    return {
        name: render(node, broker, here[name], replace(storage, folder=f"{storage.folder}/{name}"))
        for name, node in own.items()
    }


def render(this: Node, broker: Broker, listeners: Listeners, storage: Storage = DEFAULT_STORAGE) -> str:
    """nats.conf of `this` node. Every path in it is relative to the broker's data folder.

    Raises:
        ValueError: for a number of nodes or replicas that cannot agree, or a node that is not among them.
    """
    nodes = broker.nodes
    if this not in nodes or len({node.name for node in nodes}) != len(nodes):
        raise ValueError("each node needs a name of its own, and this one must be among them")
    if len(nodes) not in {1, 3, 5}:
        raise ValueError(f"{len(nodes)} nodes: take 1, 3 or 5, of which a majority is left when one fails")
    replicas = storage.replicas or min(len(nodes), REPLICAS_OF_A_CLUSTER)
    if replicas not in {1, 3, 5} or replicas > len(nodes):
        raise ValueError(f"{replicas} replicas on {len(nodes)} nodes: take 1, 3 or 5, and no more than there are nodes")
    parts = [_server(this, broker, listeners, replace(storage, replicas=replicas)), _accounts(broker.keys)]
    if len(nodes) > 1:
        parts.append(_cluster(this, nodes, broker.route_password, listeners.route_host))
    return "\n".join(parts)


def _server(this: Node, broker: Broker, listeners: Listeners, storage: Storage) -> str:
    return f"""\
# Written anew at each start; changes here are lost. Only what differs from nats-server's default, and why.
server_name: "{this.name}"
# NATS' own protocol is for the callout on this machine. There is no monitoring port: the callout asks the same figures
# as the system account.
listen: "127.0.0.1:{listeners.nats_port}"
# Below the limit of open files, so that a full listener refuses instead of failing.
max_connections: {broker.open_files // 2}
# The contract's largest payload, with the header under which it is stored; a client that sends more is cut off.
max_payload: 65600
# nats-server has one MQTT listener. Receivers use TLS there; what comes without TLS is admitted from this machine only.
allow_non_tls: true

mqtt {{
  listen: "{_bracketed(listeners.mqtt_host)}:{listeners.mqtt_port}"
  tls {{
    cert_file: "tls/server.crt"
    key_file: "tls/server.key"
    # Thousands of handshakes at once, after a restart, take longer than the default of 2 s.
    timeout: 20
  }}
  stream_replicas: {storage.replicas}
  # In flight to one subscription; those of a session may be 65,535 together, and the flows have ten.
  max_ack_pending: 4000
  # What was in flight to a subscriber when the server was killed comes again after this time; the spool and Telegraf
  # acknowledge within a second.
  ack_wait: "10s"
  # After a week an abandoned session has only readings past their retention; until then it holds messages back.
  consumer_inactive_threshold: "168h"
}}

jetstream {{
  store_dir: "{storage.folder}"
  # Twice the queues of all sites (callout/queue.py), so that sessions and retained messages have room when they are
  # full: at this limit nobody could connect, not even who empties them.
  max_file_store: {STORE_PER_QUEUE * storage.queue_bytes * max(1, len(broker.keys.sites))}
  max_memory_store: 64MB
  # A kill loses nothing that was acknowledged. A power cut loses at most this, which receivers send again: they repeat
  # what was acknowledged in the ten minutes before a start of the broker.
  sync_interval: "{storage.sync_interval}"
}}
"""


def _accounts(keys: PublicKeys) -> str:
    sites = "\n".join(
        f"""\
  "{site}": {{
    jetstream: enabled
    # Sets the bounds of the message queue, nothing else.
    users: [{{ nkey: {key}, permissions: {{
      publish: ["$JS.API.STREAM.INFO.$MQTT_msgs", "$JS.API.STREAM.UPDATE.$MQTT_msgs"]
      subscribe: "_INBOX.>"
    }} }}]
  }}"""
        for site, key in sorted(keys.sites.items())
    )
    own = ", ".join([keys.callout, keys.system, *(key for _, key in sorted(keys.sites.items()))])
    return f"""\
authorization {{
  # How long a client waits for the callout: a storm of reconnects queues there. Who connects while there is no callout
  # waits in vain, so not longer.
  timeout: 5
  auth_callout {{
    issuer: {keys.issuer}
    account: "callout"
    # All others are admitted by the callout.
    auth_users: [{own}]
  }}
}}

system_account: "system"
accounts {{
  # Answers who may connect. It can neither publish elsewhere nor read a message of a site.
  "callout": {{
    users: [{{ nkey: {keys.callout}, permissions: {{
      publish: {{ deny: ">" }}
      subscribe: "$SYS.REQ.USER.AUTH"
      allow_responses: true
    }} }}]
  }}
  # Reads figures and connections, ends a removed account's connections, has a renewed certificate read.
  "system": {{
    users: [{{ nkey: {keys.system}, permissions: {{
      publish: ["$SYS.REQ.SERVER.PING.VARZ", "$SYS.REQ.SERVER.PING.JSZ", "$SYS.REQ.SERVER.PING.CONNZ",
        "$SYS.REQ.SERVER.*.KICK", "$SYS.REQ.SERVER.*.RELOAD"]
      subscribe: ["_INBOX.>", "$SYS.ACCOUNT.*.CONNECT", "$SYS.ACCOUNT.*.DISCONNECT"]
    }} }}]
  }}
  # One account a site: the same topics and client ids, isolated, with streams of their own.
{sites}
}}
"""


def _cluster(this: Node, nodes: Sequence[Node], password: str, route_host: str) -> str:
    routes = ", ".join(f'"nats-route://node:{password}@{_bracketed(node.host)}:{node.route_port}"' for node in nodes)
    own = f"{_bracketed(this.host)}:{this.route_port}"
    # The others are told where to reach this node, since they cannot reach the address that it sees.
    listen = f'listen: "{own}"'
    if route_host:
        listen = f'listen: "{_bracketed(route_host)}:{this.route_port}"\n  advertise: "{own}"'
    return f"""\
cluster {{
  name: "sda"
  {listen}
  routes: [{routes}]
  authorization {{ user: "node", password: "{password}" }}
  # A node that is cut off is noticed within 15 s, and connects anew when it is back. By default it takes 90 s; then
  # only TCP's next retransmission brings it back, about as long after the cut as that lasted.
  ping_interval: "5s"
  ping_max: 2
  # A node trusts certificates of the installation's authority only; they name its host.
  tls {{
    cert_file: "tls/server.crt"
    key_file: "tls/server.key"
    ca_file: "tls/ca.crt"
    timeout: 10
  }}
}}
"""


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
