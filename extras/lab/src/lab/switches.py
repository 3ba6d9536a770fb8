"""Switches gateways: changes the building over HTTP, and waits until the gateway has its new settings over MQTT."""

import json
import time
from typing import Any

import gevent.event
import gevent.lock

from lab.calls import RIGHT, HttpCall, Site
from lab.catalogue import BUILDING
from lab.http_client import Caller, Outcome

CONFIGS = "sda/v1/gateway/+/config"
WITHIN_S = 30.0
WINDOWS_MS = range(500, 9500)


class Switches:
    """One change at a time: two at once would be a conflict of our own. Waiting for the other is in the latency."""

    def __init__(self, site: Site, http: Caller) -> None:
        self._building: dict[str, Any] = json.loads(site.building)
        self._http = http
        self._one = gevent.lock.BoundedSemaphore(1)
        self._wanted: tuple[str, int] = ("", 0)
        self._there = gevent.event.Event()
        self._count = 0

    def received(self, topic: str, payload: bytes) -> None:
        """A gateway's settings came; called in the loop."""
        gateway, window_ms = self._wanted
        if topic.split("/")[3] == gateway and json.loads(payload or b"{}").get("window_ms") == window_ms:
            self._there.set()

    def switch(self) -> tuple[str, Outcome]:
        """Give one gateway another window; returns its id, and the outcome at the time when it has its settings."""
        with self._one:
            self._count += 1
            gateway = self._building["gateways"][self._count % len(self._building["gateways"])]
            gateway["window_ms"] = WINDOWS_MS[self._count % len(WINDOWS_MS)]
            self._wanted = (gateway["id"], gateway["window_ms"])
            self._there.clear()
            body = json.dumps(self._building).encode()
            headers = {"Content-Type": "application/json"}
            http_call = HttpCall(BUILDING, gateway["id"], lambda _: RIGHT, "PUT", body, headers, etag_of=BUILDING)
            outcome = self._http.call(http_call)
            if not outcome.fault and not self._there.wait(WITHIN_S):
                outcome = outcome._replace(fault=f"no settings within {WITHIN_S:g} s")
            return str(gateway["id"]), outcome._replace(answered_s=time.monotonic())
