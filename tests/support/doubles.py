"""Two devices with one account, which throw each other out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from .stack_client import end

ADDRESSES = ("127.0.0.11", "127.0.0.12")


@contextmanager
def doubles(
    authority: Path,
    port: int,
    account: str,
    password: str,
    protocol: MQTTProtocolVersion = MQTTProtocolVersion.MQTTv311,
    addresses: tuple[str, str] = ADDRESSES,
) -> Iterator[None]:
    """Two devices that connect over TLS from these addresses, again whenever they are disconnected."""
    devices = [_device(authority, port, account, password, protocol, address) for address in addresses]
    try:
        yield
    finally:
        for device in devices:
            end(device)


def _device(
    authority: Path, port: int, account: str, password: str, protocol: MQTTProtocolVersion, address: str
) -> mqtt.Client:
    device = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=account, protocol=protocol)
    device.username_pw_set(account, password)
    device.tls_set(ca_certs=str(authority))
    device.reconnect_delay_set(1, 2)
    device.connect("localhost", port, bind_address=address)
    device.loop_start()
    return device
