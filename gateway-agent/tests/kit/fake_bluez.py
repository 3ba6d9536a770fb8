"""A fake bluetoothd: `org.bluez` with one adapter on a private bus, which unmodified bleak scans.

It copies the behaviour of BlueZ that matters to a scanner: it signals adverts only during a scan and repeated adverts
only if duplicates are wanted, removes a silent device after 30 s, and ends a scan with its connection. It counts
emitted adverts per address and misbehaves on demand.
"""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
_OBJECTS = "org.freedesktop.DBus.ObjectManager"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_ADAPTER = "org.bluez.Adapter1"
_DEVICE = "org.bluez.Device1"
_RSSI_STEP = 8  # dB: what BlueZ calls a change where duplicates were not asked for
_TICK_S = 0.01
_UNREAD = 50  # messages


@dataclass(frozen=True, slots=True)
class Advert:
    """One advert. Keys: company ids and full-length service UUIDs."""

    address: str
    rssi: int
    manufacturer: dict[int, bytes] = field(default_factory=dict)
    service: dict[str, bytes] = field(default_factory=dict)


class FakeBluez:
    """Context manager; starts its own thread with its own event loop. All methods may be called from any thread."""

    def __init__(
        self,
        bus_address: str,
        adapter: str = "hci0",
        forget_after_s: float = 30.0,
        others: Mapping[str, str] | None = None,
    ) -> None:
        """``others``: name -> address of adapters that are powered, can scan, and never receive an advert."""
        self.emitted: Counter[str] = Counter()
        self.log: list[tuple[float, str]] = []
        self.starts = 0
        self.lookups = 0
        self.refused = 0
        self.unanswered = 0
        self.power_cycles = 0
        self.started_on: list[str] = []
        """Names of the adapters on which a scan was started, in order."""
        self.switched: list[str] = []
        """Names of the adapters that were switched off, in order."""
        self.silent = False  # until a new scan starts
        self.wedged = False  # silent until the adapter's power is cycled
        self.in_progress = False  # every request is answered with InProgress
        self.mute = False  # no request is answered at all
        self.keep_log = False
        self._bus_address = bus_address
        self._path = f"/org/bluez/{adapter}"
        self._others = {f"/org/bluez/{name}": address for name, address in (others or {}).items()}
        self._forget_after_s = forget_after_s
        self._bus: MessageBus | None = None
        self._present = True
        self._powered = True
        self._sessions: dict[str, bool] = {}
        self._filters: dict[str, bool] = {}
        self._devices: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, float] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-bluez", daemon=True)
        self._playing: Future[None] | None = None

    def __enter__(self) -> "FakeBluez":
        self._thread.start()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_traffic()
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    # Actions of bluetoothd.

    def start(self) -> None:
        """Start (again), without devices and scanners."""
        self._run(self._start())

    def stop(self) -> None:
        """Stop: org.bluez no longer answers."""
        self._run(self._stop())

    def remove_adapter(self) -> None:
        """Unplug the adapter."""
        self._run(self._remove_adapter())

    def add_adapter(self) -> None:
        """Plug it in again."""
        self._run(self._add_adapter())

    def set_powered(self, powered: bool) -> None:
        """Switch the adapter on or off."""
        self._run(self._set_powered(powered))

    @property
    def scanning(self) -> bool:
        """Whether a scan is running."""
        return bool(self._sessions)

    def advertise(self, advert: Advert) -> bool:
        """Receive one advert; returns whether it was signalled."""
        return self._run(self._advertise(advert))

    def start_traffic(self, adverts: Iterator[Advert], per_second: float) -> None:
        """Receive adverts at a rate, in the background, until `stop_traffic`."""
        self.stop_traffic()
        self._playing = asyncio.run_coroutine_threadsafe(self._play(adverts, per_second), self._loop)

    def stop_traffic(self) -> None:
        """Stop the traffic; all emitted adverts are counted when this returns."""
        if self._playing is not None:
            playing, self._playing = self._playing, None
            if playing.done():
                playing.result()
            playing.cancel()
            self._run(asyncio.sleep(0))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _start(self) -> None:
        self._sessions, self._filters, self._devices, self._seen = {}, {}, {}, {}
        self._bus = await MessageBus(bus_address=self._bus_address).connect()
        self._bus.add_message_handler(self._answer)
        rule = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'"
        await self._bus.call(
            Message(
                destination="org.freedesktop.DBus",
                path="/org/freedesktop/DBus",
                interface="org.freedesktop.DBus",
                member="AddMatch",
                signature="s",
                body=[rule],
            )
        )
        await self._bus.request_name("org.bluez")

    async def _stop(self) -> None:
        if self._bus is not None:
            bus, self._bus = self._bus, None
            self._sessions = {}
            bus.disconnect()
            await bus.wait_for_disconnect()  # type: ignore[no-untyped-call]

    async def _remove_adapter(self) -> None:
        for address in list(self._devices):
            await self._forget(address)
        self._present, self._sessions = False, {}
        await self._signal("/", _OBJECTS, "InterfacesRemoved", "oas", [self._path, [_ADAPTER]])

    async def _add_adapter(self) -> None:
        self._present, self._powered = True, True
        await self._signal("/", _OBJECTS, "InterfacesAdded", "oa{sa{sv}}", [self._path, {_ADAPTER: self._adapter()}])

    async def _until_read(self) -> None:
        """Wait for the bus: its socket takes a few hundred messages, and dbus-fast fails on a full one."""
        if self._bus is not None:
            ping = Message(
                destination="org.freedesktop.DBus",
                path="/org/freedesktop/DBus",
                interface="org.freedesktop.DBus.Peer",
                member="Ping",
            )
            with contextlib.suppress(EOFError):  # it was stopped meanwhile
                await self._bus.call(ping)

    async def _set_powered(self, powered: bool) -> None:
        if powered and not self._powered:
            self.power_cycles += 1
            self.wedged = False
        self._powered = powered
        if not powered:
            self._sessions = {}
        changed = [_ADAPTER, {"Powered": Variant("b", powered)}, []]
        await self._signal(self._path, _PROPERTIES, "PropertiesChanged", "sa{sv}as", changed)

    async def _play(self, adverts: Iterator[Advert], per_second: float) -> None:
        due, last = 0.0, time.monotonic()
        while True:
            await asyncio.sleep(_TICK_S)
            now = time.monotonic()
            due, last = due + (now - last) * per_second, now
            while due >= 1:
                due -= 1
                advert = next(adverts, None)
                if advert is None:
                    return
                await self._advertise(advert)
                if due % _UNREAD < 1:
                    await self._until_read()
            await self._until_read()
            for address in [address for address, at in self._seen.items() if now - at > self._forget_after_s]:
                await self._forget(address)

    async def _advertise(self, advert: Advert) -> bool:
        if not (self._bus and self._present and self._powered and self._sessions) or self.silent or self.wedged:
            return False
        now = time.monotonic()
        known = self._devices.get(advert.address)
        changed = self._changed(known, advert)
        path = f"{self._path}/dev_{advert.address.replace(':', '_')}"
        self._seen.pop(advert.address, None)
        self._seen[advert.address] = now
        if not changed:
            return False
        if known is None:
            device = {**self._device(advert), **changed}
            self._devices[advert.address] = device
            await self._signal("/", _OBJECTS, "InterfacesAdded", "oa{sa{sv}}", [path, {_DEVICE: device}])
        else:
            known.update(changed)
            await self._signal(path, _PROPERTIES, "PropertiesChanged", "sa{sv}as", [_DEVICE, changed, []])
        self.emitted[advert.address] += 1
        if self.keep_log:
            self.log.append((now, advert.address))
        return True

    def _changed(self, known: dict[str, Any] | None, advert: Advert) -> dict[str, Any]:
        """Device1 properties to signal: all for a new device or if duplicates are wanted."""
        manufacturer = {company: Variant("ay", data) for company, data in advert.manufacturer.items()}
        service = {uuid: Variant("ay", data) for uuid, data in advert.service.items()}
        if known is not None:  # BlueZ keeps the latest of every company and service
            manufacturer = {**known["ManufacturerData"].value, **manufacturer}
            service = {**known["ServiceData"].value, **service}
        changed = {
            "RSSI": Variant("n", advert.rssi),
            "ManufacturerData": Variant("a{qv}", manufacturer),
            "ServiceData": Variant("a{sv}", service),
        }
        if known is None or any(self._sessions.values()):
            return changed
        if abs(known["RSSI"].value - advert.rssi) < _RSSI_STEP:
            del changed["RSSI"]
        return {name: value for name, value in changed.items() if known[name] != value}

    def _device(self, advert: Advert) -> dict[str, Any]:
        return {
            "Address": Variant("s", advert.address),
            "AddressType": Variant("s", "random"),
            "Adapter": Variant("o", self._path),
            "Alias": Variant("s", advert.address.replace(":", "-")),
            "Connected": Variant("b", False),
            "Paired": Variant("b", False),
            "UUIDs": Variant("as", []),
        }

    def _adapter(self) -> dict[str, Any]:
        return {
            "Address": Variant("s", "B8:27:EB:00:00:01"),
            "Powered": Variant("b", self._powered),
            "Discovering": Variant("b", bool(self._sessions)),
            "Roles": Variant("as", ["central", "peripheral"]),
        }

    async def _forget(self, address: str) -> None:
        del self._devices[address]
        del self._seen[address]
        path = f"{self._path}/dev_{address.replace(':', '_')}"
        await self._signal("/", _OBJECTS, "InterfacesRemoved", "oas", [path, [_DEVICE]])

    async def _signal(self, path: str, interface: str, member: str, signature: str, body: list[Any]) -> None:
        if self._bus is not None:
            await self._bus.send(Message.new_signal(path, interface, member, signature, body))

    # Method calls.

    def _answer(self, message: Message) -> Message | bool | None:
        if message.message_type is MessageType.SIGNAL:
            if message.member == "NameOwnerChanged" and not message.body[2]:
                self._sessions.pop(message.body[0], None)
            return None
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        if self.mute:
            self.unanswered += 1
            return True
        if message.interface == _OBJECTS and message.member == "GetManagedObjects":
            self.lookups += 1
            objects: dict[str, Any] = {path: {_ADAPTER: self._other(path)} for path in self._others}
            if self._present:
                objects[self._path] = {_ADAPTER: self._adapter()}
            for address, device in self._devices.items():
                objects[f"{self._path}/dev_{address.replace(':', '_')}"] = {_DEVICE: device}
            return Message.new_method_return(message, "a{oa{sa{sv}}}", [objects])
        if message.path in self._others:
            return self._other_call(message)
        if not self._present or message.path != self._path:
            return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownObject", "no such adapter")
        if message.interface == _ADAPTER:
            return self._adapter_call(message)
        if message.interface == _PROPERTIES:
            return self._property_call(message)
        return None

    def _adapter_call(self, message: Message) -> Message:
        sender = message.sender or ""
        if message.member == "SetDiscoveryFilter":
            duplicates = message.body[0].get("DuplicateData")
            self._filters[sender] = bool(duplicates and duplicates.value)
        elif self.in_progress:
            self.refused += 1
            return Message.new_error(message, "org.bluez.Error.InProgress", "Operation already in progress")
        elif not self._powered:
            return Message.new_error(message, "org.bluez.Error.NotReady", "Resource Not Ready")
        elif message.member == "StartDiscovery":
            self.starts += 1
            self.started_on.append(self._path.rsplit("/", 1)[1])
            self.silent = False
            self._sessions[sender] = self._filters.get(sender, False)
        elif message.member == "StopDiscovery":
            if self._sessions.pop(sender, None) is None:
                return Message.new_error(message, "org.bluez.Error.Failed", "No discovery started")
        else:
            return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", str(message.member))
        return Message.new_method_return(message)

    def _property_call(self, message: Message) -> Message:
        if message.member == "GetAll":
            return Message.new_method_return(message, "a{sv}", [self._adapter()])
        if message.member == "Get":
            return Message.new_method_return(message, "v", [self._adapter()[message.body[1]]])
        assert message.member == "Set"
        assert message.body[1] == "Powered"
        if not message.body[2].value:
            self.switched.append(self._path.rsplit("/", 1)[1])
        self._loop.create_task(self._set_powered(bool(message.body[2].value)))
        return Message.new_method_return(message)

    def _other(self, path: str) -> dict[str, Any]:
        return {**self._adapter(), "Address": Variant("s", self._others[path]), "Powered": Variant("b", True)}

    def _other_call(self, message: Message) -> Message:
        path = message.path or ""
        if message.member == "StartDiscovery":
            self.started_on.append(path.rsplit("/", 1)[1])
        if message.member == "Set":
            self.switched.append(path.rsplit("/", 1)[1])
        if message.member == "GetAll":
            return Message.new_method_return(message, "a{sv}", [self._other(path)])
        if message.member == "Get":
            return Message.new_method_return(message, "v", [self._other(path)[message.body[1]]])
        return Message.new_method_return(message)
