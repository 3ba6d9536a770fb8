"""Adverts of test beacons."""

from fake_bluez import Advert

SERVICE = "0000{}-0000-1000-8000-00805f9b34fb"


def address(number: int, first: int = 0xC0) -> str:
    """A device address."""
    return ":".join(f"{byte:02X}" for byte in [first, *number.to_bytes(5, "big")])


def number_of(device: str) -> int:
    """The number of an address made by `address`."""
    return int.from_bytes(bytes.fromhex(device.replace(":", ""))[1:], "big")


def ibeacon(number: int, rssi: int = -60) -> Advert:
    """An iBeacon: id ``E2C56DB5DFFB48D2B060D0F5A71096E0-1-<number>``."""
    data = bytes.fromhex("0215E2C56DB5DFFB48D2B060D0F5A71096E00001") + number.to_bytes(2, "big") + b"\xc5"
    return Advert(address(number), rssi, {0x004C: data})


def ibeacon_id(number: int) -> str:
    """Its id."""
    return f"E2C56DB5DFFB48D2B060D0F5A71096E0-1-{number}"


def tlm(number: int, battery_mv: int, rssi: int = -60) -> Advert:
    """An Eddystone TLM of the same device at 21.5 °C."""
    data = b"\x20\x00" + battery_mv.to_bytes(2, "big") + bytes.fromhex("1580" + "00" * 8)
    return Advert(address(number), rssi, service={SERVICE.format("feaa"): data})
