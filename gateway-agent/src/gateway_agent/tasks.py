"""Helpers for asyncio tasks."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def run_all(*work: Coroutine[Any, Any, None]) -> None:
    """Run all until one fails or we are cancelled. The others are cancelled; the first error is raised unwrapped."""
    tasks = [asyncio.create_task(item) for item in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event for at most ``seconds``."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
