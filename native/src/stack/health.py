"""Health checks of each part. They return within seconds and never raise."""

import json
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

TIMEOUT_S = 3.0
OVERDUE_DAYS = 25
"""Certificates are renewed 30 days before their end."""
CLOCK_BEHIND_S = 60
"""As in `ingest/start`."""


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a part works, and the reason if not."""

    up: bool
    detail: str = ""


def http(url: str) -> Health:
    """Up when `url` answers 200."""
    try:
        with urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 - our own http:// addresses
            return Health(answer.status == 200, f"{url} answers {answer.status}")
    except (URLError, HTTPException, OSError) as error:
        return Health(up=False, detail=f"{url}: {error}")


def node_red(url: str) -> Health:
    """Up when `url` answers 200 and HTTPS, if configured, is open with a valid certificate."""
    try:
        with urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 - our own http:// addresses
            https = json.load(answer)["parts"].get("https", {})
    except (URLError, HTTPException, OSError, ValueError, KeyError) as error:
        return Health(up=False, detail=f"{url}: {error}")
    return Health(https.get("status", "up") == "up", str(https.get("reason", "")))


def telegraf(url: str, registry: Path) -> Health:
    """Up when `url` answers 200, and while `ingest/start` waits for the clock, so that Node-RED can report that."""
    try:
        newest_s = int((registry / "newest-time").read_text())
    except (OSError, ValueError):
        newest_s = 0
    behind_s = newest_s - time.time()
    return Health(up=True, detail=f"the clock is {behind_s:.0f} s behind") if behind_s > CLOCK_BEHIND_S else http(url)


def demo(url: str, key: str) -> Health:
    """Up when the monitoring route shows at least one SDA."""
    request = Request(url, headers={"X-API-Key": key})  # noqa: S310 - our own http:// addresses
    try:
        with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
            seen = len(json.load(answer)["data"])
    except (URLError, HTTPException, OSError, ValueError) as error:
        return Health(up=False, detail=f"{url}: {error}")
    return Health(seen > 0, f"{url} shows {seen} SDAs")


def certificate(host: str, port: int, authority: Path) -> Health:
    """Up when the port has a certificate of this authority that is not overdue for renewal."""
    context = ssl.create_default_context(cafile=authority)
    context.check_hostname = False  # receivers know the machine by other names
    try:
        with socket.create_connection((host, port), TIMEOUT_S) as plain, context.wrap_socket(plain) as secured:
            end = str((secured.getpeercert() or {})["notAfter"])
    except OSError as error:
        return Health(up=False, detail=f"port {port}: {error}")
    left_days = (ssl.cert_time_to_seconds(end) - time.time()) / 86_400
    return Health(left_days > OVERDUE_DAYS, f"the broker's certificate ends in {left_days:.0f} days and is not renewed")


def broker(host: str, port: int, username: str, password: str, client_id: str = "") -> Health:
    """Up when the broker accepts this account."""
    answered = threading.Event()
    answer = ["no answer"]

    def on_connect(_client: mqtt.Client, _userdata: object, _flags: object, reason: Any, _properties: object) -> None:
        answer[0] = str(reason)
        answered.set()

    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id)
    client.username_pw_set(username, password)
    client.on_connect = on_connect
    try:
        client.connect(host, port)
    except OSError as error:
        return Health(up=False, detail=f"port {port}: {error}")
    client.loop_start()
    answered.wait(TIMEOUT_S)
    client.disconnect()
    client.loop_stop()
    return Health(answer[0] == "Success", f"port {port} answers {answer[0]}")
