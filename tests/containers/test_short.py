"""A short life cycle: up, readings counted over a new account, a stop and a start; up again; clean."""

import re
from pathlib import Path

from support import web
from support.building import Building
from support.stack_client import batch, eventually, now_ms

from .installation import Installation, account_in

DEMO = Path(__file__).parents[2] / "flows" / "building" / "demo.json"
READINGS_A_BATCH = 4


def batches(count: int, start_ms: int) -> list[dict[str, object]]:
    """Batches of READINGS_A_BATCH readings; each reading is a separate point."""
    beacons = [one.id for one in Building(DEMO).beacons[:READINGS_A_BATCH]]
    return [batch(*((beacon, -60) for beacon in beacons), ts=start_ms + number) for number in range(count)]


def places_of_sda_0(clone: Installation, key: str) -> object:
    """Records of the last five minutes, like HACS; None before the key is known."""
    asked = {"staff_id": "0", "start_time": str(now_ms() // 1000 - 300), "end_time": str(now_ms() // 1000)}
    answer = web.get(f"{clone.http_url}/extractbeacon", params=asked, headers={"X-API-Key": key})
    return answer.json()["location"] if answer.status_code == 200 else None


def test_up_down_up_loses_no_reading(fresh: Installation) -> None:
    printed = fresh.make("up")
    assert "The whole pipeline is up." in printed
    assert fresh.health()["status"] == "up"

    password = account_in(fresh.make("account", ARGS="add phone counted"))
    start_ms = now_ms() - 3_600_000
    fresh.publish("counted", password, batches(50, start_ms))
    eventually(lambda: fresh.stored("counted") == 50 * READINGS_A_BATCH, what="the first readings")

    # The broker keeps what comes for absent sessions: over an account, a stop and a start of everything.
    fresh.compose("stop", "telegraf", "node-red")
    fresh.publish("counted", password, batches(300, start_ms + 1000))
    assert "Mosquitto has applied the change" in fresh.make("account", ARGS="add phone another")
    fresh.publish("counted", password, batches(300, start_ms + 2000))
    fresh.make("down")
    assert fresh.containers() == {}
    fresh.make("up")
    eventually(lambda: fresh.stored("counted") == 650 * READINGS_A_BATCH, what="all that was acknowledged")
    assert fresh.inspect("mosquitto", "{{.RestartCount}}") == "0"

    before = fresh.containers()
    fresh.make("up")
    assert fresh.containers() == before

    key = re.findall(r"^sda_\S+$", fresh.make("key", ARGS="add hacs --right history"), re.MULTILINE)[0]
    eventually(lambda: places_of_sda_0(fresh, key), what="where SDA 0 of the demo has been, for who has the key")
    assert "all parts are up" in fresh.make("status")
