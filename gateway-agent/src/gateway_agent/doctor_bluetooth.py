"""`doctor`'s Bluetooth checks: BlueZ, its version, the adapter, adverts, permissions."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from gateway_agent import bluez
from gateway_agent.bluez import Adapter, BluezError
from gateway_agent.checks import Check, fail, ok, warn
from gateway_agent.scanner import ScanError, Scanner
from gateway_agent.settings import Settings

OLDEST_BLUEZ = (5, 55)  # required by bleak
SCAN_S = 3.0
_CAP_NET_ADMIN = 12
_AF_BLUETOOTH, _BTPROTO_HCI = 31, 1  # <sys/socket.h>; a Python built without BlueZ's headers lacks the names


async def examine(settings: Settings, known: dict[str, Any] | None) -> AsyncIterator[Check]:
    """Check BlueZ, its version, the adapter, adverts, and whether the adapter can be reset."""
    try:
        adapters = await bluez.adapters()
    except BluezError as error:
        yield _no_bluez(str(error))
        return
    yield await _version()
    wanted = settings.scan.adapter
    adapter = bluez.choose(adapters, wanted)
    if adapter is None:
        there = ", ".join(map(str, adapters)) or "none"
        yield fail(
            "adapter", f"BlueZ has no adapter {wanted or 'at all'} (it has: {there})", "plug one in; see `rfkill list`"
        )
        return
    if not adapter.powered:
        yield fail("adapter", f"{adapter.name} is switched off", "sudo rfkill unblock bluetooth; bluetoothctl power on")
        return
    yield _adapter(adapter, adapters, wanted, known)
    yield await _test_scan(settings) if known is None else _agent_scan(known)
    yield _permissions()


def _adapter(adapter: Adapter, there: list[Adapter], wanted: str, known: dict[str, Any] | None) -> Check:
    used = (known or {}).get("adapter") or str(adapter)
    if wanted or len(there) == 1:
        return ok("adapter", f"{adapter} is powered") if used == str(adapter) else _moved(used, adapter)
    found = f"{used} is used, of {len(there)} adapters: {', '.join(map(str, there))}"
    return warn("adapter", found, f'configure the right one: scan.adapter = "{used.rsplit(" ", 1)[-1]}"')


def _moved(used: str, adapter: Adapter) -> Check:
    return warn("adapter", f"{adapter} is powered, the agent scans with {used}", "restart the agent")


def _no_bluez(error: str) -> Check:
    if "AccessDenied" in error or "Permission denied" in error:
        return fail(
            "bluez", f"this user may not talk to BlueZ: {error}", "add it to the group bluetooth, then log in anew"
        )
    if "ServiceUnknown" in error or "NameHasNoOwner" in error:
        return fail("bluez", "bluetoothd is not running", "sudo systemctl enable --now bluetooth")
    return fail("bluez", error, "sudo systemctl status dbus bluetooth")


async def _version() -> Check:
    try:
        process = await asyncio.create_subprocess_exec(
            "bluetoothctl", "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        output, _ = await asyncio.wait_for(process.communicate(), 5)
    except (OSError, TimeoutError):
        output = b""
    found = re.search(rb"\b(\d{1,4})\.(\d{1,4})\b", output)
    oldest = ".".join(map(str, OLDEST_BLUEZ))
    if not found:
        return warn(
            "bluez", "answers; its version is not known", f"{oldest} or newer is needed; install bluetoothctl to see it"
        )
    version = (int(found[1]), int(found[2]))
    text = ".".join(map(str, version))
    if version < OLDEST_BLUEZ:
        return fail("bluez", f"version {text} is too old", f"upgrade the system: BlueZ {oldest} or newer is needed")
    return ok("bluez", f"version {text}")


async def _test_scan(settings: Settings) -> Check:
    heard: dict[str, int] = {}

    def count(address: str, _rssi: int, _manufacturer: object, _service: object) -> None:
        heard[address] = heard.get(address, 0) + 1

    scanner = Scanner(count, settings.scan.adapter)
    try:
        await scanner.start()
        await asyncio.sleep(SCAN_S)
        await scanner.stop()
    except ScanError as error:
        return fail("scanning", str(error), "sudo systemctl restart bluetooth; see its log")
    if not heard:
        return warn("scanning", f"no advert in {SCAN_S:.0f} s", "bring a beacon near; see `gateway-agent scan`")
    return ok("scanning", f"{sum(heard.values())} adverts of {len(heard)} devices in {SCAN_S:.0f} s")


def _agent_scan(known: dict[str, Any]) -> Check:
    if known.get("scan_error"):
        return fail("scanning", str(known["scan_error"]), "sudo systemctl restart bluetooth; see its log")
    health = known.get("health", {})
    adverts, restarts = health.get("adverts", 0), health.get("scan_restarts", 0)
    found = f"the agent has heard {adverts} adverts in {health.get('uptime_s', 0)} s, {restarts} scan restarts"
    return (
        ok("scanning", found) if adverts else warn("scanning", found, "bring a beacon near; see `gateway-agent scan`")
    )


def _permissions() -> Check:
    remedy = "only needed to revive a stuck adapter; the systemd unit grants CAP_NET_ADMIN, else BlueZ's switch is used"
    status = Path("/proc/self/status").read_text()
    effective = int(status.split("CapEff:")[1].split()[0], 16)
    if not effective >> _CAP_NET_ADMIN & 1:
        return warn("permissions", "scanning is allowed, resetting the adapter through the kernel is not", remedy)
    try:
        socket.socket(_AF_BLUETOOTH, socket.SOCK_RAW, _BTPROTO_HCI).close()
    except OSError as error:
        return warn("permissions", f"scanning is allowed; the kernel gives no Bluetooth socket ({error})", remedy)
    return ok("permissions", "scanning and resetting the adapter are allowed")
