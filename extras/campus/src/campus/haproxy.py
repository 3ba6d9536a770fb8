"""HAProxy's configuration for a campus. Pure.

On one machine the broker's nodes are behind two ports, and the entry's processes behind one. In containers on several
hosts the entry and each site have a configuration of their own. TLS of receivers ends at the broker, not here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stack.errors import StackError

from .topology import Cluster, Topology

CHECK = "inter 2s fall 2 rise 2"
LEFT_AT_ONCE = "observe layer4 error-limit 1 on-error mark-down on-marked-down shutdown-sessions"
"""A node that refuses a connection is left at once. It is taken again when it has answered for some seconds: by then it
is part of the cluster again, and has a callout."""

_ENTRIES = """backend entries
  mode http
  balance roundrobin
  option httpchk
  http-check send meth GET uri /health ver HTTP/1.1 hdr Host localhost
  http-check expect status 200
"""
"""The backend of the entry's processes, without its servers."""

_NODES = """backend nodes
  mode tcp
  # In turns: a node that is cut off from the others ends its connections and so has the fewest. By these all clients
  # would come back to it.
  balance roundrobin
"""
"""The backend of the broker's nodes, without its servers and how they are checked."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server to which HAProxy passes connections."""

    name: str
    address: str
    port: int


def render(topology: Topology, authority: Path, open_files: int) -> str:
    """haproxy.cfg.

    Args:
        topology: the campus.
        authority: certificate of the broker's authority, by which the nodes are checked.
        open_files: limit of open files; a connection takes two.

    Raises:
        StackError: for a path that cannot be written there.
    """
    broker = _broker(topology.cluster, authority) if topology.cluster else ""
    return _head("make campus", open_files) + broker + _entry(topology)


def render_entry_host(nodes: Sequence[Server], entries: Sequence[Server], open_files: int) -> str:
    """haproxy.cfg of the entry in containers: callers by HTTPS, receivers by TLS. Paths as in compose.entry.yaml."""
    return f"""{_head("make campus-files", open_files)}{_RESOLVERS}
{_receivers()}
{_NODES}  default-server check check-ssl verify required ca-file /haproxy/ca.crt {CHECK} {LEFT_AT_ONCE} {_LATE_NAMES}
{_listed(nodes)}

# X-Forwarded-For is what this one has seen, whatever a caller has sent.
frontend entry
  mode http
  bind :8443 ssl crt /haproxy/entry.pem alpn http/1.1
  timeout http-request 10s
  http-request del-header X-Forwarded-For
  http-request set-header X-Forwarded-Proto https
  option forwardfor
  default_backend entries

{_ENTRIES}  default-server check {CHECK} {_LATE_NAMES}
{_listed(entries)}
{_alive("entries")}"""


def render_site_host(nodes: Sequence[Server], open_files: int) -> str:
    """haproxy.cfg of a site in containers: services reach the broker without TLS, HAProxy reaches the nodes with TLS.
    Paths as in compose.site.yaml."""
    return f"""{_head("make campus-files", open_files)}{_RESOLVERS}
# For the services of this site, inside its network. TLS begins here.
frontend mqtt
  mode tcp
  bind :1883
  default_backend nodes

{_NODES}  default-server check ssl verify required ca-file /broker/ca.crt {CHECK} {LEFT_AT_ONCE} {_LATE_NAMES}
{_listed(nodes)}

# For the flows, which watch the end of the nodes' certificate.
frontend mqtts
  mode tcp
  bind :8883
  default_backend certificates

backend certificates
  mode tcp
  default-server check check-ssl verify required ca-file /broker/ca.crt {CHECK} {_LATE_NAMES}
{_listed(nodes)}
{_alive("nodes")}"""


_LATE_NAMES = "resolvers docker init-addr libc,none"
_RESOLVERS = """
# Names are looked up again: a container that is made anew has another address.
resolvers docker
  nameserver docker 127.0.0.11:53
  hold valid 5s
"""


def _listed(servers: Sequence[Server]) -> str:
    return "\n".join(f"  server {one.name} {_bracketed(one.address)}:{one.port}" for one in servers)


def _alive(backend: str) -> str:
    return f"""
# For the health check of this container.
frontend alive
  mode http
  bind 127.0.0.1:8404
  monitor-uri /alive
  monitor fail if {{ nbsrv({backend}) lt 1 }}
"""


def _receivers() -> str:
    return """
# For receivers; TLS ends at the node. What does not begin with TLS is refused here.
frontend mqtts
  mode tcp
  bind :8883
  tcp-request inspect-delay 10s
  tcp-request content accept if { req.ssl_hello_type 1 }
  tcp-request content reject
  default_backend nodes
"""


def _head(command: str, open_files: int) -> str:
    return f"""\
# Written anew by `{command}`; changes here are lost.
global
  # A connection has a file on either side.
  maxconn {open_files * 2 // 5}
  nbthread 1

defaults
  maxconn {open_files * 2 // 5}
  timeout connect 2s
  # Longer than MQTT's keep-alive and than the pauses of a long answer.
  timeout client 5m
  timeout server 5m
  timeout tunnel 1h
  timeout check 2s
  # Where a node or process is gone, the next one is asked at once.
  retries 3
  option redispatch 1
"""


def _broker(cluster: Cluster, authority: Path) -> str:
    servers = "\n".join(f"  server {node.name} 127.0.0.1:{node.mqtt_port}" for node in cluster.nodes)
    return f"""
# For the services of this machine, without TLS.
frontend mqtt
  mode tcp
  bind 127.0.0.1:{cluster.mqtt_port}
  default_backend nodes

# For receivers. What does not begin with TLS is refused here: behind HAProxy everybody comes from this machine, and the
# callout admits who comes from this machine without TLS.
frontend mqtts
  mode tcp
  bind {_bracketed(cluster.bind)}:{cluster.mqtts_port}
  tcp-request inspect-delay 10s
  tcp-request content accept if {{ req.ssl_hello_type 1 }}
  tcp-request content reject
  default_backend nodes

{_NODES}  # A handshake, since the kernel takes connections for a node that is frozen; its sessions are then ended,
  # so that they come again at another one.
  default-server check check-ssl verify required ca-file {_quoted(authority)} {CHECK} {LEFT_AT_ONCE}
{servers}
"""


def _entry(topology: Topology) -> str:
    numbered = enumerate(topology.entry_ports, 1)
    servers = "\n".join(f"  server entry-{number} 127.0.0.1:{port} check" for number, port in numbered)
    return f"""
# On loopback, so that callers are of this machine, which the entry trusts. No X-Forwarded-For is added, since what was
# forwarded is not trusted. One that a proxy before this one has sent goes on as it is, and then a key is needed.
frontend entry
  mode http
  bind 127.0.0.1:{topology.port}
  timeout http-request 10s
  default_backend entries

{_ENTRIES}  default-server {CHECK}
{servers}
"""


def _quoted(path: Path) -> str:
    """The path in single quotes. HAProxy replaces nothing between them."""
    text = str(path)
    if "'" in text or "\n" in text:
        raise StackError(f"{text} has a quotation mark or a line break, which HAProxy refuses; choose another folder")
    return f"'{text}'"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
