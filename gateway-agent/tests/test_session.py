"""A session's batch ids are valid for one file only."""

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


def test_acknowledgements_do_not_apply_to_a_replaced_file(tmp_path: Path) -> None:
    def damage(outbox: Outbox) -> None:
        outbox.close()  # else the write-ahead log repairs it
        (tmp_path / FILE).write_bytes(b"no database" * 1000)
        raise sqlite3.DatabaseError("database disk image is malformed")

    async def work() -> list[str]:
        clock = Clock("trust")
        store = Store(tmp_path, clock.boot, 1 << 20)
        before = await store.run(lambda outbox: outbox.add([(1, "[before]")], 1, 1000))
        session = Session(store, clock, Counters(), lambda _payload: MESSAGE_ID, 600, 10_000, 100)
        session.send_live(before)
        try:
            await store.run(damage)
        except StoreError:
            fresh = await store.run(lambda outbox: outbox.add([(1, "[fresh]")], 2, 2000))
        assert [batch.id for batch in fresh] == [batch.id for batch in before]
        session.acked(MESSAGE_ID)
        await session.flush()
        waiting = await store.run(lambda outbox: outbox.waiting(0, 10))
        await store.close()
        return [batch.body for batch in waiting]

    assert asyncio.run(work()) == ["[fresh]"]
