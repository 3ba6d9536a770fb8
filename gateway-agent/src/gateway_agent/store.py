"""The outbox beside the event loop: one worker thread, since a write to a tired SD card may take seconds."""

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
    """The outbox could not do it (disk full, input/output error); the message says why. Trying again may help."""


class Store:
    """Hands work to the `Outbox` in order. A file found damaged while running is put aside and begun afresh.

    ``prepare`` makes the folder ready before the file is opened; may raise OSError and AlreadyRunningError.
    """

    def __init__(self, folder: Path, boot: str, max_bytes: int, prepare: Callable[[], None] = lambda: None) -> None:
        self.dropped: Counter[str] = Counter(dict.fromkeys(DROPPED, 0))
        self.error: str | None = None  # why the last work failed; None: it did not
        self.damaged = 0  # files put aside; nobody knows how many readings were in them
        self._folder, self._boot, self._max_bytes = folder, boot, max_bytes
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="outbox")
        self._prepare = prepare
        self._outbox: Outbox | None = None
        self._open_again_at = 0.0

    async def open(self) -> None:
        """Open the file; raises StoreError."""
        await self.do(Outbox.used_bytes)

    async def do(self, work: Callable[[Outbox], T]) -> T:
        """Run ``work`` on the outbox and return what it returns. Raises StoreError."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._guarded, work)

    async def close(self) -> None:
        """Finish what was handed over and close the file."""
        await asyncio.to_thread(self._worker.shutdown)
        if self._outbox is not None:
            self._outbox.close()

    def _guarded(self, work: Callable[[Outbox], T]) -> T:
        try:
            result = work(self._opened())
        except sqlite3.OperationalError as error:
            self.error = f"outbox: {error}"
            raise StoreError(self.error) from error
        except sqlite3.DatabaseError as error:
            log.error("outbox: %s; opening it afresh", error)  # noqa: TRY400 - the sentence is enough
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
        """The outbox. Opening it is tried again only every few seconds: each time reads the whole file."""
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
