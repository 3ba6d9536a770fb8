"""NATS as the broker: what it does that Mosquitto does not. What both do is in the tests of both brokers."""

import itertools
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from campus.broker import REFUSED
from fake_bluez import Advert, FakeBluez
from ingest.private_broker import ENVIRONMENT, PASSWORDS, Session, run_tool
from private_bus import PrivateBus
from private_nats import PrivateNats
from running_agent import RunningAgent
from support.certificates import resign, shown_days
from support.stack_client import eventually

TOPIC = "sda/v1/phone/17/readings"
QUEUE_BYTES = 2**20
CUT_OFF_WITHIN_S = 2.0
GATEWAY, BEACON, ADDRESS = "gw-agent", "C2A628384B08", "C2:A6:28:38:4B:08"


@pytest.fixture(scope="module")
def nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateNats]:
    broker = PrivateNats(tmp_path_factory.mktemp("nats"))
    broker.callout_options = ("--queue-bytes", str(QUEUE_BYTES))
    broker.provision()
    broker.start()
    eventually(lambda: "the queue is bounded" in broker.callout_log(), what="the bounds of the queue")
    try:
        yield broker
    finally:
        broker.close()


@pytest.fixture
def queue(nats: PrivateNats) -> PrivateNats:
    """The broker with the flows' session, which is absent and has no queue yet."""
    with nats.session("nodered"):  # a clean session ends the one before
        pass
    with nats.session("nodered", keep=True) as absent:
        absent.subscribe("sda/v1/+/+/readings")
    return nats


def test_a_killed_server_keeps_what_it_acknowledged(queue: PrivateNats) -> None:
    count = 500
    with queue.session("simulator") as sender:
        for number in range(count):
            sender.client.publish(TOPIC, str(number), qos=1)
        sender.publish("sda/v1/gateway/gw-1/status", payload="online", retain=True)
        queue.kill()
    queue.start()
    with queue.session("nodered", keep=True) as back:
        eventually(lambda: len(back.received) >= count, what="all that was acknowledged")
        back.subscribe("sda/v1/gateway/+/status")
        eventually(lambda: back.topics(b"online"), what="the retained status")
    assert {int(body) for topic, body in back.received if topic == TOPIC} == set(range(count))


def test_a_full_queue_acknowledges_nothing_more_and_drops_nothing(queue: PrivateNats) -> None:
    with queue.session("simulator") as sender:
        sent = [sender.client.publish(TOPIC, str(number).ljust(60_000), qos=1) for number in range(30)]
        eventually(lambda: sum(one.is_published() for one in sent) >= QUEUE_BYTES // 60_000 - 2, what="the first ones")
        with queue.session("17", queue.accounts("add", "phone", "17")) as another:
            assert another.answer == "Success", "nobody can connect while the queue is full"
        acknowledged = {number for number, one in enumerate(sent) if one.is_published()}
        assert len(acknowledged) < len(sent)
        with queue.session("nodered", keep=True) as back:
            eventually(lambda: {int(body) for _, body in back.received} >= acknowledged, what="all acknowledged ones")
            eventually(
                lambda: sender.client.publish(TOPIC, "99", qos=1) and {int(body) for _, body in back.received} >= {99},
                what="a message after them",
            )


@pytest.mark.parametrize("change", ["remove", "rotate"])
def test_a_changed_account_is_cut_off_within_two_seconds(nats: PrivateNats, change: str) -> None:
    password = nats.accounts("add", "gateway", f"gw-{change}")
    with nats.session(f"gw-{change}", password, tls=True, client_id=f"gw-{change}") as session:
        assert session.answer == "Success"
        nats.accounts(change, f"gw-{change}")
        changed_s = time.monotonic()
        eventually(lambda: session.losses, what="the end of the connection")
        assert time.monotonic() - changed_s < CUT_OFF_WITHIN_S
        eventually(lambda: session.answer == "Not authorized", what="no way back")


def test_an_account_removed_while_no_callout_ran_is_cut_off(nats: PrivateNats) -> None:
    password = nats.accounts("add", "phone", "gone")
    with nats.session("gone", password) as session:
        for callout in nats.callouts:
            callout.kill()
            callout.wait(20)
        nats.accounts("remove", "gone")
        nats.callouts = [nats.callout(), nats.callout()]
        eventually(lambda: session.losses, what="the end of the connection")
    eventually(nats.admits, what="the callouts")


def test_one_callout_admits_a_storm_of_reconnects(nats: PrivateNats) -> None:
    count = 150
    added = nats.accounts("add", "phone", *map(str, range(100, 100 + count)))
    passwords = dict(line.split("\t") for line in added.splitlines())
    nats.callouts[0].send_signal(signal.SIGKILL)
    nats.callouts[0].wait(20)
    answers: list[str | None] = []

    def come(account: str) -> None:
        with nats.session(account, passwords[account], tls=True, client_id=account) as session:
            answers.append(session.answer)

    threads = [threading.Thread(target=come, args=[account]) for account in passwords]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    nats.callouts[0] = nats.callout()
    assert answers == ["Success"] * count


def test_a_renewed_certificate_costs_one_reconnect(nats: PrivateNats) -> None:
    tls = nats.folder / "tls"
    with nats.session("nodered-probe") as session:
        resign(tls, days=29)
        eventually(lambda: shown_days(nats.tls_port, tls / "ca.crt") < 30, what="the certificate that ends soon")
        eventually(lambda: session.losses and session.client.is_connected(), what="the session again")
        assert len(session.losses) == 1


def test_the_agent_works_as_with_mosquitto_and_over_a_kill(nats: PrivateNats, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text(nats.accounts("add", "gateway", GATEWAY))
    sections: dict[str, Any] = {
        "id": GATEWAY,
        "clock": {"source": "trust"},
        "scan": {"allow": [BEACON], "window_ms": 200},
        "broker": {
            "host": "localhost",
            "port": nats.tls_port,
            "password_file": password,
            "ca_file": nats.folder / "tls" / "ca.crt",
            "retry_max_s": 1,
        },
    }
    adverts = itertools.cycle([Advert(ADDRESS, -61), Advert(ADDRESS, -62)])
    with (
        nats.session("nodered") as flows,
        PrivateBus(tmp_path) as bus,
        FakeBluez(bus.address) as bluez,
        RunningAgent(tmp_path, sections, bus.address) as agent,
    ):
        flows.subscribe("sda/v1/gateway/+/status", "sda/v1/+/+/readings")
        eventually(lambda: b"online" in b"".join(body for _, body in flows.received), what=agent.log())
        bluez.start_traffic(adverts, 10)
        eventually(lambda: sum(BEACON.encode() in body for _, body in flows.received) >= 3, what="readings")
        nats.kill()
        nats.start()
        eventually(flows.client.is_connected, what="the flows again")
        flows.subscribe("sda/v1/+/+/readings")
        before = len(flows.received)
        eventually(lambda: len(flows.received) >= before + 5, what="readings after the kill")
        bluez.stop_traffic()
        nats.accounts("remove", GATEWAY)
        agent.wait_for_log("the broker refuses account")


def test_an_id_with_a_dot_is_refused_with_the_reason(nats: PrivateNats) -> None:
    done = run_tool("broker/accounts.py", "--data", nats.folder, "add", "gateway", "pi.lobby")
    assert done.returncode == 1
    assert "NATS takes no client id with a dot" in done.stderr


def test_what_is_neither_1_nor_3_nor_5_nodes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="take 1, 3 or 5"):
        PrivateNats(tmp_path).provision("--node", "a=127.0.0.1:7001", "--node", "b=127.0.0.1:7002")


def test_sites_of_one_broker_have_the_same_names_and_nothing_in_common(tmp_path: Path) -> None:
    """A password decides which site a client belongs to; topics and client ids of the sites do not meet."""
    broker, other = PrivateNats(tmp_path / "north"), tmp_path / "south"
    broker.provision("--site", "north", "--site", "south")
    passwords = {name: f"south-{password}" for name, password in ENVIRONMENT.items()}
    done = run_tool("broker/provision.py", "--data", other, "--tls-port", "0", *REFUSED, environment=passwords)
    assert done.returncode == 0, done.stderr
    broker.callout_options = ("--site", f"north={broker.folder}", "--site", f"south={other}")
    broker.start()
    try:
        with (
            broker.session("nodered") as here,
            broker.session("nodered", f"south-{PASSWORDS['nodered']}") as there,
            broker.session("simulator") as north,
            broker.session("simulator", f"south-{PASSWORDS['simulator']}") as south,
        ):
            for flows in (here, there):
                flows.subscribe("sda/v1/+/+/readings", "$SYS/broker/#")
            assert (here.losses, there.losses) == ([], []), "one has taken over the other's session"
            north.publish(TOPIC, payload="of north")
            south.publish(TOPIC, payload="of south")
            eventually(lambda: here.topics(b"of north") and there.topics(b"of south"), what="each site's own")
            for flows in (here, there):
                eventually(partial(_has_figures, flows), what="the broker's figures at each site")
            assert not here.topics(b"of south") | there.topics(b"of north")
        added = run_tool("broker/accounts.py", "--data", other, "add", "gateway", "pi.lobby")
        assert "NATS takes no client id with a dot" in added.stderr
    finally:
        broker.close()


def _has_figures(session: Session) -> bool:
    return "$SYS/broker/uptime" in {topic for topic, _ in session.received}
