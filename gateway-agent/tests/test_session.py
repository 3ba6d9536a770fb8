"""What a session sends, and what it makes of the answers."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from gateway_agent import sender
from gateway_agent.clock import Clock, ClockSync
from gateway_agent.faults import Fault, LinkError
from gateway_agent.health import Counters
from gateway_agent.outbox import FILE, Outbox, Store, StoreError
from gateway_agent.sender import Session
from gateway_agent.settings import OutboxSettings

TOPIC = "sda/v1/gateway/gw-test/readings"
SETTINGS = OutboxSettings(max_age_h=1, max_mib=1, replay_s=600, backlog_rate=10_000)


class Publisher:
    """A connection that notes what is published; the test answers."""

    def __init__(self, receive_maximum: int = 100) -> None:
        self.receive_maximum = receive_maximum
        self.lost: asyncio.Future[Fault] = asyncio.get_running_loop().create_future()
        self.sent: list[tuple[bytes, asyncio.Future[Fault | None]]] = []

    def publish(self, topic: str, payload: bytes) -> "asyncio.Future[Fault | None]":
        assert topic == TOPIC
        answer: asyncio.Future[Fault | None] = asyncio.get_running_loop().create_future()
        self.sent.append((payload, answer))
        return answer


async def eventually(publisher: Publisher, count: int) -> None:
    """Wait until so many messages were published."""
    async with asyncio.timeout(10):
        while len(publisher.sent) < count:  # noqa: ASYNC110 - it counts, it does not call
            await asyncio.sleep(0)


def opened(folder: Path, publisher: Any) -> tuple[Store, Session]:
    clock = Clock("trust")
    store = Store(folder, clock.boot, 1 << 20)
    return store, Session(store, ClockSync(clock, store), Counters(), publisher, TOPIC, SETTINGS)


def test_acknowledgements_do_not_apply_to_a_replaced_file(tmp_path: Path) -> None:
    """A session's batch ids are valid for one file only."""

    def damage(outbox: Outbox) -> None:
        outbox.close()  # else the write-ahead log repairs it
        (tmp_path / FILE).write_bytes(b"no database" * 1000)
        raise sqlite3.DatabaseError("database disk image is malformed")

    async def work() -> list[str]:
        publisher = Publisher()
        store, session = opened(tmp_path, publisher)
        running = asyncio.create_task(session.run(None))
        await store.add([(1, "[before]")], 1, 1000)
        await eventually(publisher, 1)
        with pytest.raises(StoreError):
            await store.run(damage)
        await store.add([(1, "[fresh]")], 2, 2000)
        publisher.sent[0][1].set_result(None)
        await asyncio.sleep(0)
        await session.flush()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        waiting = await store.run(lambda outbox: outbox.waiting(0, 10))
        await store.close()
        assert [batch.id for batch in waiting] == [1]  # the id of the batch before
        return [batch.body for batch in waiting]

    assert asyncio.run(work()) == ["[fresh]"]


def test_each_batch_is_sent_once_live_or_from_the_backlog(tmp_path: Path) -> None:
    async def work() -> None:
        publisher = Publisher()
        store, session = opened(tmp_path, publisher)
        for number in range(30):
            await store.add([(1, f"[{number}]")], number, number)
        running = asyncio.create_task(session.run(None))
        for number in range(30, 60):
            await store.add([(1, f"[{number}]")], number, number)
        await eventually(publisher, 60)
        for _, answer in publisher.sent:
            answer.set_result(None)
        await asyncio.sleep(0)
        await session.flush()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        depth = await store.run(lambda outbox: outbox.depth())
        await store.close()
        assert (depth.waiting, depth.held) == (0, 60)
        assert len({payload for payload, _ in publisher.sent}) == len(publisher.sent) == 60

    asyncio.run(work())


def test_no_more_is_in_flight_than_the_broker_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> list[int]:
        publisher = Publisher(receive_maximum=sender.OTHERS_IN_FLIGHT + 2)
        store, session = opened(tmp_path, publisher)
        running = asyncio.create_task(session.run(None))
        counts = []
        for number in range(4):
            await store.add([(1, f"[{number}]")], number, number)
        await eventually(publisher, 2)
        for answered in range(2):
            await store.run(Outbox.used_bytes)  # time in which a third could be sent
            counts.append(len(publisher.sent))
            publisher.sent[answered][1].set_result(None)
            await eventually(publisher, 3 + answered)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await store.close()
        return counts

    monkeypatch.setattr(sender, "POLL_EVERY_S", 0.01)
    assert asyncio.run(work()) == [2, 3]


def test_a_refused_batch_stays_and_ends_the_session(tmp_path: Path) -> None:
    async def work() -> int:
        publisher = Publisher()
        store, session = opened(tmp_path, publisher)
        running = asyncio.create_task(session.run(None))
        await store.add([(3, "[]")], 1, 1)
        await eventually(publisher, 1)
        publisher.sent[0][1].set_result(Fault("acl", "denied", "allow it"))
        with pytest.raises(LinkError, match="denied"):
            await running
        await session.flush()
        depth = await store.run(lambda outbox: outbox.depth())
        await store.close()
        return depth.waiting

    assert asyncio.run(work()) == 3
