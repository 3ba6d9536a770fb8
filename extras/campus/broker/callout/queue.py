"""The bounds of a site's message queue, which nats-server itself makes without any."""

from collections.abc import Mapping
from typing import Any

from nats_config import QUEUE_BYTES

STREAM = "$MQTT_msgs"
MAX_BYTES = QUEUE_BYTES
"""When the queue is full publishers get no acknowledgement and keep what they have; nothing that was acknowledged is
dropped, and subscribers empty it."""
NEARLY_FULL = 0.8
EVERY_S = 5.0
"""nats-server makes the stream when the first client connects."""


def bounded(config: Mapping[str, Any], max_bytes: int) -> dict[str, Any] | None:
    """The stream's configuration with its bounds; None: it has them."""
    bounds = {"max_bytes": max_bytes, "discard": "new"}
    return None if bounds.items() <= config.items() else {**config, **bounds}
