"""What crashes comes back, and the chain is whole again afterwards."""

import os
import signal

import pytest
from stack import health
from stack.lifecycle import up
from stack.pipeline import wait_until_whole
from stack.settings import load
from support.running import RunningStack
from support.talk import eventually


@pytest.mark.parametrize("name", ["mosquitto", "influxd", "telegraf", "node-red"])
def test_killed_service_comes_back_by_itself(stack: RunningStack, name: str) -> None:
    first = stack.pid(name)
    os.kill(first, signal.SIGKILL)
    eventually(lambda: stack.pid(name) not in {0, first}, within_s=30, what=f"a new {name}")
    wait_until_whole(stack.settings)


def test_up_again_changes_nothing(stack: RunningStack) -> None:
    names = ["mosquitto", "influxd", "telegraf", "node-red"]
    pids = [stack.pid(name) for name in names]
    files = {file: file.read_bytes() for file in (stack.data_dir / "broker").rglob("*") if _is_configuration(file.name)}
    again = up(stack.settings, tell=lambda _: None, leave_out=("simulator",))
    assert again.values == stack.settings.values
    assert [stack.pid(name) for name in names] == pids
    assert files == {file: file.read_bytes() for file in files}


def _is_configuration(name: str) -> bool:
    return name in {"passwords", "acl", "listeners.conf", "ca.crt", "server.crt"}


def test_changed_password_reaches_the_running_broker(stack: RunningStack) -> None:
    """A second `up` with another password provisions the broker anew and restarts only who uses it."""
    first = stack.pid("mosquitto")
    changed = load(stack.settings.env_file, {**stack.settings.environment, "MQTT_TELEGRAF_PASSWORD": "another-one"})
    try:
        wait_until_whole(up(changed, tell=lambda _: None, leave_out=("simulator",)))
    finally:
        wait_until_whole(up(stack.settings, tell=lambda _: None, leave_out=("simulator",)))
    assert stack.pid("mosquitto") == first


def test_without_the_demo_its_account_is_gone_and_comes_back_with_it(stack: RunningStack) -> None:
    password = stack.secrets["MQTT_SIMULATOR_PASSWORD"]
    without = load(stack.settings.env_file, {**stack.settings.environment, "SIM": "0"})
    try:
        up(without, tell=lambda _: None)
        eventually(lambda: not health.broker("127.0.0.1", stack.ports.mqtt, "simulator", password).up)
    finally:
        up(stack.settings, tell=lambda _: None, leave_out=("simulator",))
    eventually(lambda: health.broker("127.0.0.1", stack.ports.mqtt, "simulator", password).up)
