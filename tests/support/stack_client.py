"""Client functions for a running stack: publish, query InfluxDB and the HTTP API, wait for a condition."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import httpx
import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from stack.layout import ROOT, node_folder
from stack.stores import FIRST, Store

from . import web
from .running import RunningStack

T = TypeVar("T")
POLL_S, SLOWEST_POLL_S = 0.1, 0.5
POLLS_OF_A_WAIT = 20
"""The longer a wait, the longer the pause before the next question, which costs CPU time that other tests need."""


def eventually(probe: Callable[[], T], within_s: float = 60.0, what: str = "") -> T:
    """The first true value of `probe()`.

    Raises:
        AssertionError: with the last value, if there is none within `within_s` seconds.
    """
    started = time.monotonic()
    while not (value := probe()):
        waited_s = time.monotonic() - started
        assert waited_s < within_s, f"not within {within_s} s: {what or probe}; last: {value!r}"
        time.sleep(min(max(POLL_S, waited_s / POLLS_OF_A_WAIT), SLOWEST_POLL_S))
    return value


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def connect(stack: RunningStack, username: str = "simulator", password: str | None = None) -> mqtt.Client:
    """A connected client with its network loop running; the caller disconnects it."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2)
    client.username_pw_set(username, password or stack.secrets[f"MQTT_{username.split('-')[0].upper()}_PASSWORD"])
    client.connect("127.0.0.1", stack.ports.mqtt)
    client.loop_start()
    eventually(client.is_connected, what="MQTT connection")
    return client


def end(client: mqtt.Client) -> None:
    """Disconnect, and end the client's network loop."""
    client.disconnect()
    with suppress(AttributeError):  # paho's thread may end between the look for it and its join
        client.loop_stop()


def forget_session(stack: RunningStack, client_id: str) -> None:
    """Delete the broker session with this id, of Telegraf or Node-RED, while it is not connected."""
    service = client_id.split("/")[0]
    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=client_id, clean_session=True)
    account = "nodered" if service == "nodered" else client_id.replace("/", "-")
    client.username_pw_set(account, stack.secrets[f"MQTT_{service.upper()}_PASSWORD"])
    client.connect("127.0.0.1", stack.ports.mqtt)
    client.loop_start()
    eventually(client.is_connected, what="MQTT connection")
    end(client)


def publish(stack: RunningStack, *messages: tuple[str, Any], username: str = "simulator") -> None:
    """Publish (topic below sda/v1, payload) at QoS 1 and wait for the acknowledgements. Objects are sent as JSON."""
    client = connect(stack, username)
    try:
        sent = [
            client.publish(f"sda/v1/{topic}", body if isinstance(body, bytes | str) else json.dumps(body), qos=1)
            for topic, body in messages
        ]
        for message in sent:
            message.wait_for_publish(30)
            assert message.is_published(), "the broker has acknowledged nothing for 30 s"
    finally:
        end(client)


def batch(*readings: tuple[str, int], ts: int | None = None) -> dict[str, Any]:
    """A readings batch of (beacon, rssi) pairs."""
    heard = [{"beacon": beacon, "rssi": rssi} for beacon, rssi in readings]
    return {"v": 1, "ts": now_ms() if ts is None else ts, "readings": heard}


def influx(stack: RunningStack, bucket: str, query: str, store: Store = FIRST) -> list[dict[str, Any]]:
    """The rows of an InfluxQL query, times in epoch milliseconds, tags beside the fields."""
    answer = web.get(
        f"{stack.settings.url_of('INFLUX_PORT', store)}/query",
        params={"db": bucket, "epoch": "ms", "q": query},
        headers={"Authorization": f"Token {stack.secrets[store.key('INFLUX_READ_TOKEN')]}"},
        timeout=60,
    )
    answer.raise_for_status()
    series: Iterable[dict[str, Any]] = answer.json()["results"][0].get("series", [])
    return [
        dict(zip(one["columns"], values, strict=True)) | one.get("tags", {})
        for one in series
        for values in one["values"]
    ]


def at_least(count: int, items: list[T]) -> list[T]:
    """The items once there are that many, else none."""
    return items if len(items) >= count else []


def accepted_readings(stack: RunningStack) -> int:
    """Number of readings accepted by the flows since their start, from the latest heartbeat."""
    rows = influx(stack, "health", "SELECT last(readings) AS readings FROM flows_health")
    return int(rows[0]["readings"]) if rows else 0


def get(stack: RunningStack, path: str, **parameters: Any) -> httpx.Response:
    return web.get(f"{stack.http_url}{path}", params=parameters, timeout=10)


def history(stack: RunningStack, staff_id: str, start_s: float, end_s: float) -> list[dict[str, Any]]:
    """The records of /extractbeacon."""
    asked = {"staff_id": staff_id, "start_time": int(start_s), "end_time": int(end_s)}
    answer = get(stack, "/extractbeacon", **asked)
    answer.raise_for_status()
    records: list[dict[str, Any]] = answer.json()["location"]
    return records


def rebuild_by_hand(stack: RunningStack, *times: str) -> str:
    """`make rebuild` from the first time to the second; returns what it prints."""
    environment = {**os.environ, "HTTP_PORT": str(stack.ports.http), "SDA_API_KEY": stack.secrets["SDA_API_KEY"]}
    command = (str(node_folder() / "node"), str(ROOT / "flows" / "bin" / "rebuild.js"), *times)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr
