"""nats-server's figures under the topics of Mosquitto: flows and agents need not know which broker it is. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

EVERY_S = 10.0
"""As often as Mosquitto."""


def topics(varz: Mapping[str, Any], jsz: Mapping[str, Any]) -> dict[str, str]:
    """Topic -> payload, from `/varz` and `/jsz`. Nothing is dropped by this broker, so there is no such figure."""
    uptime_s = (datetime.fromisoformat(varz["now"]) - datetime.fromisoformat(varz["start"])).total_seconds()
    return {
        "$SYS/broker/uptime": f"{int(uptime_s)} seconds",
        "$SYS/broker/version": f"nats-server {varz['version']}",
        "$SYS/broker/heap/current": str(varz["mem"]),
        "$SYS/broker/publish/messages/received": str(varz["in_msgs"]),
        "$SYS/broker/store/messages/count": str(jsz["messages"]),
        "$SYS/broker/store/messages/bytes": str(jsz["bytes"]),
    }
