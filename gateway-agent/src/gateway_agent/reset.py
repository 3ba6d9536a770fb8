"""Resets an adapter: through the kernel (power cycle, rfkill, USB reset), else through BlueZ.

bluetooth-auto-recovery needs CAP_NET_ADMIN and an AF_BLUETOOTH management socket. In a container or for an ordinary
user it gives up; BlueZ can then still switch the adapter off and on.
"""

import logging

from bluetooth_auto_recovery import recover_adapter

from gateway_agent import bluez
from gateway_agent.bluez import Adapter, BluezError

log = logging.getLogger(__name__)


async def reset_adapter(wanted: str, used: Adapter | None = None) -> str:
    """Reset the adapter in use; if none was used yet, the one that ``wanted`` (name, address or empty) selects.

    Returns a description of the result.
    """
    try:
        adapters = await bluez.adapters()
    except BluezError as error:
        adapters = []
        log.debug("%s", error)
    same = [adapter for adapter in adapters if used and (adapter.name, adapter.address) == (used.name, used.address)]
    chosen = same[0] if same else bluez.choose(adapters, used.address if used else wanted)
    known = chosen or used
    hci = known.name if known else wanted if wanted.startswith("hci") else "hci0"
    address = known.address if known else wanted if ":" in wanted else ""
    if await _reset_through_kernel(hci, address):
        return f"{hci} was reset through the kernel"
    if chosen is None:
        missing = str(used) if used else wanted
        return f"BlueZ has no adapter{' ' + missing if missing else ''}; is it plugged in?"
    try:
        await bluez.power_cycle(chosen.name)
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
