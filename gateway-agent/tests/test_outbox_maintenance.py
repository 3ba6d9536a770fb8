"""Facts are on disk before the agent stops."""

import asyncio
from pathlib import Path

from gateway_agent.clock import Clock
from gateway_agent.clock_sync import ClockSync
from gateway_agent.outbox_maintenance import OutboxMaintenance
from gateway_agent.store import Store


def test_a_fact_set_right_before_the_stop_is_stored(tmp_path: Path) -> None:
    async def work() -> str | None:
        clock = Clock("trust")
        store = Store(tmp_path, clock.boot, 1 << 20)
        await store.open()
        maintenance = OutboxMaintenance(store, clock, ClockSync(clock, store), 24)
        maintenance.remember("config", "the first")
        maintenance.remember("config", "the last")
        await maintenance.finish()
        await store.close()
        store = Store(tmp_path, clock.boot, 1 << 20)
        known = await store.run(lambda outbox: outbox.fact("config"))
        await store.close()
        return known

    assert asyncio.run(work()) == "the last"
