"""Resetting an adapter: the kernel's way where it is open, else BlueZ's. There is no adapter here to reset through a
kernel, so that one call is played; what it is asked with, and what comes after it, is real."""

import asyncio

import pytest
from gateway_agent import reset
from gateway_agent.bluez import Adapter
from played_bluez import PlayedBluez
from private_bus import PrivateBus
from waiting import eventually


@pytest.fixture
def asked(bus: PrivateBus, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str, bool]]:
    """What the library was asked; it answers yes."""
    calls: list[tuple[int, str, bool]] = []

    async def recover_adapter(hci: int, mac: str, gone_silent: bool) -> bool:
        calls.append((hci, mac, gone_silent))
        return True

    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)
    monkeypatch.setattr(reset, "recover_adapter", recover_adapter)
    return calls


@pytest.mark.parametrize("name", ["", "hci0"])
def test_through_the_kernel(name: str, asked: list[tuple[int, str, bool]], bluez: PlayedBluez) -> None:
    assert asyncio.run(reset.reset_adapter(name)) == "hci0 was reset through the kernel"
    assert asked == [(0, "B8:27:EB:00:00:01", True)]
    assert bluez.power_cycles == 0


def test_an_adapter_that_bluez_lost_is_asked_for_by_name(asked: list[tuple[int, str, bool]]) -> None:
    assert "through the kernel" in asyncio.run(reset.reset_adapter("hci1"))
    assert asked == [(1, "", True)]


def test_the_adapter_that_was_used_is_found_again_by_its_address(
    asked: list[tuple[int, str, bool]], bus: PrivateBus
) -> None:
    used = Adapter("hci0", "DC:A6:32:00:00:01", True)
    with PlayedBluez(bus.address, others={"hci4": used.address}):  # plugged in anew, it has got another number
        asyncio.run(reset.reset_adapter("", used))
    asyncio.run(reset.reset_adapter("", used))  # BlueZ does not know it any more
    assert asked == [(4, used.address, True), (0, used.address, True)]
    with PlayedBluez(bus.address, others={"hci4": used.address, "hci7": used.address}):  # cheap ones share an address
        asyncio.run(reset.reset_adapter("", Adapter("hci7", used.address, True)))
    assert asked[-1] == (7, used.address, True)


@pytest.mark.parametrize("error", [None, RuntimeError("no socket"), OSError("not permitted")])
def test_through_bluez_where_the_kernel_says_no(
    error: Exception | None, asked: list[tuple[int, str, bool]], bluez: PlayedBluez, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no(*_: object, **__: object) -> bool:
        if error:
            raise error
        return False

    monkeypatch.setattr(reset, "recover_adapter", no)
    assert "switched off and on through BlueZ" in asyncio.run(reset.reset_adapter(""))
    eventually(lambda: bluez.power_cycles == 1, 15)
    assert not asked


def test_the_library_itself_gives_up_with_a_word_where_it_may_not(
    bus: PrivateBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)
    assert asyncio.run(reset.reset_adapter("hci9")) == "BlueZ has no adapter hci9; is it plugged in?"
