"""A recorded walk through a real Mosquitto, as gateways."""

import time
from pathlib import Path

import pytest
from cli import DEMO_FILE, finished, running, simulator
from real_broker import RealBroker, wait_for

TOPICS = ("sda/v1/gateway/+/readings", "sda/v1/gateway/+/status")
BEACON = "E78F135624CE"
START_MS = 1_581_249_601_000


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """20 s of two gateways: the beacon moves from one to the other; each receives it twice a second."""
    lines = ["ts_ms,gateway,beacon,rssi,x_m,y_m"]
    for half in range(40):
        for gateway, rssi in (("gw-a", -60 - half), ("gw-b", -100 + half)):
            lines.append(f"{START_MS + half * 500},{gateway},{BEACON},{rssi},0,0")
    file = tmp_path / "walk.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_walk_arrives_with_its_spacing(broker: RealBroker, walk: Path) -> None:
    with (
        broker.listener(*TOPICS) as listener,
        running("replay", walk, "--speed", 20, "--json", **broker.environment) as process,
    ):
        code, summary = finished(process)
        now_ms = time.time() * 1000
        wait_for(lambda: len(listener.messages) >= 44, "40 batches, 2 online, 2 offline", broker.log)
    assert (code, summary["sent"], summary["acknowledged"], summary["readings"]) == (0, 40, 40, 40)
    for gateway, first in (("gw-a", -60), ("gw-b", -100)):
        batches = [payload for topic, payload, _ in listener.messages if topic == f"sda/v1/gateway/{gateway}/readings"]
        assert [payload["ts"] - batches[0]["ts"] for payload in batches] == [second * 1000 for second in range(20)]
        assert now_ms - 5000 < batches[-1]["ts"] <= now_ms
        assert batches[0]["readings"] == [{"beacon": BEACON, "rssi": first}]
        statuses = [payload for topic, payload, _ in listener.messages if topic == f"sda/v1/gateway/{gateway}/status"]
        assert [status["state"] for status in statuses] == ["online", "offline"]
        assert all(status["version"].startswith("simulator/") for status in statuses)


def test_status_is_retained_and_a_kill_leaves_the_last_will(broker: RealBroker, walk: Path) -> None:
    with running("replay", walk, **broker.environment) as process:
        with broker.listener("sda/v1/gateway/+/status") as listener:

            def all_have(state: str) -> bool:
                return len({topic for topic, payload, _ in listener.messages if payload["state"] == state}) == 2

            wait_for(lambda: all_have("online"), "both online", broker.log)
            process.kill()
            wait_for(lambda: all_have("offline"), "the last wills", broker.log)
        with broker.listener("sda/v1/gateway/gw-b/status") as listener:
            wait_for(lambda: bool(listener.messages), "the retained status", broker.log)
            _, payload, retained = listener.messages[0]
            assert retained
            assert payload["state"] == "offline"


def test_invalid_rows_are_reported_and_the_rest_is_sent(broker: RealBroker, walk: Path) -> None:
    lines = walk.read_text().splitlines()
    lines[3] = lines[3].replace(BEACON, "E78F13")
    walk.write_text("\n".join(lines))
    done = simulator("replay", walk, "--speed", 100, "--building", DEMO_FILE, "--json", **broker.environment)
    assert f"{walk}:4: refused: beacon 'E78F13' is not a beacon id" in done.stderr
    assert "warning: Harbour House lists no gateway gw-a" in done.stderr
    assert '"acknowledged": 40' in done.stdout
    assert '"refused_rows": 1' in done.stdout
    assert done.returncode == 1
