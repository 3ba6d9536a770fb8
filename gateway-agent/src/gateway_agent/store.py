"""Runs the outbox in a worker thread, since a write to a worn SD card may take seconds."""

import asyncio
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from gateway_agent.outbox import DROPPED, Outbox
from gateway_agent.state import AlreadyRunningError

T = TypeVar("T")
log = logging.getLogger(__name__)

OPEN_AGAIN_AFTER_S = 5.0


class StoreError(Exception):
    """An outbox operation failed (disk full, input/output error); the message says why. A retry may help."""


class Store:
    """Runs work on the `Outbox` in order. A file that is found damaged while running is replaced by a new one.

    ``prepare`` makes the folder before the file is opened. It may raise OSError and AlreadyRunningError.
    """

    def __init__(self, folder: Path, boot: str, max_bytes: int, prepare: Callable[[], None] = lambda: None) -> None:
        self.dropped: Counter[str] = Counter(dict.fromkeys(DROPPED, 0))
        self.error: str | None = None  # why the last operation failed; None: it succeeded
        self.damaged = 0  # replaced files; their number of readings is unknown
        self._folder, self._boot, self._max_bytes = folder, boot, max_bytes
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="outbox")
        self._prepare = prepare
        self._outbox: Outbox | None = None
        self._open_again_at = 0.0

    async def open(self) -> None:
        """Open the file; raises StoreError."""
        await self.run(Outbox.used_bytes)

    async def run(self, work: Callable[[Outbox], T]) -> T:
        """Run ``work`` on the outbox and return what it returns. Raises StoreError."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._run_on_worker, work)

    async def close(self) -> None:
        """Finish pending work and close the file."""
        await asyncio.to_thread(self._worker.shutdown)
        if self._outbox is not None:
            self._outbox.close()

    def _run_on_worker(self, work: Callable[[Outbox], T]) -> T:
        try:
            result = work(self._opened())
        except sqlite3.OperationalError as error:
            self.error = f"outbox: {error}"
            raise StoreError(self.error) from error
        except sqlite3.DatabaseError as error:
            log.error("outbox: %s; reopening it", error)  # noqa: TRY400
            if self._outbox is not None:
                self._outbox.close()
                self._outbox = None
            self.error = f"outbox: {error}"
            raise StoreError(self.error) from error
        except (OSError, AlreadyRunningError) as error:
            self.error = f"outbox: {error}"
            raise StoreError(self.error) from error
        self.error = None
        return result

    def _opened(self) -> Outbox:
        """The open outbox. Opening is retried only every few seconds, since it reads the whole file."""
        if self._outbox is not None:
            return self._outbox
        now = time.monotonic()
        if self.error is not None and now < self._open_again_at:
            raise StoreError(self.error)
        self._open_again_at = now + OPEN_AGAIN_AFTER_S
        self._prepare()
        self._outbox = Outbox(self._folder, self._boot, self._max_bytes, self.dropped)
        self.damaged += self._outbox.was_damaged
        self._open_again_at = 0.0
        return self._outbox
