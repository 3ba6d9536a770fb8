"""What nats-server is asked as its system account, and the bounds of a site's queue."""

import asyncio
import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import nats.errors
from nats.aio.client import Client

from . import queue

WITHIN_S = 1.0
MAX_CONNECTIONS = 20_000
log = logging.getLogger(__name__)


class System:
    """Questions to all nodes of the cluster, over a connection of the system account."""

    def __init__(self, client: Client, nodes: int) -> None:
        self._client, self._nodes = client, nodes

    @property
    def connected(self) -> bool:
        """Whether nats-server is there."""
        return self._client.is_connected

    async def ask(self, what: str, **options: object) -> list[Mapping[str, Any]]:
        """The nodes' answers to `VARZ`, `JSZ` or `CONNZ`, those that come within a second."""
        inbox = self._client.new_inbox()
        answers: list[Mapping[str, Any]] = []
        subscription = await self._client.subscribe(inbox)
        try:
            await self._client.publish(f"$SYS.REQ.SERVER.PING.{what}", json.dumps(options).encode(), reply=inbox)
            async with asyncio.timeout(WITHIN_S):
                while len(answers) < self._nodes:
                    answers.append(json.loads((await subscription.next_msg(WITHIN_S)).data))
        except (TimeoutError, nats.errors.TimeoutError):
            log.warning("%d of %d nodes answered %s", len(answers), self._nodes, what)
        finally:
            await subscription.unsubscribe()
        return answers

    async def users(self, site: str) -> set[str]:
        """User names of a site's MQTT connections."""
        answers = await self.ask("CONNZ", acc=site, auth=True, limit=MAX_CONNECTIONS)
        connections = [one for answer in answers for one in answer["data"].get("connections") or ()]
        return {one["authorized_user"] for one in connections if one.get("mqtt_client") and "authorized_user" in one}

    async def cut_off(self, site: str, user: str, before: float | None) -> int:
        """End the user's connections that began before that time (epoch s; None: all); returns how many."""
        cut = 0
        for answer in await self.ask("CONNZ", acc=site, user=user, auth=True):
            for connection in answer["data"].get("connections") or ():
                if before is None or datetime.fromisoformat(connection["start"]).timestamp() < before:
                    await self._order(answer, "KICK", {"cid": connection["cid"]})
                    cut += 1
        return cut

    async def reload(self, since: float) -> None:
        """Have the nodes read their configuration again, with the certificates, that have not done so since (epoch s).

        All clients are disconnected once; their sessions stay."""
        for answer in await self.ask("VARZ"):
            if datetime.fromisoformat(answer["data"]["config_load_time"]).timestamp() > since:
                continue  # the other callout was first
            await self._order(answer, "RELOAD", {})

    async def _order(self, node: Mapping[str, Any], what: str, request: Mapping[str, object]) -> None:
        """Nothing is done for who wants no reply. That a connection is gone already is no fault."""
        subject = f"$SYS.REQ.SERVER.{node['server']['id']}.{what}"
        answer = json.loads((await self._client.request(subject, json.dumps(request).encode(), timeout=WITHIN_S)).data)
        if error := answer.get("error"):
            log.info("%s: %s", what, error.get("description", error))


async def bound_queue(client: Client, max_bytes: int) -> None:
    """Set the bounds of a site's message queue where they are missing, and warn when it is nearly full."""
    try:
        info = await _stream(client, "INFO", {})
    except nats.errors.Error:  # nobody has connected yet, or the cluster has no leader
        return
    if "config" not in info:
        return
    if (config := queue.bounded(info["config"], max_bytes)) is not None:
        changed = await _stream(client, "UPDATE", config)
        log.info("the queue is bounded: %s", changed.get("error", f"{max_bytes} bytes"))
    if (used := info["state"]["bytes"]) > queue.NEARLY_FULL * max_bytes:
        log.warning("the queue has %d of %d bytes: some subscriber is absent or too slow", used, max_bytes)


async def _stream(client: Client, what: str, request: Mapping[str, object]) -> dict[str, Any]:
    subject = f"$JS.API.STREAM.{what}.{queue.STREAM}"
    answer = await client.request(subject, json.dumps(request).encode(), timeout=WITHIN_S * 5)
    found: dict[str, Any] = json.loads(answer.data)
    return found
