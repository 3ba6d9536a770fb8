"""Resetting an adapter through the kernel, else through BlueZ. The test machine has no adapter, so the library's one
call is replaced; its arguments and everything after it are real."""

import asyncio

import pytest
from fake_bluez import FakeBluez
from gateway_agent.bluez import Adapter, reset_adapter
from private_bus import PrivateBus
from waiting import eventually


@pytest.fixture
def asked(bus: PrivateBus, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str, bool]]:
    """Calls of the library, which reports success."""
    calls: list[tuple[int, str, bool]] = []

    async def recover_adapter(hci: int, mac: str, gone_silent: bool) -> bool:
        calls.append((hci, mac, gone_silent))
        return True

    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)
    monkeypatch.setattr("gateway_agent.bluez.recover_adapter", recover_adapter)
    return calls


@pytest.mark.parametrize("name", ["", "hci0"])
def test_reset_through_the_kernel(name: str, asked: list[tuple[int, str, bool]], bluez: FakeBluez) -> None:
    assert asyncio.run(reset_adapter(name)) == "hci0 was reset through the kernel"
    assert asked == [(0, "B8:27:EB:00:00:01", True)]
    assert bluez.power_cycles == 0


def test_an_adapter_unknown_to_bluez_is_reset_by_name(asked: list[tuple[int, str, bool]]) -> None:
    assert "through the kernel" in asyncio.run(reset_adapter("hci1"))
    assert asked == [(1, "", True)]


def test_the_used_adapter_is_found_by_its_address(asked: list[tuple[int, str, bool]], bus: PrivateBus) -> None:
    used = Adapter("hci0", "DC:A6:32:00:00:01", True)
    with FakeBluez(bus.address, others={"hci4": used.address}):  # replugged, it has another number
        asyncio.run(reset_adapter("", used))
    asyncio.run(reset_adapter("", used))  # BlueZ no longer knows it
    assert asked == [(4, used.address, True), (0, used.address, True)]
    with FakeBluez(bus.address, others={"hci4": used.address, "hci7": used.address}):  # cheap adapters share an address
        asyncio.run(reset_adapter("", Adapter("hci7", used.address, True)))
    assert asked[-1] == (7, used.address, True)


@pytest.mark.parametrize("error", [None, RuntimeError("no socket"), OSError("not permitted")])
def test_reset_through_bluez_if_the_kernel_refuses(
    error: Exception | None, asked: list[tuple[int, str, bool]], bluez: FakeBluez, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no(*_: object, **__: object) -> bool:
        if error:
            raise error
        return False

    monkeypatch.setattr("gateway_agent.bluez.recover_adapter", no)
    assert "switched off and on through BlueZ" in asyncio.run(reset_adapter(""))
    eventually(lambda: bluez.power_cycles == 1, 15)
    assert not asked


def test_the_library_reports_missing_permission(bus: PrivateBus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)
    assert asyncio.run(reset_adapter("hci9")) == "BlueZ has no adapter hci9; is it plugged in?"
