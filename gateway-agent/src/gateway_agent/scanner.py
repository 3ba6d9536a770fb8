"""Scanning with bleak, and nothing else. Every scan has a thread, an event loop and a D-Bus connection of its own.

bleak keeps what it knows of BlueZ per event loop: with a fresh one nothing stale outlives a restart of bluetoothd
(devices it will never hear of again, a lock held by a call that nobody answers), and BlueZ ends the old scan with its
connection, whatever became of our request to stop.
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
ENDS_WITHIN_S = 15.0  # of the thread: an answer that never comes, the cancelling of it, the closing of its connection

Heard = Callable[[str, int, Mapping[int, bytes], Mapping[str, bytes]], None]
"""Called from the scanner's thread with address, RSSI in dBm, manufacturer data and service data of every advert."""


class ScanError(Exception):
    """BlueZ did not do what was asked; the message says what it answered."""


class _Forgetful(BleakScannerBlueZDBus):
    """bleak keeps the last advert of every device for a question we never ask; that is half of what a crowd costs."""

    def create_or_update_device(
        self, key: str, address: str, name: str | None, details: object, adv: AdvertisementData
    ) -> BLEDevice:
        """The device of one advert, not remembered."""
        del key, adv
        return BLEDevice(address, name, details)


class Scanner:
    """One scan from start to stop. Make another object instead of starting one twice.

    ``wanted``: name or address of an adapter; empty: see `bluez.choose`. ``adapter`` is the one that was chosen.
    """

    def __init__(self, heard: Heard, wanted: str) -> None:
        self._heard = heard
        self._wanted = wanted
        self.adapter: Adapter | None = None
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._left_behind = False

    async def start(self) -> None:
        """Begin; raises ScanError with BlueZ's answer."""
        outer = asyncio.get_running_loop()
        started: asyncio.Future[ScanError | None] = outer.create_future()
        self._stopped: asyncio.Future[ScanError | None] = outer.create_future()

        def tell(future: asyncio.Future[ScanError | None], error: ScanError | None) -> None:
            if not outer.is_closed():
                outer.call_soon_threadsafe(lambda: None if future.done() else future.set_result(error))

        def thread() -> None:
            error: ScanError | None = ScanError("the scanner failed; see the log")
            try:
                asyncio.run(self._scan(lambda: tell(started, None)))
                error = None
            except ScanError as answer:
                error = answer
            finally:
                tell(started, error)
                tell(self._stopped, error)

        threading.Thread(target=thread, name="scanner", daemon=True).start()
        try:
            error = await self._in_time(started)
        except asyncio.CancelledError:
            self._end()
            raise
        if error:
            raise error

    async def stop(self) -> None:
        """End, whatever BlueZ says to it; raises ScanError with what that was."""
        self._end()
        if error := await self._in_time(self._stopped):
            raise error

    async def _in_time(self, answer: asyncio.Future[ScanError | None]) -> ScanError | None:
        """The thread's answer. One that hangs is left behind, and nothing more is taken from it."""
        done, _ = await asyncio.wait([answer], timeout=ENDS_WITHIN_S)
        if done:
            return answer.result()
        self._end()
        self._left_behind = True
        return ScanError(f"the scanner hangs: no answer from its thread within {ENDS_WITHIN_S:.0f} s")

    def _end(self) -> None:
        if self._own_loop is not None and not self._own_loop.is_closed():
            self._own_loop.call_soon_threadsafe(self._stop.set)

    async def _scan(self, started: Callable[[], None]) -> None:
        self._own_loop = asyncio.get_running_loop()
        self.adapter = await _answered("find an adapter", self._choose())
        # Without DuplicateData BlueZ tells of a beacon that stands still once and never again. Without a name bleak
        # takes another adapter at each start.
        arguments: BlueZScannerArgs = {"filters": {"DuplicateData": True}, "adapter": self.adapter.name}
        scanner = BleakScanner(self._on_advert, bluez=arguments, backend=_Forgetful)
        await _answered("start scanning", scanner.start())
        started()
        await self._stop.wait()
        await _answered("stop scanning", scanner.stop())

    async def _choose(self) -> Adapter:
        found = await bluez.adapters()
        chosen = bluez.choose(found, self._wanted)
        if chosen is None:
            there = ", ".join(map(str, found)) or "none"
            raise ScanError(f"BlueZ has no adapter{' ' + self._wanted if self._wanted else ''} (it has: {there})")
        return chosen

    def _on_advert(self, device: BLEDevice, advert: AdvertisementData) -> None:
        if not self._left_behind:
            self._heard(device.address, advert.rssi, advert.manufacturer_data, advert.service_data)


async def _answered(what: str, answer: Awaitable[T]) -> T:
    try:
        return await asyncio.wait_for(answer, ANSWER_WITHIN_S)
    except TimeoutError as error:
        raise ScanError(f"{what}: no answer from BlueZ within {ANSWER_WITHIN_S:.0f} s") from error
    except (BleakError, BluezError, DBusFastError, OSError, EOFError) as error:
        raise ScanError(f"{what}: {error}") from error
