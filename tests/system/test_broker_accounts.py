"""Accounts are added, changed and removed while the broker runs; provisioning again changes nothing."""

import re
import socket
import ssl
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ingest.private_broker import (
    ENVIRONMENT,
    PASSWORDS,
    SERVICES,
    PrivateBroker,
    private_broker,
    run_tool,
)
from store import Store
from support.certificates import resign
from support.stack_client import eventually


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateBroker]:
    with private_broker(tmp_path / "broker") as running:
        yield running


@pytest.fixture(scope="module")
def running(broker_kind: type[PrivateBroker], tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateBroker]:
    """One for all tests of accounts that come and go."""
    with private_broker(tmp_path_factory.mktemp("broker"), kind=broker_kind) as broker:
        yield broker


CUT_WITHIN_S = 2.0


def accepted(broker: PrivateBroker, username: str, password: str) -> bool:
    with broker.session(username, password) as session:
        return session.answer == "Success"


def test_account_added_to_a_running_broker_works_at_once(running: PrivateBroker) -> None:
    password = running.accounts("add", "gateway", "pi-lobby")
    eventually(lambda: accepted(running, "pi-lobby", password), what="the new account let in")


def test_a_removed_account_is_cut_within_two_seconds_and_others_stay_connected(running: PrivateBroker) -> None:
    gone, stays = running.accounts("add", "phone", "17"), running.accounts("add", "phone", "18")
    eventually(lambda: accepted(running, "17", gone) and accepted(running, "18", stays), what="both let in")
    before = running.pid
    with running.session("17", gone) as first, running.session("18", stays) as second:
        running.accounts("remove", "17")
        eventually(lambda: first.losses, within_s=CUT_WITHIN_S, what="the removed account cut off")
        assert not accepted(running, "17", gone)
        second.client.publish("sda/v1/phone/18/readings", b"{}", qos=1).wait_for_publish(5)
        assert second.losses == []
    assert running.pid == before
    assert "phone\t18" in running.accounts("list")
    assert "phone\t17" not in running.accounts("list")


def test_a_changed_password_ends_the_connections_with_the_old_one(running: PrivateBroker) -> None:
    old = running.accounts("add", "phone", "19")
    eventually(lambda: accepted(running, "19", old), what="the account let in")
    with running.session("19", old) as session:
        new = running.accounts("rotate", "19")
        eventually(lambda: session.losses, within_s=CUT_WITHIN_S, what="the old password cut off")
    eventually(lambda: accepted(running, "19", new), what="the new password accepted")


def test_the_flows_read_which_connection_has_taken_a_session(running: PrivateBroker) -> None:
    """Also of clients of MQTT 3.1.1, which are not told why they were disconnected."""
    password = running.accounts("add", "gateway", "twice")
    eventually(lambda: accepted(running, "twice", password), what="the account let in")
    with running.session("nodered") as flows:
        flows.subscribe("$SYS/broker/log/N")

        def lines() -> str:
            return "\n".join(payload.decode() for _, payload in flows.received)

        with running.session("twice", password, tls=True, client_id="twice") as first:
            first.client.reconnect_delay_set(30, 60)
            with running.session("twice", password, tls=True, client_id="twice"):
                taken = r"Client twice \[(127\.0\.0\.1|::1):(\d+)\] disconnected: session taken over\."
                by = r"New client connected from (127\.0\.0\.1|::1):(\d+) as twice \(p\d, c\d, k\d+, u'twice'\)\."
                both = re.compile(f"{taken}\n.*{by}$", re.MULTILINE)
                eventually(lambda: both.search(lines()), 10, "both lines, one after the other")


def test_a_broker_with_nothing_to_do_reports_its_uptime_every_ten_seconds(broker: PrivateBroker) -> None:
    """Mosquitto 2.1 by itself does so only if a message wakes it in the right second; losses would not be noticed."""
    with broker.session("nodered") as flows:
        flows.subscribe("$SYS/broker/uptime")
        eventually(lambda: len(flows.received) >= 3, within_s=25, what="the retained one and two more")


def test_a_right_that_is_taken_ends_while_the_client_stays_connected(broker: PrivateBroker) -> None:
    password = broker.accounts("add", "reader", "wallboard")
    with broker.session("wallboard", password) as reader, broker.session("nodered-publisher") as flows:
        reader.subscribe("sda/v1/events")
        flows.client.publish("sda/v1/events", b"before", qos=1).wait_for_publish(5)
        eventually(lambda: reader.received, what="an event")
        rights = (broker.folder / "acl").read_text()
        before, block, after = rights.partition("user wallboard")
        store = Store(broker.folder)
        store.replace(broker.folder / "acl", before + block + after.replace("topic read sda/v1/events\n", "", 1))
        assert store.wait_until_applied()
        flows.client.publish("sda/v1/events", b"denied", qos=1).wait_for_publish(5)
        store.replace(broker.folder / "acl", rights)
        assert store.wait_until_applied()
        flows.client.publish("sda/v1/events", b"after", qos=1).wait_for_publish(5)
        eventually(lambda: len(reader.received) > 1, what="an event after the right is back")
        assert [payload for _, payload in reader.received] == [b"before", b"after"]
        assert reader.losses == flows.losses == []


def test_absent_sessions_keep_their_messages_over_changes_of_accounts(broker: PrivateBroker) -> None:
    """Also those of before a restart, whose passwords the broker does not know any more."""
    passwords = {name: broker.accounts("add", "gateway", name) for name in ("early", "late")}

    def publish(payload: bytes) -> None:
        with broker.session("nodered-publisher") as flows:
            for name in passwords:
                flows.client.publish(f"sda/v1/gateway/{name}/config", payload, qos=1).wait_for_publish(5)

    def visit(name: str) -> list[bytes]:
        with broker.session(name, passwords[name], client_id=name, keep=True) as session:
            session.subscribe(f"sda/v1/gateway/{name}/config")
            publish(b"")
            eventually(lambda: b"" in [payload for _, payload in session.received], what="the newest message")
            return [payload for _, payload in session.received]

    visit("early")
    broker.restart()
    visit("late")
    sent = []
    for number in range(5):
        sent.append(f"{number}".encode())
        publish(sent[-1])
        broker.accounts("add", "phone", f"{number}")
    for name in passwords:
        assert [payload for payload in visit(name) if payload] == sent, name


def test_several_accounts_are_added_all_or_none(tmp_path: Path) -> None:
    broker = PrivateBroker(tmp_path)
    broker.provision()
    broker.accounts("add", "phone", "18")
    for arguments in (["add", "phone", "17", "18"], ["add", "phone", "17", "a/b"], ["remove", "18", "19"]):
        assert run_tool("broker/accounts.py", "--data", tmp_path, *arguments).returncode == 1
        assert broker.accounts("list") == "phone\t18"


def test_rotated_password_replaces_the_old_one(running: PrivateBroker) -> None:
    old = running.accounts("add", "reader", "wallboard")
    new = running.accounts("rotate", "wallboard")
    eventually(lambda: accepted(running, "wallboard", new), what="the new password accepted")
    assert not accepted(running, "wallboard", old)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["add", "gateway", "has space"], "not a usable id"),
        (["add", "gateway", "a/b"], "not a usable id"),
        (["add", "gateway", "+"], "not a usable id"),
        (["add", "phone", "x" * 65], "not a usable id"),
        (["add", "phone", "telegraf"], "own services"),
        (["add", "phone", "pi-1"], "unique over all kinds"),
        (["remove", "nobody"], "no account"),
        (["rotate", "telegraf"], "no account"),
    ],
)
def test_invalid_commands_are_refused_with_the_reason(tmp_path: Path, arguments: list[str], why: str) -> None:
    broker = PrivateBroker(tmp_path)
    broker.provision()
    broker.accounts("add", "gateway", "pi-1")
    before = contents(tmp_path)
    done = run_tool("broker/accounts.py", "--data", tmp_path, *arguments)
    assert done.returncode == 1
    assert why in done.stderr
    assert contents(tmp_path) == before


def test_provisioning_again_changes_nothing(tmp_path: Path) -> None:
    broker = PrivateBroker(tmp_path)
    broker.provision()
    broker.accounts("add", "gateway", "pi-1")
    before = contents(tmp_path)
    assert broker.provision() == "broker: nothing to change\n"
    assert contents(tmp_path) == before


def test_a_changed_password_changes_only_its_own_line(tmp_path: Path) -> None:
    broker = PrivateBroker(tmp_path)
    broker.provision()
    before = (tmp_path / "passwords").read_text().splitlines()
    broker.provision(environment=ENVIRONMENT | {"MQTT_NODERED_PASSWORD": "another"})
    after = (tmp_path / "passwords").read_text().splitlines()
    changed = {line.split(":")[0] for line in set(after) - set(before)}
    assert changed == {"nodered", "nodered-publisher", "nodered-operator", "nodered-probe"}


def test_no_simulator_account_unless_enabled(broker: PrivateBroker) -> None:
    assert accepted(broker, "simulator", PASSWORDS["simulator"])
    broker.provision("--no-simulator")
    assert "simulator" not in (broker.folder / "passwords").read_text()
    broker.restart()
    eventually(lambda: not accepted(broker, "simulator", PASSWORDS["simulator"]), what="the simulator refused")


def test_only_the_owner_can_read_secrets(tmp_path: Path) -> None:
    PrivateBroker(tmp_path / "data").provision()
    readable = [path for path in (tmp_path / "data").rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert readable == []
    for password in PASSWORDS.values():
        assert password not in "".join(text for text in contents(tmp_path / "data").values())


@pytest.mark.parametrize("missing", ["MQTT_TELEGRAF_PASSWORD", "MQTT_NODERED_PASSWORD"])
def test_missing_password_is_named(tmp_path: Path, missing: str) -> None:
    rest = {name: value for name, value in ENVIRONMENT.items() if name != missing}
    done = run_tool("broker/provision.py", "--data", tmp_path, environment=rest)
    assert done.returncode == 1
    assert missing in done.stderr


def test_damaged_accounts_are_reported_and_not_changed(tmp_path: Path) -> None:
    (tmp_path / "accounts.json").write_text('{"pi-1": "toaster"}')
    done = run_tool("broker/provision.py", "--data", tmp_path, environment=ENVIRONMENT)
    assert done.returncode == 1
    assert "accounts.json is damaged" in done.stderr
    assert (tmp_path / "accounts.json").read_text() == '{"pi-1": "toaster"}'


def test_hashes_match_mosquitto_passwd(tmp_path: Path) -> None:
    """A file of mosquitto_passwd is kept unchanged, so both use the same hashes."""
    broker = PrivateBroker(tmp_path)
    broker.provision()
    for name, (password, _) in SERVICES.items():
        subprocess.run(["mosquitto_passwd", "-b", tmp_path / "passwords", name, password], check=True)
    written = sorted((tmp_path / "passwords").read_text().splitlines())
    broker.provision()
    assert sorted((tmp_path / "passwords").read_text().splitlines()) == written


def test_server_certificate_is_renewed_before_it_ends_and_for_a_new_name(tmp_path: Path) -> None:
    broker = PrivateBroker(tmp_path)
    broker.provision("--name", "broker.example")
    tls = tmp_path / "tls"
    first, authority = (tls / "server.crt").read_bytes(), (tls / "ca.crt").read_bytes()
    assert "server certificate" not in broker.provision("--name", "broker.example")
    assert "server certificate for localhost, 127.0.0.1, other.example, fe80::1" in broker.provision(
        "--name", "other.example", "--name", "fe80::1"
    )
    second = (tls / "server.crt").read_bytes()
    assert second != first
    assert broker.provision("--name", "other.example", "--name", "fe80::1") == "broker: nothing to change\n"
    resign(tls, days=29)
    assert "server certificate" in broker.provision("--name", "other.example", "--name", "fe80::1")
    assert (tls / "ca.crt").read_bytes() == authority


def test_names_under_which_receivers_connect_come_from_the_environment(broker: PrivateBroker) -> None:
    """The broker uses the new certificate after its next start by `make up`."""
    context = ssl.create_default_context(cafile=broker.folder / "tls" / "ca.crt")

    def is_trusted_as(name: str) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", broker.tls_port)) as connection:
                context.wrap_socket(connection, server_hostname=name).close()
        except ssl.SSLCertVerificationError:
            return False
        return True

    assert not is_trusted_as("broker.example")
    named = {**ENVIRONMENT, "MQTTS_NAMES": "broker.example, 192.0.2.7"}
    assert "certificate for localhost, 127.0.0.1, broker.example, 192.0.2.7" in broker.provision(environment=named)
    assert "certificate" not in broker.provision(environment=named)
    broker.restart()
    eventually(lambda: is_trusted_as("broker.example"))
    assert is_trusted_as("192.0.2.7")
    with pytest.raises(AssertionError, match=r"'mqtts://broker\.example' is no host name or address"):
        broker.provision(environment={**ENVIRONMENT, "MQTTS_NAMES": "mqtts://broker.example"})


def contents(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in folder.rglob("*") if path.is_file()}
