"""Listen on topics of a running stack."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import paho.mqtt.client as mqtt

from .running import RunningStack
from .stack_client import connect, end, eventually


@dataclass(frozen=True)
class Message:
    """One message: `topic` below `sda/v1`, `payload` from JSON (None if it is empty)."""

    topic: str
    payload: Any
    retained: bool


@contextmanager
def listening(
    stack: RunningStack, *topics: str, username: str = "nodered", password: str | None = None
) -> Iterator[list[Message]]:
    """The messages on `topics` (below `sda/v1`) in the order of arrival, from the broker's SUBACK on."""
    heard: list[Message] = []
    granted: list[object] = []

    def on_message(_client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        payload = json.loads(message.payload) if message.payload else None
        heard.append(Message(message.topic.removeprefix("sda/v1/"), payload, bool(message.retain)))

    client = connect(stack, username, password)
    client.on_message = on_message
    client.on_subscribe = lambda *_: granted.append(True)
    try:
        client.subscribe([(f"sda/v1/{topic}", 1) for topic in topics])
        eventually(lambda: granted, what=f"the broker's answer to a subscription of {topics}")
        yield heard
    finally:
        end(client)
