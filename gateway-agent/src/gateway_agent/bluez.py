"""BlueZ over D-Bus for what bleak lacks: lists the adapters, switches their power, resets one.

A reset goes through the kernel (power cycle, rfkill, USB reset), else through BlueZ: bluetooth-auto-recovery needs
CAP_NET_ADMIN and an AF_BLUETOOTH management socket. In a container or for an ordinary user it gives up; BlueZ can then
still switch the adapter off and on.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bluetooth_auto_recovery import recover_adapter
from dbus_fast import BusType, DBusFastError, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

log = logging.getLogger(__name__)

_BLUEZ, _ADAPTER = "org.bluez", "org.bluez.Adapter1"
ANSWER_WITHIN_S = 10.0
OFF_S = 1.0  # the controller needs a moment to go down before it can come up


class BluezError(Exception):
    """D-Bus or BlueZ is missing, or BlueZ refused."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One Bluetooth adapter, as BlueZ reports it."""

    name: str
    address: str
    powered: bool
    central: bool = True  # can scan

    def __str__(self) -> str:
        return f"{self.name} {self.address}"

    @property
    def number(self) -> int:
        """3 of hci3."""
        return int(self.name.removeprefix("hci"))


def choose(found: list[Adapter], wanted: str) -> Adapter | None:
    """The adapter named ``wanted`` (name or address). Empty: the powered adapter with the lowest address.

    Adapter numbers depend on the order of detection at boot; addresses are stable.
    """
    if wanted:
        candidates = [adapter for adapter in found if wanted.upper() in (adapter.name.upper(), adapter.address.upper())]
    else:
        candidates = [adapter for adapter in found if adapter.central]
    return min(candidates, key=lambda adapter: (not adapter.powered, adapter.address, adapter.number), default=None)


async def adapters() -> list[Adapter]:
    """All adapters, by number. Raises BluezError."""
    async with _bus() as bus:
        (objects,) = await _call(bus, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        found = [
            _adapter(path.rsplit("/", 1)[1], entry[_ADAPTER]) for path, entry in objects.items() if _ADAPTER in entry
        ]
        return sorted(found, key=lambda adapter: adapter.number)


def _adapter(name: str, properties: dict[str, Variant]) -> Adapter:
    roles = properties.get("Roles")
    central = roles is None or "central" in roles.value
    return Adapter(name, properties["Address"].value, properties["Powered"].value, central)


async def power_cycle(name: str) -> None:
    """Switch an adapter off and on. Raises BluezError."""
    async with _bus() as bus:
        for powered in (False, True):
            body = [_ADAPTER, "Powered", Variant("b", powered)]
            await _call(bus, f"/org/bluez/{name}", "org.freedesktop.DBus.Properties", "Set", "ssv", body)
            if not powered:
                await asyncio.sleep(OFF_S)


async def reset_adapter(wanted: str, used: Adapter | None = None) -> str:
    """Reset the adapter in use; if none was used yet, the one that ``wanted`` (name, address or empty) selects.

    Returns a description of the result.
    """
    try:
        found = await adapters()
    except BluezError as error:
        found = []
        log.debug("%s", error)
    same = [adapter for adapter in found if used and (adapter.name, adapter.address) == (used.name, used.address)]
    chosen = same[0] if same else choose(found, used.address if used else wanted)
    known = chosen or used
    hci = known.name if known else wanted if wanted.startswith("hci") else "hci0"
    address = known.address if known else wanted if ":" in wanted else ""
    if await _reset_through_kernel(hci, address):
        return f"{hci} was reset through the kernel"
    if chosen is None:
        missing = str(used) if used else wanted
        return f"BlueZ has no adapter{' ' + missing if missing else ''}; is it plugged in?"
    try:
        await power_cycle(chosen.name)
    except BluezError as error:
        return (
            f"{hci} could not be reset, neither through the kernel (CAP_NET_ADMIN is needed) nor through BlueZ: {error}"
        )
    return f"{hci} was switched off and on through BlueZ (a reset through the kernel needs CAP_NET_ADMIN)"


async def _reset_through_kernel(hci: str, address: str) -> bool:
    try:
        return await recover_adapter(int(hci.removeprefix("hci")), address, gone_silent=True)
    except Exception as error:  # noqa: BLE001 - no error of this library may stop the scan
        log.warning("resetting %s through the kernel failed: %s", hci, error)
        return False


@asynccontextmanager
async def _bus() -> AsyncIterator[MessageBus]:
    try:
        bus = MessageBus(bus_type=BusType.SYSTEM)
        async with asyncio.timeout(ANSWER_WITHIN_S):
            await bus.connect()
    except (OSError, DBusFastError, TimeoutError, EOFError) as error:
        address = os.environ.get("DBUS_SYSTEM_BUS_ADDRESS", "/run/dbus/system_bus_socket")
        raise BluezError(f"no system D-Bus at {address}: {error}") from error
    try:
        yield bus
    finally:
        bus.disconnect()


async def _call(
    bus: MessageBus, path: str, interface: str, member: str, signature: str = "", body: list[Any] | None = None
) -> list[Any]:
    message = Message(
        destination=_BLUEZ, path=path, interface=interface, member=member, signature=signature, body=body or []
    )
    try:
        async with asyncio.timeout(ANSWER_WITHIN_S):
            reply = await bus.call(message)
    except (TimeoutError, EOFError, DBusFastError) as error:
        raise BluezError(f"BlueZ does not answer: {error or 'no reply'}") from error
    if reply is None or reply.message_type is MessageType.ERROR:
        raise BluezError(f"BlueZ says {reply.error_name if reply else 'nothing'}: {reply.body if reply else ''}")
    return reply.body
