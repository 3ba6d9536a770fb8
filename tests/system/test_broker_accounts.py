"""Accounts are added, changed and removed while the broker runs; provisioning again changes nothing."""

import socket
import ssl
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ingest.private_broker import (
    BROKERS,
    ENVIRONMENT,
    PASSWORDS,
    SERVICES,
    PrivateBroker,
    private_broker,
    run_tool,
)
from support.certificates import resign
from support.stack_client import eventually


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateBroker]:
    with private_broker(tmp_path / "broker") as running:
        yield running


@pytest.fixture(scope="module", params=BROKERS)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateBroker]:
    """Each of the brokers, one for all tests of accounts that come and go."""
    with private_broker(tmp_path_factory.mktemp("broker"), kind=request.param) as broker:
        yield broker


def accepted(broker: PrivateBroker, username: str, password: str) -> bool:
    with broker.session(username, password) as session:
        return session.answer == "Success"


def test_account_added_to_a_running_broker_works_at_once(running: PrivateBroker) -> None:
    password = running.accounts("add", "gateway", "pi-lobby")
    eventually(lambda: accepted(running, "pi-lobby", password), what="the new account let in")


def test_a_removed_account_is_disconnected_and_others_reconnect(running: PrivateBroker) -> None:
    gone, stays = running.accounts("add", "phone", "17"), running.accounts("add", "phone", "18")
    eventually(lambda: accepted(running, "17", gone) and accepted(running, "18", stays), what="both let in")
    with running.session("17", gone) as first, running.session("18", stays) as second:
        running.accounts("remove", "17")
        eventually(lambda: first.losses, what="the removed account cut off")
        eventually(second.client.is_connected, what="the other one back")
    assert not accepted(running, "17", gone)
    assert "phone\t18" in running.accounts("list")
    assert "phone\t17" not in running.accounts("list")


def test_several_accounts_cost_one_restart(running: PrivateBroker) -> None:
    lines = dict(line.split("\t") for line in running.accounts("add", "phone", "27", "28").splitlines())
    assert all(accepted(running, account, lines[account]) for account in ("27", "28"))
    running.accounts("remove", "27", "28")
    assert not any(accepted(running, account, lines[account]) for account in ("27", "28"))


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
