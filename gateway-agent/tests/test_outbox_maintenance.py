"""Facts are on disk before the agent stops."""

import asyncio
from pathlib import Path

from gateway_agent.clock import Clock
from gateway_agent.outbox import Store


def test_a_fact_set_right_before_the_stop_is_stored(tmp_path: Path) -> None:
    async def work() -> str | None:
        boot = Clock("trust").boot
        store = Store(tmp_path, boot, 1 << 20)
        await store.open()
        store.remember("config", "the first")
        store.remember("config", "the last")
        await store.close()
        store = Store(tmp_path, boot, 1 << 20)
        known = await store.run(lambda outbox: outbox.fact("config"))
        await store.close()
        return known

    assert asyncio.run(work()) == "the last"
