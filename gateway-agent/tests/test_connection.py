"""The log names the cause of a failed connection, while scanning and storing continue."""

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path

import pytest
from beacons import ibeacon, ibeacon_id
from fake_bluez import FakeBluez
from gateway_agent import config, sender
from gateway_agent.clock import Clock, ClockSync
from gateway_agent.collector import Collector
from gateway_agent.connection import Sample, connect
from gateway_agent.faults import LinkError
from gateway_agent.health import Counters, Reporter
from gateway_agent.mqtt import MQTT_311
from gateway_agent.outbox import Store, peek
from gateway_agent.readings import Topics
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.sender import Sender
from gateway_agent.settings import Settings
from gateway_agent.window import Intake
from real_broker import Broker
from running_agent import RunningAgent, StartAgent, write_toml
from scenarios import wait_until_all_arrived
from subscriber import Subscriber
from tcp_proxy import TcpProxy
from unknown_ca import self_signed
from unused_ports import unused_ports
from waiting import eventually

SCAN = {"window_ms": 200, "allow": [ibeacon_id(number) for number in range(100)]}


@pytest.mark.parametrize("kind", ["account", "ca", "refused", "name", "not_tls", "no_mqtt", "certificate_name"])
def test_a_fault_is_named_and_batches_are_kept(
    kind: str, start_agent: StartAgent, bluez: FakeBluez, broker: Broker, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("not the password")
    changed = {
        "account": {"password_file": wrong},
        "ca": {"ca_file": self_signed(tmp_path)},
        "refused": {"port": unused_ports(1)[0]},
        "name": {"host": "broker.invalid"},
        "not_tls": {"port": broker.port},
        "no_mqtt": {"tls": False, "ca_file": ""},
        "certificate_name": {"host": "127.1"},
    }[kind]
    agent = start_agent(scan=SCAN, broker=changed)
    eventually(lambda: bluez.scanning, 30, agent.log)
    agent.wait_for_log(f"[{kind}]")
    assert bluez.advertise(ibeacon(1))
    eventually(lambda: (found := peek(agent.state)) and found[0].waiting == 1, 30, agent.log)
    assert agent.running
    assert agent.log().count(f"[{kind}]") == 1  # logged once, not with every attempt


def test_a_corrected_password_works_without_a_restart(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber, tmp_path: Path
) -> None:
    word = tmp_path / "word"
    word.write_text("not the password")
    agent = start_agent(scan=SCAN, broker={"password_file": word})
    agent.wait_for_log("[account]")
    eventually(lambda: bluez.scanning, 30, agent.log)
    assert bluez.advertise(ibeacon(1))
    word.write_text(broker.add_account("gateway", "gw-test"))
    broker.reload()
    eventually(lambda: sum(platform.adverts().values()) == 1, 30, agent.log)


def revoke_publish(broker: Broker, topic: str) -> Callable[[], None]:
    """Remove the right to publish on a topic; returns a function that restores it."""
    acl = broker.data / "acl"
    allowed = acl.read_text()

    def write(rights: str) -> None:
        acl.write_text(rights)
        broker.reload()

    write(allowed.replace(f"topic write sda/v1/gateway/gw-test/{topic}\n", ""))
    return lambda: write(allowed)


@pytest.fixture
def stopped_agent(start_agent: StartAgent, platform: Subscriber) -> RunningAgent:
    """An agent that was connected and is stopped now."""
    agent = start_agent(scan=SCAN)
    eventually(lambda: platform.status() == "online", 30, agent.log)
    agent.stop()
    return agent


def test_denied_readings_are_logged_and_batches_are_kept(
    stopped_agent: RunningAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = stopped_agent
    restore = revoke_publish(broker, "readings")
    agent.start()
    agent.wait_for_log("does not let this account publish sda/v1/gateway/gw-test/readings [acl]")
    eventually(lambda: bluez.scanning, 30, agent.log)
    assert bluez.advertise(ibeacon(1))
    eventually(lambda: (found := peek(agent.state)) and found[0].waiting == 1, 30, agent.log)
    assert platform.status() == "offline"
    restore()
    eventually(lambda: sum(platform.adverts().values()) == 1, 30, agent.log)
    eventually(lambda: platform.status() == "online", 30, agent.log)


def test_denied_health_is_logged(
    stopped_agent: RunningAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = stopped_agent
    revoke_publish(broker, "health")
    agent.start()
    agent.wait_for_log("does not let this account publish sda/v1/gateway/gw-test/health [acl]")
    eventually(lambda: bluez.scanning, 30, agent.log)
    assert bluez.advertise(ibeacon(1))
    eventually(lambda: sum(platform.adverts().values()) == 1, 30, agent.log)


def test_readings_denied_while_connected_are_kept_with_a_reason(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan=SCAN)
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    restore = revoke_publish(broker, "readings")
    reason = "does not let this account publish sda/v1/gateway/gw-test/readings"

    def denied() -> bool:
        assert bluez.advertise(ibeacon(1))
        return f"{reason} [acl]" in agent.log()

    eventually(denied, 30, agent.log)
    eventually(lambda: platform.status() == "offline", 30, agent.log)
    eventually(lambda: reason in platform.messages("status")[-1].body.get("reason", ""), 30, agent.log)
    eventually(lambda: (found := peek(agent.state)) and found[0].waiting > 0, 30, agent.log)
    eventually(lambda: '"kind": "acl"' in agent.state_text(), 30, agent.log)
    doctor = agent.command("doctor").stdout
    assert "FAIL rights" in doctor
    assert reason in doctor
    restore()
    eventually(lambda: platform.status() == "online", 30, agent.log)
    assert "reason" not in platform.messages("status")[-1].body
    wait_until_all_arrived(bluez, platform, 30)


def test_a_right_removed_while_connected_is_reported_until_it_is_back(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan=SCAN)
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    restore = revoke_publish(broker, "health")
    agent.wait_for_log("does not let this account publish sda/v1/gateway/gw-test/health [acl]")
    eventually(lambda: "gw-test/health" in agent.state_text(), 30, agent.log)
    assert bluez.advertise(ibeacon(1))
    eventually(lambda: sum(platform.adverts().values()) == 1, 30, agent.log)
    restore()
    agent.wait_for_log("may publish sda/v1/gateway/gw-test/health again")
    eventually(lambda: "gw-test/health" not in agent.state_text(), 30, agent.log)
    assert agent.log().count("connected to") == 1


def test_a_broker_with_mqtt_3_only_gets_readings(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    with TcpProxy(broker.port, only_mqtt_3=True) as link:
        agent = start_agent(scan=SCAN, broker={"tls": False, "ca_file": "", "port": link.port})
        eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
        assert bluez.advertise(ibeacon(1))
        eventually(lambda: sum(platform.adverts().values()) == 1, 30, agent.log)
        assert link.versions == [5, 4]
        eventually(lambda: '"online": true' in agent.state_text(), 30, agent.log)
        assert "WARN rights" in agent.command("doctor").stdout
        agent.stop()


def test_the_first_retry_after_a_stable_connection_is_spread(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, word = good_settings(broker, tmp_path)
    monkeypatch.setattr(sender, "STEADY_AFTER_S", 0.0)
    monkeypatch.setattr(sender, "SPREAD_S", 0.1)
    monkeypatch.setattr(sender, "FIRST_RETRY_S", 30.0)  # any other pause exceeds this test's timeout

    async def connected_twice(link: TcpProxy) -> None:
        plain = {"SDA_GATEWAY_BROKER_TLS": "false", "SDA_GATEWAY_BROKER_CA_FILE": ""}
        port = {"SDA_GATEWAY_BROKER_PORT": str(link.port), "SDA_GATEWAY_BROKER_PASSWORD": word}
        settings, counters = config.load(tmp_path / "agent.toml", plain | port), Counters()
        clock, intake = Clock("trust"), Intake(ScanSettings(), False)
        store = Store(tmp_path, clock.boot, 1 << 20)
        clock_sync = ClockSync(clock, store)
        collector = Collector(intake, store, clock_sync, counters)
        reporter = Reporter(Topics.for_gateway(settings.id), clock_sync, store, intake, counters)
        await clock_sync.start()
        agent = Sender(settings, store, clock_sync, counters, collector, reporter)
        running = asyncio.create_task(agent.run())
        for connects in (1, 2):
            while counters.connects < connects:  # noqa: ASYNC110 - it counts, it does not call
                await asyncio.sleep(0.01)
            await asyncio.to_thread(link.cut)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await store.close()

    with TcpProxy(broker.port) as link:
        asyncio.run(asyncio.wait_for(connected_twice(link), 14))


def test_rights_are_probed_before_batches_with_a_late_time_are_sent(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber, tmp_path: Path
) -> None:
    synchronised = tmp_path / "synchronised"
    agent = start_agent(scan=SCAN, clock={"source": str(synchronised)})
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    agent.stop()
    restore = revoke_publish(broker, "readings")
    agent.start()
    eventually(lambda: agent.log().count("connected to") == 2 and bluez.scanning, 30, agent.log)
    assert bluez.advertise(ibeacon(1))
    eventually(lambda: (found := peek(agent.state)) and found[0].timeless == 1, 30, agent.log)
    synchronised.touch()
    agent.wait_for_log("does not let this account publish sda/v1/gateway/gw-test/readings [acl]")
    found = peek(agent.state)
    assert found is not None
    assert (found[0].waiting, found[0].held) == (1, 0)
    restore()
    eventually(lambda: sum(platform.adverts().values()) == 1, 30, agent.log)


def test_a_connection_lost_during_the_probe_grants_no_rights(broker: Broker, tmp_path: Path) -> None:
    settings, word = good_settings(broker, tmp_path)
    too_large = Sample("sda/v1/gateway/gw-test/readings", b"x" * 70_000)  # ends the connection

    async def probe() -> None:
        async with connect(settings, word) as connection:
            await connection.denied([too_large])

    with pytest.raises(LinkError) as caught:
        asyncio.run(probe())
    assert caught.value.fault.kind == "lost"


def test_a_client_certificate_is_used_when_required(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber, tmp_path: Path
) -> None:
    own = self_signed(tmp_path)
    listeners = broker.data / "listeners.d" / "listeners.conf"
    listeners.write_text(listeners.read_text() + f"require_certificate true\ncafile {own}\n")
    broker.stop()
    broker.start()
    agent = start_agent(scan=SCAN)
    agent.wait_for_log("[client_certificate]")
    agent.stop()
    agent.environment |= {
        "SDA_GATEWAY_BROKER_CLIENT_CERT": str(own),
        "SDA_GATEWAY_BROKER_CLIENT_KEY": str(tmp_path / "other.key"),
    }
    agent.start()
    eventually(lambda: platform.status() == "online", 30, agent.log)
    assert bluez.starts


def test_the_broker_session_persists(
    start_agent: StartAgent, bluez: FakeBluez, broker: Broker, platform: Subscriber
) -> None:
    agent = start_agent(scan=SCAN)
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    eventually(lambda: "c0, k30, u'gw-test'" in broker.log(), 30, broker.log)
    assert "c1, k30, u'gw-test'" not in broker.log()


def test_connections_leak_no_file_descriptors(broker: Broker, tmp_path: Path) -> None:
    good, word = good_settings(broker, tmp_path)
    nobody = config.load(tmp_path / "agent.toml", {"SDA_GATEWAY_BROKER_PORT": "1"})

    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    gc.collect()
    gc.disable()
    try:
        before = descriptors()
        for settings, password, expected in ((good, word, None), (good, "wrong", "account"), (nobody, word, "refused")):
            for _ in range(10):
                assert asyncio.run(fault_of(settings, password)) == expected
        assert descriptors() <= before + 2
    finally:
        gc.enable()


def good_settings(broker: Broker, folder: Path) -> tuple[Settings, str]:
    """Settings of a valid account, and its password."""
    word = broker.add_account("gateway", "gw-test")
    broker.reload()
    path = folder / "agent.toml"
    connection = {"host": "localhost", "port": broker.tls_port, "ca_file": broker.ca}
    write_toml(path, {"id": "gw-test", "broker": connection})
    settings = config.load(path, {})
    eventually(lambda: not asyncio.run(fault_of(settings, word)), 30, broker.log)
    return settings, word


async def fault_of(settings: Settings, password: str) -> str | None:
    """Connect once and disconnect; returns the kind of fault, if any."""
    try:
        async with connect(settings, password, versions=(MQTT_311,)):
            return None
    except LinkError as error:
        return error.fault.kind
