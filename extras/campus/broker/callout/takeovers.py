"""Sessions that one connection takes from another, from nats-server's events, as lines of Mosquitto's log. Pure."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

TOPIC = "$SYS/broker/log/N"
CONNECTED = "$SYS.ACCOUNT.*.CONNECT"
DISCONNECTED = "$SYS.ACCOUNT.*.DISCONNECT"
TAKEN_OVER = "Duplicate Client ID"
KEPT = 20_000
"""Client ids of which the latest connection is kept."""


class Takeovers:
    """Finds the connection that has taken a session. nats-server's events say no ports: they are 0."""

    def __init__(self) -> None:
        self._latest: OrderedDict[tuple[str, str], Mapping[str, Any]] = OrderedDict()
        self._waiting: dict[tuple[str, str], Mapping[str, Any]] = {}

    def connected(self, event: Mapping[str, Any]) -> list[str]:
        """The lines of a takeover whose other half came before: nodes of a cluster send their events independently."""
        client = event["client"]
        if (key := _key(client)) is None:
            return []
        self._latest[key] = client
        self._latest.move_to_end(key)
        if len(self._latest) > KEPT:
            self._latest.popitem(last=False)
        return _lines(gone, client) if (gone := self._waiting.pop(key, None)) else []

    def disconnected(self, event: Mapping[str, Any]) -> list[str]:
        """The two lines, if the connection has lost its session to another one that is known."""
        client = event["client"]
        if event.get("reason") != TAKEN_OVER or (key := _key(client)) is None:
            return []
        latest = self._latest.get(key)
        if latest is None or _connection(latest) == _connection(client):
            self._waiting[key] = client
            return []
        return _lines(client, latest)


def _key(client: Mapping[str, Any]) -> tuple[str, str] | None:
    """Site and client id of an MQTT client."""
    return (client["acc"], client["client_id"]) if client.get("client_type") == "mqtt" else None


def _connection(client: Mapping[str, Any]) -> tuple[object, object]:
    return client.get("server"), client.get("id")


def _lines(gone: Mapping[str, Any], stays: Mapping[str, Any]) -> list[str]:
    name = stays["client_id"]
    return [
        f"Client {name} [{gone.get('host')}:0] disconnected: session taken over.",
        f"New client connected from {stays.get('host')}:0 as {name} (p0, c0, k0, u'{stays.get('user')}').",
    ]
