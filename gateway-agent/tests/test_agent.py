"""The whole agent: unmodified bleak, a fake BlueZ, a real Mosquitto with the platform's own accounts and rights."""

import time

import pytest
from beacons import ibeacon, ibeacon_id, tlm
from fake_bluez import Advert, FakeBluez
from gateway_agent.outbox import peek
from real_broker import Broker
from running_agent import RunningAgent, StartAgent
from subscriber import Subscriber, publish_config
from waiting import eventually

BEACON, ADDRESS = "C2A628384B08", "C2:A6:28:38:4B:08"


def ready(agent: RunningAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    """Wait until the agent scans and is connected."""
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)


def test_a_beacon_arrives_as_readings(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent(scan={"allow": ["c2:a6:28:38:4b:08"], "window_ms": 200})
    ready(agent, bluez, platform)
    before = time.time()
    for rssi in (-61, -61, -70):  # BlueZ signals the second only if duplicates are wanted
        assert bluez.advertise(Advert(ADDRESS, rssi))
    eventually(lambda: platform.adverts().get(BEACON) == 3, 30, agent.log)
    batches = [message.body for message in platform.messages("readings") if message.body["readings"]]
    assert all(batch["v"] == 1 and before * 1000 <= batch["ts"] <= time.time() * 1000 for batch in batches)
    assert all(message.topic == "sda/v1/gateway/gw-test/readings" for message in platform.messages("readings"))


def test_status_is_offline_after_a_stop_and_after_a_kill(
    start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber
) -> None:
    agent = start_agent()
    ready(agent, bluez, platform)
    assert agent.stop() == 0
    eventually(lambda: platform.status() == "offline", 15)
    agent.start()
    ready(agent, bluez, platform)
    agent.kill()
    eventually(lambda: platform.status() == "offline", 15)
    said = platform.messages("status")
    assert [message.body["state"] for message in said if not message.retained] == [
        *("offline", "online", "offline") * 2,  # rights are probed before `online`
    ]
    assert all(set(message.body) == {"state", "ts", "version"} for message in said)


def test_a_config_message_applies_at_once(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan={"window_ms": 200})
    ready(agent, bluez, platform)
    assert bluez.advertise(Advert(ADDRESS, -60))
    eventually(lambda: '"dropped_unregistered": 1' in agent.state_text(), 30, agent.log)
    publish_config(broker.port, "gw-test", {"v": 1, "allow": [BEACON], "rssi_offset": -5, "min_rssi": -80})
    agent.wait_for_log("1 registered beacons")
    for rssi in (-60, -76):
        assert bluez.advertise(Advert(ADDRESS, rssi))
        eventually(lambda: bluez.emitted[ADDRESS] == agent.adverts(), 30, agent.log)
    eventually(lambda: platform.adverts().get(BEACON) == 1, 30, agent.log)
    assert [reading["rssi"] for reading in platform.readings().values()] == [-65]
    eventually(lambda: '"dropped_weak": 1' in agent.state_text(), 30, agent.log)


def test_a_wrong_config_message_changes_nothing(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan={"window_ms": 200, "allow": [BEACON]})
    ready(agent, bluez, platform)
    publish_config(broker.port, "gw-test", {"v": 1, "allow": [], "window_ms": 1})
    agent.wait_for_log("window_ms is 1")
    assert bluez.advertise(Advert(ADDRESS, -60))
    eventually(lambda: platform.adverts().get(BEACON) == 1, 30, agent.log)
    eventually(lambda: platform.messages("health")[-1].body["config_refused"] == 1, 30, agent.log)


@pytest.fixture
def configured_agent(start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber) -> RunningAgent:
    """An agent that got its registered beacon by a `config` message."""
    agent = start_agent(scan={"window_ms": 200})
    ready(agent, bluez, platform)
    publish_config(broker.port, "gw-test", {"v": 1, "allow": [BEACON]})
    agent.wait_for_log("1 registered beacons")
    return agent


def test_the_last_config_holds_over_a_restart_without_a_broker(
    configured_agent: RunningAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = configured_agent
    agent.stop()
    broker.stop()
    agent.start()
    eventually(lambda: bluez.scanning, 30, agent.log)
    assert bluez.advertise(Advert(ADDRESS, -60))
    eventually(lambda: agent.command("outbox").stdout.count("waiting      1 readings"), 30, agent.log)
    broker.start()
    eventually(lambda: platform.adverts().get(BEACON) == 1, 30, agent.log)
    publish_config(broker.port, "gw-test", None)
    agent.wait_for_log("no registered beacons")


def test_a_config_cleared_while_the_agent_is_stopped_is_cleared_in_the_agent(
    configured_agent: RunningAgent, broker: Broker
) -> None:
    configured_agent.stop()
    publish_config(broker.port, "gw-test", None)
    configured_agent.start()
    configured_agent.wait_for_log("no registered beacons")


def test_telemetry_from_a_separate_advert_is_joined(
    start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber
) -> None:
    agent = start_agent(scan={"window_ms": 200, "allow": [ibeacon_id(1)]})
    ready(agent, bluez, platform)
    assert bluez.advertise(ibeacon(1))
    assert bluez.advertise(tlm(1, 2950))
    eventually(lambda: any("battery_mv" in reading for reading in platform.readings().values()), 30, agent.log)
    (said,) = [reading for reading in platform.readings().values() if "battery_mv" in reading]
    assert (said["battery_mv"], said["temperature_c"], said["tx"]) == (2950, 21.5, -59)


def test_health_has_the_keys_of_the_contract(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent(scan={"window_ms": 200, "allow": [BEACON]})
    ready(agent, bluez, platform)
    assert bluez.advertise(Advert(ADDRESS, -60))
    eventually(
        lambda: platform.messages("health") and platform.messages("health")[-1].body["acked"] == 1, 10, agent.log
    )
    health = platform.messages("health")[-1].body
    assert abs(health["ts"] / 1000 - time.time()) < 5
    expected = {"adverts": 1, "published": 1, "acked": 1, "queued": 0, "dropped": 0, "scan_restarts": 0}
    expected |= {"registered": 1, "window_ms": 200, "rssi_offset": 0}
    assert {name: health[name] for name in expected} == expected
    assert {"dropped_age", "dropped_size", "dropped_time", "dropped_disk", "dropped_unregistered"} <= set(health)
    assert {"uptime_s", "clock_synchronised", "version", "outbox_bytes"} <= set(health)
    assert all(isinstance(value, int | float) for name, value in health.items() if name != "version")


def test_a_damaged_outbox_is_counted(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent()
    ready(agent, bluez, platform)
    agent.stop()
    (agent.state / "outbox.sqlite3").write_bytes(b"no database" * 1000)
    agent.start()
    eventually(
        lambda: any(message.body["outbox_damaged"] == 1 for message in platform.messages("health")), 30, agent.log
    )


def test_state_files_are_private(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent()
    ready(agent, bluez, platform)
    kept = list(agent.state.iterdir())
    assert "outbox.sqlite3" in {path.name for path in kept}
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept), kept


def test_a_second_ctrl_c_does_not_abort_the_shutdown(
    start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber
) -> None:
    agent = start_agent(scan={"window_ms": 60_000, "allow": [BEACON]})
    ready(agent, bluez, platform)
    assert bluez.advertise(Advert(ADDRESS, -60))
    eventually(lambda: agent.adverts() == 1, 30, agent.log)
    eventually(lambda: not agent.interrupted(), 60, agent.log)
    found = peek(agent.state)
    assert found is not None
    assert found[0].waiting == 1
    assert platform.status() == "offline"


def test_two_agents_do_not_share_an_outbox(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent()
    ready(agent, bluez, platform)
    second = agent.command("run")
    assert second.returncode == 1
    assert "is running on" in second.stderr


def test_unregistered_beacons_can_be_published(start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber) -> None:
    agent = start_agent(scan={"window_ms": 1000, "unregistered": "publish"})
    ready(agent, bluez, platform)
    for number in range(300):
        assert bluez.advertise(ibeacon(number))
    eventually(lambda: agent.adverts() == 300, 30, agent.log)
    eventually(lambda: len(platform.adverts()) == 256, 30, agent.log)
    eventually(lambda: '"unregistered_distinct": 256' in agent.state_text(), 30, agent.log)
