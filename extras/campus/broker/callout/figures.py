"""nats-server's figures under the topics of Mosquitto: flows and agents need not know which broker it is. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

EVERY_S = 10.0
"""As often as Mosquitto."""


def topics(nodes: Sequence[Mapping[str, Any]], stores: Iterable[Mapping[str, Any]], site: str) -> dict[str, str]:
    """Topic -> payload for a site. Nothing is dropped by this broker, so there is no such figure.

    Args:
        nodes: `/varz` of each node. Uptime is that of the oldest: while one of them goes on nothing is lost.
        stores: `/jsz` of each node, with streams. Each node may keep a copy, so the largest counts.
        site: whose stored messages count. Messages received and memory are those of all nodes and sites.
    """
    kept = [_kept(store, site) for store in stores]
    return {
        "$SYS/broker/uptime": f"{max(_uptime_s(node) for node in nodes)} seconds",
        "$SYS/broker/version": f"nats-server {nodes[0]['version']}",
        "$SYS/broker/heap/current": str(sum(node["mem"] for node in nodes)),
        "$SYS/broker/publish/messages/received": str(sum(node["in_client_msgs"] for node in nodes)),
        "$SYS/broker/store/messages/count": str(max((count for count, _ in kept), default=0)),
        "$SYS/broker/store/messages/bytes": str(max((size for _, size in kept), default=0)),
    }


def _uptime_s(node: Mapping[str, Any]) -> int:
    return int((datetime.fromisoformat(node["now"]) - datetime.fromisoformat(node["start"])).total_seconds())


def _kept(store: Mapping[str, Any], site: str) -> tuple[int, int]:
    """Messages and bytes of a site in the streams of a node."""
    accounts = [one for one in store.get("account_details") or () if one["name"] == site]
    states = [stream["state"] for account in accounts for stream in account.get("stream_detail") or ()]
    return sum(one["messages"] for one in states), sum(one["bytes"] for one in states)
