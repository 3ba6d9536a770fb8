"""Rights of each account, proved by delivered messages, since a denied publish is acknowledged too."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from ingest.private_broker import SERVICES, PrivateBroker, Session, private_broker
from support.stack_client import eventually

GATEWAYS, PHONES = ("gw-1", "gw-2"), ("17", "18")
TOPICS = [
    *(f"sda/v1/gateway/{name}/{leaf}" for name in GATEWAYS for leaf in ("readings", "status", "health", "config")),
    *(f"sda/v1/phone/{name}/{leaf}" for name in PHONES for leaf in ("readings", "status", "config")),
    *(f"sda/v1/{leaf}" for leaf in ("locations", "rejected", "events", "flows/health", "staff/0/location", "other")),
    "elsewhere",
]
READINGS = {topic for topic in TOPICS if topic.endswith("/readings")}
GATEWAYS_OWN = {f"sda/v1/gateway/{name}/{leaf}" for name in GATEWAYS for leaf in ("readings", "status", "health")}
CONFIGS = {f"sda/v1/gateway/{name}/config" for name in GATEWAYS}
STATUSES = {f"sda/v1/gateway/{name}/status" for name in GATEWAYS}
DERIVED = {"sda/v1/events", "sda/v1/staff/0/location"}
FROM_FLOWS = {"sda/v1/locations", "sda/v1/rejected", "sda/v1/flows/health"}
PHONE_READINGS = {f"sda/v1/phone/{name}/readings" for name in PHONES}

MAY_PUBLISH = {
    "telegraf-readings": set(),
    "nodered-probe": set(),
    "nodered-operator": {"sda/v1/staff/0/location"},
    "nodered": set(),
    "nodered-publisher": FROM_FLOWS | DERIVED | CONFIGS | STATUSES | PHONE_READINGS,
    "simulator": GATEWAYS_OWN | PHONE_READINGS,
    "gw-1": {f"sda/v1/gateway/gw-1/{leaf}" for leaf in ("readings", "status", "health")},
    "17": {"sda/v1/phone/17/readings"},
    "wallboard": set(),
}
MAY_READ = {
    "telegraf-readings": READINGS,
    "telegraf-gateway_status": {topic for topic in GATEWAYS_OWN if topic.endswith("/status")},
    "telegraf-gateway_health": {topic for topic in GATEWAYS_OWN if topic.endswith("/health")},
    "telegraf-locations": {"sda/v1/locations"},
    "telegraf-events": {"sda/v1/events"},
    "telegraf-rejected": {"sda/v1/rejected"},
    "telegraf-flows_health": {"sda/v1/flows/health"},
    "nodered-probe": set(),
    "nodered-operator": set(),
    "nodered": READINGS | GATEWAYS_OWN | DERIVED | CONFIGS,
    "nodered-publisher": set(),
    "simulator": CONFIGS,
    "gw-1": {"sda/v1/gateway/gw-1/config"},
    "17": {"sda/v1/phone/17/config"},
    "wallboard": DERIVED,
}
# What differs between the brokers; docs/interfaces.md lists it.


@dataclass(frozen=True)
class Watched:
    """A running broker, its accounts' passwords, and an additional account `all` with all rights."""

    broker: PrivateBroker
    passwords: dict[str, str]

    @contextmanager
    def session(self, account: str | None, password: str | None = None, **more: Any) -> Iterator[Session]:
        with self.broker.session(account, password or self.passwords.get(account or ""), **more) as session:
            yield session


@pytest.fixture(scope="module")
def broker(broker_kind: type[PrivateBroker], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with private_broker(tmp_path_factory.mktemp("broker"), kind=broker_kind) as running:
        running.stop()
        kinds = {"gw-1": "gateway", "gw-2": "gateway", "17": "phone", "18": "phone", "wallboard": "reader"}
        passwords = {name: running.accounts("add", kind, name) for name, kind in kinds.items()}
        passwords["all"] = running.accounts("add", "reader", "all")
        with (running.folder / "acl").open("a") as acl:
            acl.write("\nuser all\ntopic readwrite #\n")
        running.start()
        yield Watched(running, passwords)


@pytest.fixture
def everything(broker: Watched) -> Iterator[Session]:
    """A session that reads and writes every topic."""
    with broker.session("all") as session:
        session.subscribe("#")
        yield session


@pytest.mark.parametrize("account", MAY_PUBLISH)
def test_account_publishes_only_what_it_may(broker: Watched, everything: Session, account: str) -> None:
    with broker.session(account) as session:
        session.publish(*TOPICS, payload=account)
    everything.publish("elsewhere", payload="end")
    eventually(lambda: everything.topics(b"end"), what="what was published last")
    assert everything.topics(account.encode()) == MAY_PUBLISH[account]


@pytest.mark.parametrize("account", MAY_READ)
def test_account_reads_only_what_it_may(broker: Watched, everything: Session, account: str) -> None:
    with broker.session(account) as session:
        session.subscribe("#", *TOPICS)
        everything.publish(*TOPICS, payload=f"for {account}")
        eventually(lambda: session.topics(f"for {account}".encode()) >= MAY_READ[account], what="all it may read")
        assert session.topics(f"for {account}".encode()) == MAY_READ[account]


def test_retained_configuration_goes_to_its_gateway_only(broker: Watched, everything: Session) -> None:
    for name in GATEWAYS:
        everything.publish(f"sda/v1/gateway/{name}/config", payload=f"kept {name}", retain=True)
    with broker.session("gw-1") as session:
        session.subscribe("#", "sda/v1/gateway/+/config", "sda/v1/gateway/gw-1/config")
        eventually(lambda: session.topics(b"kept gw-1"), what="its own configuration")
        assert not session.topics(b"kept gw-2")


def test_only_nodered_reads_broker_metrics_except_uptime(broker: Watched) -> None:
    with (
        broker.session("nodered") as flows,
        broker.session("17") as phone,
        broker.session("gw-1") as gateway,
    ):
        for session in (flows, phone, gateway):
            session.subscribe("$SYS/broker/version", "$SYS/broker/uptime")
        eventually(lambda: len(flows.received) >= 2 and gateway.received, what="the version and the uptime")
        assert not phone.received
        assert {topic for topic, _ in gateway.received} == {"$SYS/broker/uptime"}


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize(
    ("username", "password"),
    [(None, None), ("nodered", "wrong"), ("gw-1", "wrong"), ("gw-1", ""), ("nobody", "x"), ("", "x")],
)
def test_connections_without_an_account_are_refused(
    broker: Watched, tls: bool, username: str | None, password: str | None
) -> None:
    with broker.broker.session(username, password, tls=tls) as session:
        assert session.answer == (broker.broker.without_name if username == "" else "Not authorized")


@pytest.mark.parametrize("client_id", ["", "own", "as the user"])
@pytest.mark.parametrize("service", [name for name in SERVICES if name != "simulator"])
def test_services_connect_only_to_the_inner_listener(broker: Watched, service: str, client_id: str) -> None:
    with broker.session(service) as session:
        assert session.answer == "Success"
    names = {"own": SERVICES[service][1], "as the user": service, "": ""}
    with broker.session(service, tls=True, client_id=names[client_id]) as session:
        assert session.answer == "Not authorized"


def test_a_service_connects_only_with_its_own_client_id(broker: Watched) -> None:
    with broker.session("nodered", client_id="other") as session:
        assert session.answer == "Not authorized"


def test_receivers_connect_over_tls_and_verify_the_broker(broker: Watched) -> None:
    with broker.session("gw-1", tls=True, client_id="gw-1") as session:
        assert session.answer == "Success"
    machines_own = ssl.create_default_context()
    with (
        socket.create_connection(("127.0.0.1", broker.broker.tls_port)) as connection,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        machines_own.wrap_socket(connection, server_hostname="localhost")


@pytest.mark.parametrize("client_id", ["same", "gw-1", ""])
def test_no_account_takes_over_the_session_of_another(broker: Watched, client_id: str) -> None:
    own = client_id if broker.broker.foreign_client_id == "Success" else "gw-1"
    with broker.session("gw-1", tls=True, client_id=own) as first:
        with broker.session("gw-2", tls=True, client_id=client_id) as second:
            assert second.answer == broker.broker.foreign_client_id
            if second.answer == "Success":
                second.subscribe("sda/v1/gateway/gw-2/config")
        first.subscribe("sda/v1/gateway/gw-1/config")
        assert first.losses == []
