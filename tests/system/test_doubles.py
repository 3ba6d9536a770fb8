"""Two devices with one account are recognised, and an alert names both addresses."""

from typing import Any

import pytest
from paho.mqtt.enums import MQTTProtocolVersion
from support import web
from support.doubles import ADDRESSES, doubles
from support.running import RunningStack
from support.stack_client import eventually, get

WITHIN_S = 30.0


def shared(stack: RunningStack, account: str) -> dict[str, Any] | None:
    """The alert of the account, if any."""
    alerts: list[dict[str, Any]] = get(stack, "/api/v1/alerts").json()["alerts"]
    return next((one for one in alerts if one["id"] == f"account_shared:{account}"), None)


@pytest.mark.parametrize(
    ("kind", "protocol"), [("gateway", MQTTProtocolVersion.MQTTv311), ("phone", MQTTProtocolVersion.MQTTv5)]
)
def test_two_devices_with_one_account_raise_an_alert(
    stack: RunningStack, kind: str, protocol: MQTTProtocolVersion
) -> None:
    account = f"double-{kind}"
    password = stack.command("account", "add", kind, account).strip()
    with doubles(stack.authority, stack.ports.mqtts, account, password, protocol):
        found = eventually(lambda: shared(stack, account), WITHIN_S, "the alert") or {}
    assert (found["severity"], found["ended_ms"]) == ("critical", None)
    assert all(address in found["text"] for address in ADDRESSES), found["text"]
    assert f"rotate {account}" in found["todo"]
    figures = web.get(f"{stack.http_url}/metrics").text
    assert any(
        line.startswith("sda_session_takeovers_total ") and float(line.split()[1]) >= 3 for line in figures.splitlines()
    )
    stack.command("account", "remove", account)


def test_devices_behind_one_address_are_distinguished_by_their_ports(stack: RunningStack) -> None:
    password = stack.command("account", "add", "gateway", "double-nat").strip()
    with doubles(stack.authority, stack.ports.mqtts, "double-nat", password, addresses=(ADDRESSES[0], ADDRESSES[0])):
        found = eventually(lambda: shared(stack, "double-nat"), WITHIN_S, "the alert") or {}
    assert f"Two devices at {ADDRESSES[0]} use the account double-nat, or its one device loses" in found["text"]
    stack.command("account", "remove", "double-nat")
