"""Gateways on a real Mosquitto: status, last will, health, batches and `config`."""

import asyncio
import csv
import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli import finished, running, simulator
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion
from real_broker import PASSWORDS, Listener, RealBroker, wait_for
from simulator.building import Building
from simulator.fleet import Fleet
from simulator.run_options import RunOptions, Stop
from simulator.settings import Broker

from simulator import play

GATEWAYS = "sda/v1/gateway/+/"
EVERYTHING = (
    "sda/v1/gateway/+/status",
    "sda/v1/gateway/+/health",
    "sda/v1/gateway/+/readings",
    "sda/v1/phone/+/readings",
)
KEYS = {"beacon", "rssi", "n", "tx", "battery_mv", "temperature_c", "humidity_pct"}


def payloads(listener: Listener, leaf: str, gateway: str | None = None) -> list[dict[str, Any]]:
    return [
        payload
        for topic, payload, _ in listener.messages
        if topic.endswith(f"/{leaf}") and (gateway is None or topic.split("/")[3] == gateway)
    ]


def states(listener: Listener) -> dict[str, str]:
    """The last state of each gateway."""
    return {
        topic.split("/")[3]: payload["state"] for topic, payload, _ in listener.messages if topic.endswith("/status")
    }


def publish_config(broker: RealBroker, gateway: str, config: object) -> None:
    client = Client(CallbackAPIVersion.VERSION2)
    client.username_pw_set("listener", PASSWORDS["listener"])
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    client.publish(f"sda/v1/gateway/{gateway}/config", json.dumps(config), 1, retain=True).wait_for_publish(10)
    client.disconnect()
    client.loop_stop()


def test_phones_and_gateways_of_one_run(broker: RealBroker, demo: Building, tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    arguments = ("mixed", "-n", 50, "--duration", 4, "--health", 2, "--truth", truth, "--json")
    with broker.listener(*EVERYTHING) as listener, running(*arguments, **broker.environment) as process:
        wait_for(lambda: len(states(listener)) == 113, "all gateways are online", broker.log)
        assert set(states(listener).values()) == {"online"}
        code, summary = finished(process)
        wait_for(lambda: set(states(listener).values()) == {"offline"}, "all gateways are offline", broker.log)
    last = {topic.split("/")[3]: topic.split("/")[4] for topic, *_ in listener.messages if "/gateway/" in topic}
    assert set(last.values()) == {"status"}  # anything after it would look like a gateway that is back
    assert code == 0
    batches = payloads(listener, "readings")
    assert summary["connections"] == 113 + 26
    assert summary["sent"] == summary["acknowledged"] == len(batches)
    assert all(payload["simulated"] is True for payload in batches)
    assert all(reading.keys() <= KEYS for payload in batches for reading in payload["readings"])
    tagged = [reading for payload in batches for reading in payload["readings"] if "tx" in reading]
    assert all(1 <= reading["n"] <= 3 for reading in tagged)
    assert any("battery_mv" in reading for reading in tagged)
    health = payloads(listener, "health")
    assert {topic.split("/")[3] for topic, *_ in listener.messages if topic.endswith("/health")} == set(demo.gateways)
    assert all(isinstance(value, int | float) for one in health for key, value in one.items() if key != "version")
    assert sum(payloads(listener, "health", gateway)[-1]["published"] for gateway in demo.gateways) > 0
    rows = list(csv.DictReader(truth.read_text().splitlines()))
    assert {row["staff_id"] for row in rows} == set(demo.staff)
    assert {row["room"] for row in rows[-50:]} == {""}
    assert all(row["room"] in demo.rooms for row in rows[:50])


def test_config_is_obeyed(broker: RealBroker, demo: Building) -> None:
    allowed = demo.tags[next(iter(demo.tags))][0]
    for gateway in demo.gateways:
        publish_config(broker, gateway, {"v": 1, "allow": [allowed], "window_ms": 500, "min_rssi": -90})
    bad, other, *_ = demo.gateways
    publish_config(broker, bad, {"allow": 7})
    with (
        broker.listener(*EVERYTHING) as listener,
        running("gateways", "--health", 0.5, "--progress", 0, **broker.environment) as process,
    ):
        wait_for(
            lambda: sum(one["registered"] == 1 for one in payloads(listener, "health")) >= 300, "they obey", broker.log
        )
        obeyed = len(listener.messages)
        wait_for(lambda: len(listener.messages) > obeyed + 500, "more messages", broker.log)
        assert payloads(listener, "health", bad)[-1]["config_refused"] == 1
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert f"gateway {bad}: config allow is not a list of beacon ids" in err
    later = [
        (topic, reading)
        for topic, payload, _ in listener.messages[obeyed:]
        if topic.endswith("/readings") and f"/{bad}/" not in topic
        for reading in payload["readings"]
    ]
    assert later
    assert all(reading["beacon"] == allowed and reading["rssi"] >= -90 for _, reading in later)
    health = payloads(listener, "health", other)[-1]
    assert (health["window_ms"], health["min_rssi"]) == (500, -90)


@pytest.mark.parametrize(
    ("number", "arguments", "left"),
    [
        (signal.SIGTERM, (), {"offline"}),
        (signal.SIGKILL, ("--final-status", "removed"), {"offline"}),
        (signal.SIGTERM, ("--final-status", "removed"), {"removed"}),
    ],
    ids=["stopped", "killed", "removed"],
)
def test_what_stays_retained(
    broker: RealBroker, number: signal.Signals, arguments: tuple[str, ...], left: set[str]
) -> None:
    with (
        broker.listener("sda/v1/gateway/+/health") as listener,
        running("gateways", *arguments, **broker.environment) as process,
    ):
        wait_for(lambda: len({topic for topic, *_ in listener.messages}) == 113, "all are connected", broker.log)
        process.send_signal(number)
        process.wait(30)
    broker.stop()  # the last wills are out
    broker.start()
    with broker.listener("sda/v1/gateway/+/status") as later:
        wait_for(lambda: len(states(later)) == 113, "what is retained", broker.log)
        assert set(states(later).values()) == left


def test_a_gateway_without_network_keeps_its_batches(broker: RealBroker, demo: Building) -> None:
    phone = 113
    ends_s = (3, 3, 600)  # the last one is over with the run
    outages = [play.Outage(2, end_s, sender) for sender, end_s in enumerate(ends_s)]
    outages.append(play.Outage(2, 3, phone, switched_off=True))
    played = replace(play.mixed(demo, play.People(50, duration_s=5)), outages=iter(outages))

    async def run() -> Fleet:
        address = Broker("127.0.0.1", broker.port, PASSWORDS["simulator"])
        fleet = Fleet(address, played, RunOptions(progress_s=0), print)
        await fleet.run(Stop())
        return fleet

    with broker.listener(*EVERYTHING) as listener:
        tally = asyncio.run(run()).tally
        wait_for(lambda: len(listener.batches()) >= tally.made, "all batches arrive", broker.log)
    assert tally.exit_code == 0
    assert (tally.connections, tally.connections_lost) == (139 + 4, 3)
    for sender in range(3):
        said = [one["state"] for one in payloads(listener, "status", played.receivers[sender].id)]
        assert said[-3:] == ["offline", "online", "offline"]
        assert said[:-3] in (["online"], [])  # one that connected late had no time for it before the network was gone


def test_what_a_killed_broker_may_have_lost_is_sent_again(broker: RealBroker) -> None:
    arguments = ("mixed", "-n", 50, "--duration", 8, "--progress", 0, "--json")
    with broker.listener(*EVERYTHING) as listener, running(*arguments, **broker.environment) as process:
        broker.save()  # with the listener's session: what is published before it is back waits for it
        wait_for(lambda: len(payloads(listener, "readings")) > 200, "batches arrive", broker.log)
        broker.kill()
        before = {(topic, payload["ts"]) for topic, payload, _ in listener.messages}
        broker.start()
        code, summary = finished(process)
        wait_for(lambda: len(listener.batches()) >= summary["sent"], "all batches arrive", broker.log)
    assert code == 0
    assert summary["sent"] == summary["acknowledged"] == len(listener.batches())
    again = [batch for batch, times in listener.batches().items() if times > 1 and batch in before]
    assert {topic.split("/")[2] for topic, _ in again} == {"gateway", "phone"}
    assert summary["replayed"] >= len(again)


def test_faulty_batches_are_sent_and_counted(broker: RealBroker) -> None:
    shares = ("--duplicates", 20, "--malformed", 20, "--late", 20)
    with (
        broker.listener(*EVERYTHING) as listener,
        running("mixed", "--duration", 3, *shares, "--json", **broker.environment) as process,
    ):
        code, summary = finished(process)

        def received() -> int:
            return listener.batches().total() + len(listener.malformed)

        wait_for(lambda: received() >= summary["sent"], "all batches arrive", broker.log)
    assert code == 0
    assert received() == summary["sent"] == summary["acknowledged"]
    once = summary["sent"] - summary["duplicates"]
    assert all(0.1 * once < summary[fault] < 0.35 * once for fault in ("duplicates", "malformed", "late"))
    assert len(listener.malformed) == summary["malformed"]
    twice = sum(times == 2 for times in listener.batches().values())
    assert summary["duplicates"] == twice + len(listener.malformed) - len(set(listener.malformed))


def test_a_truth_file_that_cannot_be_written(broker: RealBroker, tmp_path: Path) -> None:
    done = simulator("gateways", "--truth", tmp_path / "none" / "truth.csv", **broker.environment)
    assert done.returncode == 2
    assert "truth.csv: cannot be written: No such file" in done.stderr


def test_accounts_of_which_some_are_missing(broker: RealBroker, tmp_path: Path) -> None:
    accounts = tmp_path / "accounts.tsv"
    accounts.write_text("gw-l1-core\tsecret\n")
    done = simulator("gateways", "--accounts", accounts, **broker.environment)
    assert done.returncode == 2
    assert "has no account of gw-l1-lobby (of 112 missing)" in done.stderr
    accounts.write_text("gw-l1-core secret\n")
    done = simulator("gateways", "--accounts", accounts, **broker.environment)
    assert "accounts.tsv:1: is not 'id<tab>password'" in done.stderr
