"""Scans with bleak. Every scan has its own thread, event loop and D-Bus connection.

bleak keeps its BlueZ state per event loop. A new loop drops stale state after a restart of bluetoothd (old devices, a
lock held by an unanswered call). BlueZ ends the old scan when its connection closes, even if the stop request failed.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from bleak import BleakScanner
from bleak.backends.bluezdbus.scanner import BleakScannerBlueZDBus
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from bleak.exc import BleakError
from dbus_fast import DBusFastError

from gateway_agent import bluez
from gateway_agent.bluez import Adapter, BluezError

if TYPE_CHECKING:
    from bleak.args.bluez import BlueZScannerArgs

T = TypeVar("T")

# BlueZ answers in milliseconds or not at all; a frozen bluetoothd must not freeze us.
ANSWER_WITHIN_S = 5.0
ENDS_WITHIN_S = 15.0  # for the thread: an unanswered call, its cancellation, closing the connection

OnAdvert = Callable[[str, int, Mapping[int, bytes], Mapping[str, bytes]], None]
"""Called from the scanner's thread with address, RSSI in dBm, manufacturer data and service data of every advert."""


class ScanError(Exception):
    """BlueZ refused or did not answer; the message has its answer."""


class _UncachedScanner(BleakScannerBlueZDBus):
    """Skips bleak's cache of every device's last advert: it is never read and costs half of the CPU time."""

    def create_or_update_device(
        self, key: str, address: str, name: str | None, details: object, adv: AdvertisementData
    ) -> BLEDevice:
        """The device of one advert, not cached."""
        del key, adv
        return BLEDevice(address, name, details)


class Scanner:
    """One scan from start to stop. Make a new object for each scan.

    ``wanted``: name or address of an adapter; empty: see `bluez.choose`. ``adapter`` is the chosen one.
    """

    def __init__(self, on_advert: OnAdvert, wanted: str) -> None:
        self._on_advert = on_advert
        self._wanted = wanted
        self.adapter: Adapter | None = None
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._abandoned = False

    async def start(self) -> None:
        """Start scanning. Raises ScanError with BlueZ's answer."""
        outer = asyncio.get_running_loop()
        started: asyncio.Future[ScanError | None] = outer.create_future()
        self._stopped: asyncio.Future[ScanError | None] = outer.create_future()

        def resolve(future: asyncio.Future[ScanError | None], error: ScanError | None) -> None:
            if not outer.is_closed():
                outer.call_soon_threadsafe(lambda: None if future.done() else future.set_result(error))

        def thread() -> None:
            error: ScanError | None = ScanError("the scanner failed; see the log")
            try:
                asyncio.run(self._scan(lambda: resolve(started, None)))
                error = None
            except ScanError as answer:
                error = answer
            finally:
                resolve(started, error)
                resolve(self._stopped, error)

        threading.Thread(target=thread, name="scanner", daemon=True).start()
        try:
            error = await self._result(started)
        except asyncio.CancelledError:
            self._request_stop()
            raise
        if error:
            raise error

    async def stop(self) -> None:
        """Stop scanning in any case. Raises ScanError if BlueZ reports an error."""
        self._request_stop()
        if error := await self._result(self._stopped):
            raise error

    async def _result(self, answer: asyncio.Future[ScanError | None]) -> ScanError | None:
        """The thread's result. A hanging thread is abandoned and its adverts are ignored."""
        done, _ = await asyncio.wait([answer], timeout=ENDS_WITHIN_S)
        if done:
            return answer.result()
        self._request_stop()
        self._abandoned = True
        return ScanError(f"the scanner hangs: no answer from its thread within {ENDS_WITHIN_S:.0f} s")

    def _request_stop(self) -> None:
        if self._own_loop is not None and not self._own_loop.is_closed():
            self._own_loop.call_soon_threadsafe(self._stop.set)

    async def _scan(self, started: Callable[[], None]) -> None:
        self._own_loop = asyncio.get_running_loop()
        self.adapter = await _with_timeout("find an adapter", self._choose())
        # Without DuplicateData BlueZ reports a stationary beacon only once. Without a name bleak may pick another
        # adapter at each start.
        arguments: BlueZScannerArgs = {"filters": {"DuplicateData": True}, "adapter": self.adapter.name}
        scanner = BleakScanner(self._on_detection, bluez=arguments, backend=_UncachedScanner)
        await _with_timeout("start scanning", scanner.start())
        started()
        await self._stop.wait()
        await _with_timeout("stop scanning", scanner.stop())

    async def _choose(self) -> Adapter:
        found = await bluez.adapters()
        chosen = bluez.choose(found, self._wanted)
        if chosen is None:
            there = ", ".join(map(str, found)) or "none"
            raise ScanError(f"BlueZ has no adapter{' ' + self._wanted if self._wanted else ''} (it has: {there})")
        return chosen

    def _on_detection(self, device: BLEDevice, advert: AdvertisementData) -> None:
        if not self._abandoned:
            self._on_advert(device.address, advert.rssi, advert.manufacturer_data, advert.service_data)


async def _with_timeout(what: str, answer: Awaitable[T]) -> T:
    try:
        return await asyncio.wait_for(answer, ANSWER_WITHIN_S)
    except TimeoutError as error:
        raise ScanError(f"{what}: no answer from BlueZ within {ANSWER_WITHIN_S:.0f} s") from error
    except (BleakError, BluezError, DBusFastError, OSError, EOFError) as error:
        raise ScanError(f"{what}: {error}") from error
