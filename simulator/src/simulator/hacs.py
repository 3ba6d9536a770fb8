"""Polls `/extractbeacon` as HACS does: for each staff member, where they were in the last seconds."""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from simulator.report import NO_CONNECTION, PollStats, clock
from simulator.run_options import Stop

TIMEOUT_S = 10.0  # a later answer is useless to a poll every 10 s
SHOWN = 40
"""Characters of a list of ids in a log line."""
CONNECTIONS = 100  # concurrent; further polls wait


@dataclass(frozen=True, slots=True)
class Poller:
    """The polled staff and the schedule: everyone each `every_s`, or one after the other at `rate_per_s` in total.

    Each item of `staff` is one call's parameter: an id, several ids with commas, or `*`.
    """

    url: str
    staff: Sequence[str]
    every_s: float = 10.0
    rate_per_s: float | None = None
    window_s: float = 10.0
    key: str | None = None
    duration_s: float | None = None

    def schedule(self) -> Iterator[tuple[float, str]]:
        """Yield (seconds after the start, staff ids) of each poll."""
        for number in itertools.count():
            staff_id = self.staff[number % len(self.staff)]
            step_s = number // len(self.staff) * self.every_s
            due_s = step_s if self.rate_per_s is None else number / self.rate_per_s
            if self.duration_s is not None and due_s >= self.duration_s:
                return
            yield due_s, staff_id


async def poll(poller: Poller, stop: Stop, log: Callable[[str], None], progress: Callable[[str], None]) -> PollStats:
    """Poll until the schedule or the operator ends it. `log` gets one line per answer, `progress` the totals."""
    tally = PollStats()
    headers = {"X-API-Key": poller.key} if poller.key else {}
    async with (
        aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
            connector=aiohttp.TCPConnector(limit=CONNECTIONS),
        ) as session,
        asyncio.TaskGroup() as tasks,
    ):
        polling = tasks.create_task(_poll_all(poller, session, tally, log))
        stopping = tasks.create_task(stop.wait())
        reporting = tasks.create_task(_progress(tally, progress))
        await asyncio.wait((polling, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in (polling, stopping, reporting):
            task.cancel()
    return tally


async def _poll_all(
    poller: Poller, session: aiohttp.ClientSession, tally: PollStats, log: Callable[[str], None]
) -> None:
    started_s = time.monotonic()
    async with asyncio.TaskGroup() as polls:
        for due_s, staff_id in poller.schedule():
            if (wait_s := started_s + due_s - time.monotonic()) > 0:
                await asyncio.sleep(wait_s)
            polls.create_task(_poll_once(poller, staff_id, session, tally, log))


async def _poll_once(
    poller: Poller, staff_id: str, session: aiohttp.ClientSession, tally: PollStats, log: Callable[[str], None]
) -> None:
    """Make one poll. It is counted when it is complete, so that a stop never counts half a poll."""
    end_s = int(time.time())
    query = {"staff_id": staff_id, "start_time": str(int(end_s - poller.window_s)), "end_time": str(end_s)}
    asked_s = time.perf_counter()
    try:
        async with session.get(f"{poller.url}/extractbeacon", params=query) as response:
            answer = await response.json(content_type=None)
            records = _records(answer) if response.status == 200 else None
            fault = None if records is not None else _fault(response.status, answer)
    except aiohttp.ClientConnectorError as error:
        records, fault = None, f"{NO_CONNECTION}: {error.os_error.strerror or error.os_error}"
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        records, fault = None, f"{type(error).__name__}: {error}" if str(error) else f"no answer within {TIMEOUT_S:g} s"
    tally.polls += 1
    tally.latencies.add(time.perf_counter() - asked_s)
    at, who = time.strftime("%H:%M:%S"), staff_id if len(staff_id) <= SHOWN else f"{staff_id[:SHOWN]}…"
    if records is None:
        tally.fail(fault or "unknown")
        log(f"{at} staff {who}: error: {fault}")
        return
    tally.answered += 1
    tally.records += len(records)
    newest = f", newest {records[0]['level']} {records[0]['location']}" if records else ""
    log(f"{at} staff {who}: {len(records)} records{newest}")


def _records(answer: Any) -> list[dict[str, Any]] | None:
    """The records of an answer; None if the answer does not match the interface."""
    records = answer.get("location") if isinstance(answer, dict) else None
    if not isinstance(records, list):
        return None
    whole = all(isinstance(record, dict) and {"level", "location", "timestamp"} <= record.keys() for record in records)
    return records if whole else None


def _fault(status: int, answer: Any) -> str:
    if status == 200:
        return 'the answer is not {"location":[{"level","location","timestamp"},…]}'
    records = answer.get("error") if isinstance(answer, dict) else None
    return f"HTTP {status}" + (f": {records}" if records else "")


async def _progress(tally: PollStats, progress: Callable[[str], None]) -> None:
    started_s = time.monotonic()
    while True:
        await asyncio.sleep(30)
        seconds = time.monotonic() - started_s
        progress(f"{clock(seconds)}  polls {tally.polls:,}  answered {tally.answered:,}  failed {tally.failed:,}")
