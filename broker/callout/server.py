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
log = logging.getLogger(__name__)


class System:
    """Questions to all nodes of the cluster, over a connection of the system account."""

    def __init__(self, client: Client, nodes: int) -> None:
        self._client, self._nodes = client, nodes

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

    async def cut_off(self, site: str, user: str, before: float | None) -> int:
        """End the user's connections that began before that time (epoch s; None: all); returns how many."""
        cut = 0
        for answer in await self.ask("CONNZ", acc=site, user=user, auth=True):
            for connection in answer["data"].get("connections") or ():
                if before is None or datetime.fromisoformat(connection["start"]).timestamp() < before:
                    order = json.dumps({"cid": connection["cid"]}).encode()
                    await self._client.publish(f"$SYS.REQ.SERVER.{answer['server']['id']}.KICK", order)
                    cut += 1
        return cut

    async def reload(self) -> None:
        """Have the nodes read their configuration again, with the certificates; connections stay."""
        for answer in await self.ask("VARZ"):
            await self._client.publish(f"$SYS.REQ.SERVER.{answer['server']['id']}.RELOAD", b"")


async def bound_queue(client: Client) -> None:
    """Set the bounds of a site's message queue where they are missing, and warn when it is nearly full."""
    try:
        info = await _stream(client, "INFO", {})
    except nats.errors.Error:  # nobody has connected yet, or the cluster has no leader
        return
    if "config" not in info:
        return
    if (config := queue.bounded(info["config"])) is not None:
        changed = await _stream(client, "UPDATE", config)
        log.info("the queue is bounded: %s", changed.get("error", f"{queue.MAX_BYTES} bytes"))
    if (used := info["state"]["bytes"]) > queue.NEARLY_FULL * queue.MAX_BYTES:
        log.warning("the queue has %d of %d bytes: some subscriber is absent or too slow", used, queue.MAX_BYTES)


async def _stream(client: Client, what: str, request: Mapping[str, object]) -> dict[str, Any]:
    subject = f"$JS.API.STREAM.{what}.{queue.STREAM}"
    answer = await client.request(subject, json.dumps(request).encode(), timeout=WITHIN_S * 5)
    found: dict[str, Any] = json.loads(answer.data)
    return found
