"""What a session remembers of batches is true of one file only."""

import asyncio
import sqlite3
from pathlib import Path

from gateway_agent.clock import Clock
from gateway_agent.health import Counters
from gateway_agent.outbox import Outbox
from gateway_agent.outbox_view import FILE
from gateway_agent.session import Session
from gateway_agent.store import Store, StoreError

MESSAGE_ID = 7


def test_an_acknowledgement_of_a_batch_in_a_damaged_file_is_of_no_batch_in_the_fresh_one(tmp_path: Path) -> None:
    def damage(outbox: Outbox) -> None:
        outbox.close()  # else the write-ahead log mends it
        (tmp_path / FILE).write_bytes(b"no database" * 1000)
        raise sqlite3.DatabaseError("database disk image is malformed")

    async def work() -> list[str]:
        clock = Clock("trust")
        store = Store(tmp_path, clock.boot, 1 << 20)
        before = await store.do(lambda outbox: outbox.add([(1, "[before]")], 1, 1000))
        session = Session(store, clock, Counters(), lambda _payload: MESSAGE_ID, 600, 10_000, 100)
        session.live(before)
        try:
            await store.do(damage)
        except StoreError:
            fresh = await store.do(lambda outbox: outbox.add([(1, "[fresh]")], 2, 2000))
        assert [batch.id for batch in fresh] == [batch.id for batch in before]
        session.acked(MESSAGE_ID)
        await session.flush()
        waiting = await store.do(lambda outbox: outbox.waiting(0, 10))
        await store.close()
        return [batch.body for batch in waiting]

    assert asyncio.run(work()) == ["[fresh]"]
