"""Polls `/extractbeacon` as HACS does: for each staff member, where they were in the last seconds."""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from simulator.manner import Stop
from simulator.report import NO_CONNECTION, Polling, clock

TIMEOUT_S = 10.0  # an answer that comes later is of no use to a poll every 10 s
SHOWN = 40
"""So many characters of a list of ids stand in a line."""
CONNECTIONS = 100  # at a time; more polls than that wait for one another


@dataclass(frozen=True, slots=True)
class Poller:
    """Whom to ask for, and how often: everyone each `every_s`, or one after the other at `rate_per_s` in all.

    Each of `staff` is an id, several with commas between them, or `*`: what one call asks for.
    """

    url: str
    staff: Sequence[str]
    every_s: float = 10.0
    rate_per_s: float | None = None
    window_s: float = 10.0
    key: str | None = None
    duration_s: float | None = None

    def schedule(self) -> Iterator[tuple[float, str]]:
        """When to ask, in seconds after the start, and for whom."""
        for number in itertools.count():
            staff_id = self.staff[number % len(self.staff)]
            step_s = number // len(self.staff) * self.every_s
            due_s = step_s if self.rate_per_s is None else number / self.rate_per_s
            if self.duration_s is not None and due_s >= self.duration_s:
                return
            yield due_s, staff_id


async def poll(poller: Poller, stop: Stop, tell: Callable[[str], None], progress: Callable[[str], None]) -> Polling:
    """Ask until the schedule or the operator ends it; `tell` gets one line for each answer, `progress` totals."""
    tally = Polling()
    headers = {"X-API-Key": poller.key} if poller.key else {}
    async with (
        aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
            connector=aiohttp.TCPConnector(limit=CONNECTIONS),
        ) as session,
        asyncio.TaskGroup() as tasks,
    ):
        asking = tasks.create_task(_ask_all(poller, session, tally, tell))
        stopping = tasks.create_task(_wait(stop.asked))
        telling = tasks.create_task(_progress(tally, progress))
        await asyncio.wait((asking, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in (asking, stopping, telling):
            task.cancel()
    return tally


async def _ask_all(poller: Poller, session: aiohttp.ClientSession, tally: Polling, tell: Callable[[str], None]) -> None:
    started_s = time.monotonic()
    async with asyncio.TaskGroup() as polls:
        for due_s, staff_id in poller.schedule():
            if (wait_s := started_s + due_s - time.monotonic()) > 0:
                await asyncio.sleep(wait_s)
            polls.create_task(_ask(poller, staff_id, session, tally, tell))


async def _ask(
    poller: Poller, staff_id: str, session: aiohttp.ClientSession, tally: Polling, tell: Callable[[str], None]
) -> None:
    """One poll: counted when it is over, so that a stop in between leaves no half of it."""
    end_s = int(time.time())
    query = {"staff_id": staff_id, "start_time": str(int(end_s - poller.window_s)), "end_time": str(end_s)}
    asked_s = time.perf_counter()
    try:
        async with session.get(f"{poller.url}/extractbeacon", params=query) as response:
            answer = await response.json(content_type=None)
            said = _records(answer) if response.status == 200 else None
            fault = None if said is not None else _fault(response.status, answer)
    except aiohttp.ClientConnectorError as error:
        said, fault = None, f"{NO_CONNECTION}: {error.os_error.strerror or error.os_error}"
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        said, fault = None, f"{type(error).__name__}: {error}" if str(error) else f"no answer within {TIMEOUT_S:g} s"
    tally.polls += 1
    tally.latencies.add(time.perf_counter() - asked_s)
    at, who = time.strftime("%H:%M:%S"), staff_id if len(staff_id) <= SHOWN else f"{staff_id[:SHOWN]}…"
    if said is None:
        tally.fail(fault or "unknown")
        tell(f"{at} staff {who}: error: {fault}")
        return
    tally.answered += 1
    tally.records += len(said)
    newest = f", newest {said[0]['level']} {said[0]['location']}" if said else ""
    tell(f"{at} staff {who}: {len(said)} records{newest}")


def _records(answer: Any) -> list[dict[str, Any]] | None:
    """The records of an answer; None when it is not as the interface says."""
    records = answer.get("location") if isinstance(answer, dict) else None
    if not isinstance(records, list):
        return None
    whole = all(isinstance(record, dict) and {"level", "location", "timestamp"} <= record.keys() for record in records)
    return records if whole else None


def _fault(status: int, answer: Any) -> str:
    if status == 200:
        return 'the answer is not {"location":[{"level","location","timestamp"},…]}'
    said = answer.get("error") if isinstance(answer, dict) else None
    return f"HTTP {status}" + (f": {said}" if said else "")


async def _progress(tally: Polling, progress: Callable[[str], None]) -> None:
    started_s = time.monotonic()
    while True:
        await asyncio.sleep(30)
        seconds = time.monotonic() - started_s
        progress(f"{clock(seconds)}  polls {tally.polls:,}  answered {tally.answered:,}  failed {tally.failed:,}")


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
