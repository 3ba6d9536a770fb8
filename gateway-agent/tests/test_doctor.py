"""`doctor` finds and names each fault, and does not disturb a running agent."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from beacons import ibeacon
from fake_bluez import FakeBluez
from gateway_agent import config, doctor, state
from gateway_agent.__main__ import outbox_report
from gateway_agent.doctor import Check, Grade
from gateway_agent.settings import Settings
from private_bus import PrivateBus
from real_broker import Broker
from running_agent import RunningAgent, StartAgent
from scenarios import SCAN, each_beacon_once_a_second
from subscriber import Subscriber, publish_config
from unknown_ca import self_signed
from waiting import eventually


def collect(checks: AsyncIterator[Check]) -> dict[str, Check]:
    """The checks by name."""

    async def everything() -> dict[str, Check]:
        return {check.name: check async for check in checks}

    return asyncio.run(everything())


@pytest.fixture
def stopped_agent(start_agent: StartAgent, bluez: FakeBluez) -> RunningAgent:
    """A configured agent that is not running."""
    agent = start_agent(scan=SCAN)
    eventually(lambda: bluez.scanning, 30, agent.log)
    agent.stop()
    return agent


def test_no_fault(stopped_agent: RunningAgent, bluez: FakeBluez) -> None:
    bluez.start_traffic(each_beacon_once_a_second(), 50)
    done = stopped_agent.command("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line.split()[1]: line for line in done.stdout.splitlines() if line[:4].strip() in ("OK", "WARN", "FAIL")}
    assert "no faults found" in done.stdout
    for name in ("configuration", "disk", "adapter", "scanning", "broker", "tls", "account", "rights", "registered"):
        assert lines[name].startswith("OK"), done.stdout
    assert "200 beacons by scan.allow" in lines["registered"]


def test_a_running_agent_is_not_disturbed(
    start_agent: StartAgent, bluez: FakeBluez, platform: Subscriber, broker: Broker
) -> None:
    agent = start_agent(scan=SCAN)
    publish_config(broker.port, "gw-test", {"allow": ["C2A628384B08"]})
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    agent.wait_for_log("1 registered beacons")
    assert bluez.advertise(ibeacon(1))
    eventually(lambda: '"adverts": 1' in agent.state_text() and '"registered": 1' in agent.state_text(), 30, agent.log)
    done = agent.command("doctor")
    assert done.returncode == 0, done.stdout
    assert "is running" in done.stdout
    assert "the agent has heard 1 adverts" in done.stdout
    assert "OK   account       the agent is connected" in done.stdout
    assert "OK   rights        readings, status and health may be published" in done.stdout
    assert "OK   registered    1 beacons" in done.stdout
    assert agent.log().count("connected to") == 1
    assert "lost" not in agent.log()
    assert platform.status() == "online"


def test_faults_of_a_running_agent_are_reported(start_agent: StartAgent, bluez: FakeBluez) -> None:
    agent = start_agent(scan=SCAN, broker={"password": "wrong", "password_file": ""})
    agent.wait_for_log("[account]")
    eventually(lambda: "account" in agent.state_text() and bluez.scanning, 30, agent.log)
    done = agent.command("doctor")
    assert done.returncode == 1
    assert "FAIL account" in done.stdout, done.stdout
    assert "add gateway" in done.stdout


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("account", "account"),
        ("ca", "tls"),
        ("refused", "broker"),
        ("name", "broker"),
        ("name, odd", "broker"),
        ("not_tls", "tls"),
    ],
)
def test_faults_of_the_connection(
    fault: str, name: str, stopped_agent: RunningAgent, broker: Broker, tmp_path: Path
) -> None:
    overrides = {
        "account": {"SDA_GATEWAY_BROKER_PASSWORD_FILE": "", "SDA_GATEWAY_BROKER_PASSWORD": "wrong"},
        "ca": {"SDA_GATEWAY_BROKER_CA_FILE": str(self_signed(tmp_path))},
        "refused": {"SDA_GATEWAY_BROKER_PORT": "1"},
        "name": {"SDA_GATEWAY_BROKER_HOST": "broker.invalid"},
        "name, odd": {"SDA_GATEWAY_BROKER_HOST": "broker..invalid"},
        "not_tls": {"SDA_GATEWAY_BROKER_PORT": str(broker.port)},
    }[fault]
    checks = collect(doctor.broker(config.load(stopped_agent.config, overrides), None))
    assert checks[name].grade is Grade.FAIL
    assert f"[{fault.split(',')[0]}]" in checks[name].found
    assert checks[name].remedy


def test_refused_rights_and_missing_config(stopped_agent: RunningAgent, broker: Broker) -> None:
    settings = config.load(stopped_agent.config, {"SDA_GATEWAY_SCAN_ALLOW": ""})
    checks = collect(doctor.broker(settings, None))
    assert checks["rights"].grade is Grade.OK
    assert checks["registered"].grade is Grade.WARN
    acl = broker.data / "acl"
    acl.write_text(acl.read_text().replace("topic write sda/v1/gateway/gw-test/health\n", ""))
    broker.reload()
    publish_config(broker.port, "gw-test", {"allow": ["C2A628384B08"]})
    checks = collect(doctor.broker(settings, None))
    assert checks["rights"].grade is Grade.FAIL
    assert "sda/v1/gateway/gw-test/health" in checks["rights"].found
    assert checks["registered"].found == "1 beacons"
    publish_config(broker.port, "gw-test", {"allow": 3})
    assert collect(doctor.broker(settings, None))["registered"].grade is Grade.FAIL


def test_faults_of_bluetooth(
    stopped_agent: RunningAgent, bus: PrivateBus, bluez: FakeBluez, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)
    settings = config.load(stopped_agent.config, {})
    other = config.load(stopped_agent.config, {"SDA_GATEWAY_SCAN_ADAPTER": "hci7"})
    assert "hci7" in collect(doctor.bluetooth(other, {}))["adapter"].found
    bluez.set_powered(False)
    assert "switched off" in collect(doctor.bluetooth(settings, {}))["adapter"].found
    bluez.set_powered(True)
    bluez.in_progress = True
    assert "InProgress" in collect(doctor.bluetooth(settings, None))["scanning"].found
    bluez.in_progress = False
    bluez.remove_adapter()
    assert collect(doctor.bluetooth(settings, {}))["adapter"].grade is Grade.FAIL
    bluez.stop()
    assert collect(doctor.bluetooth(settings, {}))["bluez"].found == "bluetoothd is not running"
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere")
    assert "no system D-Bus" in collect(doctor.bluetooth(settings, {}))["bluez"].found


def test_a_user_that_may_not_talk_to_bluez(
    stopped_agent: RunningAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config.load(stopped_agent.config, {})
    (tmp_path / "other").mkdir()
    with PrivateBus(tmp_path / "other", denied="org.bluez") as bus, FakeBluez(bus.address):
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)
        checks = collect(doctor.bluetooth(settings, None))
    assert checks["bluez"].grade is Grade.FAIL
    assert "group bluetooth" in checks["bluez"].remedy


def test_a_user_without_permission_gets_an_error(stopped_agent: RunningAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    settings = config.load(stopped_agent.config, {})
    monkeypatch.setattr(state, "is_running", refuse)  # root, as which the tests may run, has every permission
    checks = collect(doctor.examine(settings))
    assert set(checks) == {"configuration", "agent"}
    assert "sudo -u" in checks["agent"].remedy
    code, text = outbox_report(settings)
    assert code == 1
    assert "sudo -u" in text


def test_a_full_or_nearly_full_disk(stopped_agent: RunningAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = config.load(stopped_agent.config, {})
    free_mib = 5
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free_mib << 20))
    assert doctor.disk(settings, running=True).grade is Grade.FAIL
    free_mib = 300
    assert "outbox.max_mib to 200" in doctor.disk(settings, running=True).remedy
    free_mib = 400
    assert doctor.disk(settings, running=True).grade is Grade.OK
    assert "disk I/O error" in doctor.disk(settings, True, "outbox: disk I/O error").found


def test_readable_secrets_are_reported(stopped_agent: RunningAgent) -> None:
    settings = config.load(stopped_agent.config, {})
    word = Path(settings.broker.password_file)
    word.chmod(0o640)
    assert doctor.files(settings).grade is Grade.OK
    word.chmod(0o644)
    assert doctor.files(settings).remedy == f"sudo chmod o= {word}"


def test_disk_and_clock(stopped_agent: RunningAgent, tmp_path: Path) -> None:
    def settings(**environment: str) -> Settings:
        return config.load(stopped_agent.config, environment)

    assert doctor.disk(settings(), running=False).grade is Grade.OK
    assert doctor.disk(settings(SDA_GATEWAY_STATE_DIR=str(tmp_path / "none")), running=False).grade is Grade.FAIL
    assert doctor.clock(settings(SDA_GATEWAY_CLOCK_SOURCE=str(tmp_path / "none"))).grade is Grade.FAIL
    assert doctor.clock(settings(SDA_GATEWAY_CLOCK_SOURCE=str(tmp_path))).grade is Grade.OK
