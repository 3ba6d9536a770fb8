"""What is to be remembered is on disk before the agent ends."""

import asyncio
from pathlib import Path

from gateway_agent.clock import Clock
from gateway_agent.keeper import Keeper
from gateway_agent.store import Store
from gateway_agent.timekeeper import Timekeeper


def test_a_fact_told_right_before_the_end_outlives_it(tmp_path: Path) -> None:
    async def work() -> str | None:
        clock = Clock("trust")
        store = Store(tmp_path, clock.boot, 1 << 20)
        await store.open()
        keeper = Keeper(store, clock, Timekeeper(clock, store), 24)
        keeper.remember("config", "the first")
        keeper.remember("config", "the last")
        await keeper.finish()
        await store.close()
        store = Store(tmp_path, clock.boot, 1 << 20)
        known = await store.do(lambda outbox: outbox.fact("config"))
        await store.close()
        return known

    assert asyncio.run(work()) == "the last"
