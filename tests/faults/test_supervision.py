"""Crashed services are restarted, and the pipeline works again."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from ingest.private_broker import Session
from stack import health
from stack.lifecycle import up
from stack.pipeline import wait_until_healthy
from stack.settings import load
from support.running import RunningStack
from support.stack_client import batch, eventually, publish


@pytest.mark.parametrize("name", ["mosquitto", "influxd", "telegraf", "node-red"])
def test_a_killed_service_is_restarted(stack: RunningStack, name: str) -> None:
    first = stack.pid(name)
    os.kill(first, signal.SIGKILL)
    eventually(lambda: stack.pid(name) not in {0, first}, within_s=60, what=f"a new {name}")
    wait_until_healthy(stack.settings)


def test_up_again_changes_nothing(stack: RunningStack) -> None:
    names = ["mosquitto", "influxd", "telegraf", "node-red"]
    pids = [stack.pid(name) for name in names]
    files = {file: file.read_bytes() for file in (stack.data_dir / "broker").rglob("*") if _is_configuration(file.name)}
    again = up(stack.settings, report=lambda _: None, leave_out=("simulator",))
    assert again.values == stack.settings.values
    assert [stack.pid(name) for name in names] == pids
    assert files == {file: file.read_bytes() for file in files}


def test_up_saves_sessions_at_once(stack: RunningStack) -> None:
    """By itself the broker saves them after 30 s; until then a kill would lose what receivers send after it."""
    snapshot = stack.data_dir / "broker" / "mosquitto.db"
    before = snapshot.stat().st_mtime_ns
    stack.settings.broker.save(stack.settings)
    eventually(lambda: snapshot.stat().st_mtime_ns != before, within_s=5, what="a snapshot")
    assert b"telegraf/readings" in snapshot.read_bytes()


def _is_configuration(name: str) -> bool:
    return name in {"passwords", "acl", "listeners.conf", "ca.crt", "server.crt"}


@contextmanager
def reader(stack: RunningStack, *, keep: bool) -> Iterator[Session]:
    """A client with Node-RED's rights and its own session; `keep`: a persistent session."""
    session = Session("test-supervision", keep)
    session.client.username_pw_set("nodered", stack.secrets["MQTT_NODERED_PASSWORD"])
    session.client.connect("127.0.0.1", stack.ports.mqtt)
    session.client.loop_start()
    try:
        eventually(lambda: session.answer == "Success", what="the broker's answer")
        yield session
    finally:
        session.close()


def test_absent_sessions_keep_their_messages_over_new_accounts_and_a_second_up(stack: RunningStack) -> None:
    def publish_one() -> bytes:
        message = batch(("E7B0C5F00001", -70))
        publish(stack, ("phone/absent/readings", message))
        return json.dumps(message).encode()

    with reader(stack, keep=True) as before:
        before.subscribe("sda/v1/phone/absent/readings")
    stack.stop("mosquitto")
    stack.start("mosquitto")
    pid = stack.pid("mosquitto")
    up(stack.settings, report=lambda _: None, leave_out=("simulator",))
    assert stack.pid("mosquitto") == pid
    sent = [publish_one()]
    password = stack.command("account", "add", "phone", "supervised-1").strip()
    assert health.broker("127.0.0.1", stack.ports.mqtt, "supervised-1", password).up
    sent.append(publish_one())
    stack.command("account", "remove", "supervised-1")
    assert stack.pid("mosquitto") == pid
    assert not health.broker("127.0.0.1", stack.ports.mqtt, "supervised-1", password).up
    sent.append(publish_one())
    with reader(stack, keep=True) as after:
        eventually(lambda: {payload for _, payload in after.received} >= set(sent), what="all that was acknowledged")
    with reader(stack, keep=False):
        pass  # its session ends


def test_a_changed_password_restarts_the_broker_cleanly(stack: RunningStack) -> None:
    """A second `up` with another password restarts the broker cleanly: queues of others are kept."""
    message = batch(("E7B0C5F00001", -70))
    with reader(stack, keep=True) as before:
        before.subscribe("sda/v1/phone/absent/readings")
    publish(stack, ("phone/absent/readings", message))
    old = stack.secrets["MQTT_TELEGRAF_PASSWORD"]
    changed = load(stack.settings.env_file, {**stack.settings.environment, "MQTT_TELEGRAF_PASSWORD": "another-one"})
    try:
        wait_until_healthy(up(changed, report=lambda _: None, leave_out=("simulator",)))
        assert not health.broker("127.0.0.1", stack.ports.mqtt, "telegraf-readings", old).up
        assert health.broker("127.0.0.1", stack.ports.mqtt, "telegraf-readings", "another-one").up
    finally:
        wait_until_healthy(up(stack.settings, report=lambda _: None, leave_out=("simulator",)))
    with reader(stack, keep=True) as after:
        eventually(lambda: json.dumps(message).encode() in [payload for _, payload in after.received], within_s=60)
    with reader(stack, keep=False):
        pass  # its session ends
    assert "Assertion" not in stack.log("mosquitto", lines=1000)


def test_the_demos_account_exists_only_with_the_demo(stack: RunningStack) -> None:
    password = stack.secrets["MQTT_SIMULATOR_PASSWORD"]
    without = load(stack.settings.env_file, {**stack.settings.environment, "SIM": "0"})
    try:
        up(without, report=lambda _: None)
        eventually(lambda: not health.broker("127.0.0.1", stack.ports.mqtt, "simulator", password).up)
    finally:
        up(stack.settings, report=lambda _: None, leave_out=("simulator",))
    eventually(lambda: health.broker("127.0.0.1", stack.ports.mqtt, "simulator", password).up)
