"""Phones on a real Mosquitto: every batch arrives, also after an outage of the broker."""

import csv
import json
import signal
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from cli import DEMO_FILE, finished, running, simulator
from real_broker import RealBroker, wait_for
from simulator.building import Building

from simulator import play

PHONES = "sda/v1/phone/+/readings"


def test_everything_sent_is_received_exactly(broker: RealBroker, demo: Building) -> None:
    with (
        broker.listener(PHONES) as listener,
        running("phones", "-n", 30, "--duration", 4, "--seed", 7, "--json", **broker.environment) as process,
    ):
        code, summary = finished(process)
        wait_for(lambda: len(listener.messages) >= summary["sent"], "all batches arrive", broker.log)
    assert code == 0
    assert summary["sent"] == summary["acknowledged"] == len(listener.messages) == len(listener.batches())
    assert summary["readings"] == summary["readings_acknowledged"] == listener.readings()
    assert summary["connections"] == 30
    assert summary["connected_s"] > 0 < summary["cpu_us_per_message"]
    assert summary["puback_ms"]["p50"] <= summary["puback_ms"]["p99"] <= summary["puback_ms"]["max"]

    # The batches and their time stamps match the seed.
    played = play.phones(demo, play.People(30, seed=7, duration_s=4))
    ids = [receiver.id for receiver in played.receivers]
    wanted: dict[str, list[Any]] = defaultdict(list)
    got: dict[str, list[Any]] = defaultdict(list)
    for item in played.batches:
        wanted[ids[item.sender]].append((item.offset_ms, [json.loads(one.to_json()) for one in item.readings]))
    start_ms = min(payload["ts"] for _, payload, _ in listener.messages)
    first_ms = min(batches[0][0] for batches in wanted.values())
    for topic, payload, _ in listener.messages:
        staff_id = topic.split("/")[3]
        got[staff_id].append((payload["ts"] - start_ms + first_ms, payload["readings"]))
        assert payload["seq"] == len(got[staff_id])
    assert got == wanted


def test_a_restart_of_the_broker_loses_nothing(broker: RealBroker, tmp_path: Path) -> None:
    journal = tmp_path / "acknowledged.csv"
    arguments = ("phones", "-n", 40, "--interval", 0.2, "--duration", 8, "--seed", 3, "--json", "--progress", 1)
    again = ("--replay", 60, "--journal", journal)
    with broker.listener(PHONES) as listener, running(*arguments, *again, **broker.environment) as process:
        wait_for(lambda: len(listener.messages) > 200, "phones report", broker.log)
        broker.stop()
        before = len(listener.messages)
        broker.start()
        code, summary = finished(process)
        wait_for(lambda: len(listener.batches()) >= summary["sent"], "all batches arrive", broker.log)
    assert code == 0
    assert summary["connections_lost"] == 40
    assert summary["connections"] == 80
    assert summary["sent"] == summary["acknowledged"] == len(listener.batches()) > before
    assert summary["readings"] == listener.readings()
    assert len(listener.messages) > summary["sent"] + 0.7 * before, "what was acknowledged before comes again"
    with journal.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {(f"sda/v1/{row['kind']}/{row['receiver']}/readings", int(row["ts_ms"])) for row in rows} == {
        (topic, payload["ts"]) for topic, payload, _ in listener.messages
    }
    assert len(rows) == summary["acknowledged"], "each once"
    assert sum(int(row["readings"]) for row in rows) == summary["readings_acknowledged"]


def test_dropped_batches_are_counted(broker: RealBroker) -> None:
    arguments = ("phones", "-n", 5, "--interval", 0.1, "--duration", 6, "--queue", 20, "--drain", 0, "--json")
    with broker.listener(PHONES) as listener, running(*arguments, **broker.environment) as process:
        wait_for(lambda: len(listener.messages) > 10, "phones report", broker.log)
        broker.stop()
        code, summary = finished(process)
        broker.start()
    assert code == 1
    assert summary["dropped"] > 0
    assert summary["failed"] == summary["sent"] - summary["acknowledged"] == summary["dropped"] + 20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_cleanly(broker: RealBroker, number: signal.Signals) -> None:
    with (
        broker.listener(PHONES) as listener,
        running("phones", "-n", 20, "--interval", 0.2, "--json", **broker.environment) as process,
    ):
        wait_for(lambda: len(listener.messages) > 100, "phones report", broker.log)
        process.send_signal(number)
        code, summary = finished(process)
        wait_for(lambda: len(listener.messages) >= summary["sent"], "all batches arrive", broker.log)
    assert code == 0
    assert summary["sent"] == summary["acknowledged"] == len(listener.messages)


def test_progress_lines_and_table(broker: RealBroker) -> None:
    done = simulator("phones", "-n", 3, "--duration", 2.5, "--progress", 1, **broker.environment)
    assert done.returncode == 0
    assert "3 phones (SDA 0 to 2) in Harbour House, seed 1" in done.stderr
    assert "00:00:01  connected 3/3" in done.stderr
    assert "readings acknowledged" in done.stdout


def test_wrong_password(broker: RealBroker) -> None:
    done = simulator("phones", **{**broker.environment, "MQTT_SIMULATOR_PASSWORD": "guess"})
    assert f"the broker at 127.0.0.1:{broker.port} refused the account 'simulator': Not authorized" in done.stderr
    assert done.returncode == 4
    assert "guess" not in done.stderr


def test_no_broker(broker: RealBroker) -> None:
    broker.stop()
    done = simulator("phones", "--wait", 0.5, "--building", DEMO_FILE, **broker.environment)
    broker.start()
    assert f"no broker at 127.0.0.1:{broker.port} within 0.5 s: Connection refused" in done.stderr
    assert done.returncode == 3


def test_waits_for_a_broker_that_comes_up(broker: RealBroker) -> None:
    broker.stop()
    arguments = ("phones", "-n", 2, "--interval", 0.5, "--duration", 1, "--wait", 30, "--json")
    with running(*arguments, **broker.environment) as process:
        assert process.stderr is not None
        assert "2 phones" in process.stderr.readline()  # it has started
        broker.start()
        code, summary = finished(process)
    assert code == 0
    assert summary["acknowledged"] == 4


def test_phones_leave_a_changed_building_and_return(broker: RealBroker, tmp_path: Path) -> None:
    first = DEMO_FILE.read_text()
    file = tmp_path / "building.json"
    file.write_text(first)
    arguments = ("phones", "-n", 5, "--interval", 0.2, "--building", file, "--when-changed", "leave")
    with broker.listener(PHONES) as listener, running(*arguments, **broker.environment) as process:
        wait_for(lambda: len(listener.messages) > 10, "phones report", broker.log)
        assert all(payload["simulated"] is True for _, payload, _ in listener.messages)
        file.write_text(json.dumps(json.loads(first)))  # same content, other formatting
        file.write_text(json.dumps({**json.loads(first), "building": "Mine"}))
        assert process.stderr is not None
        assert any("the phones leave" in line for line in process.stderr)
        left = len(listener.messages)
        file.write_text(first)
        wait_for(lambda: len(listener.messages) > left, "they are back", broker.log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
