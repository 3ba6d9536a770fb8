"""MQTT payloads and topics."""

import json

from simulator.message import Reading, Receiver, batch, readings_topic, status, status_topic


def test_a_batch_matches_the_interface() -> None:
    payload = batch(1637396919123, 17, [Reading("C2A628384B08", -61)])
    readings = b'"readings":[{"beacon":"C2A628384B08","rssi":-61}]'
    assert payload == b'{"v":1,"ts":1637396919123,"seq":17,"simulated":true,' + readings + b"}"


def test_status() -> None:
    assert json.loads(status("online", 5, "1.0")) == {"state": "online", "ts": 5, "version": "1.0"}


def test_topics() -> None:
    assert readings_topic(Receiver("phone", "7")) == "sda/v1/phone/7/readings"
    assert readings_topic(Receiver("gateway", "gw")) == "sda/v1/gateway/gw/readings"
    assert status_topic("gw") == "sda/v1/gateway/gw/status"


def test_the_largest_batch_fits() -> None:
    assert len(batch(2**43, 2**31, [Reading("F" * 64, -126)] * 500)) < 64 * 1024
