"""Node-RED killed under load: afterwards history is what it would have been; by hand nothing doubles."""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stack.layout import ROOT, node_folder
from support import web
from support.building import Building
from support.keys import admin
from support.running import RunningStack
from support.stack_client import batch, eventually, forget_session, get, history, influx, now_ms, publish

UNDISTURBED = Path(__file__).parent.parent / "support" / "reference_run.js"
PHONES = int(os.environ.get("SDA_TEST_PHONES", "40"))
DOWN_S = float(os.environ.get("SDA_TEST_DOWN_S", "8"))
FIRST = 5000
"""Their ids begin after those of the building's staff and of other tests."""


@contextmanager
def _walking(stack: RunningStack, seed: int) -> Iterator[subprocess.Popen[str]]:
    command = (sys.executable, "-m", "simulator", "phones", "-n", str(PHONES), "--first", str(FIRST),
               "--seed", str(seed), "--progress", "0", "--building", str(stack.building))  # fmt: skip
    environment = {
        **os.environ,
        "MQTT_HOST": "127.0.0.1",
        "MQTT_PORT": str(stack.ports.mqtt),
        "MQTT_SIMULATOR_PASSWORD": stack.secrets["MQTT_SIMULATOR_PASSWORD"],
    }
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _undisturbed(stack: RunningStack, since_ms: int) -> dict[str, list[dict[str, Any]]]:
    """Results of one uninterrupted locator on the stored readings of these phones."""
    question = f"SELECT rssi, kind, receiver, beacon FROM reading WHERE time >= {since_ms}ms"  # noqa: S608 - our own number
    columns = ("time", "rssi", "kind", "receiver", "beacon")
    rows = [[row[column] for column in columns] for row in influx(stack, "readings", question)]
    rows = [row for row in rows if row[3].isdigit() and FIRST <= int(row[3]) < FIRST + PHONES]
    command = (node_folder() / "node", UNDISTURBED, stack.building)
    done = subprocess.run(command, input=json.dumps(rows), capture_output=True, text=True, check=True)
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def _records(stack: RunningStack, locations: list[dict[str, Any]]) -> dict[str, list[tuple[Any, ...]]]:
    levels = json.loads(Path(stack.building).read_text())["levels"]
    names = {room["id"]: room["name"] for level in levels for room in level["rooms"]}
    records: dict[str, list[tuple[Any, ...]]] = {}
    for one in sorted(locations, key=lambda one: -one["ts"]):
        records.setdefault(one["staff_id"], []).append((one["level"], names[one["room"]], one["ts"] // 1000))
    return records


def _answers(stack: RunningStack, staff: set[str], since_ms: int) -> dict[str, list[tuple[Any, ...]]]:
    """Records of /extractbeacon for the whole time."""
    return {
        staff_id: [
            (one["level"], one["location"], one["timestamp"])
            for one in history(stack, staff_id, since_ms / 1000, time.time() + 10)
        ]
        for staff_id in staff
    }


def _stays(stack: RunningStack, since_ms: int) -> set[tuple[Any, ...]]:
    question = f"SELECT room, enter_ms, leave_ms FROM stay WHERE time >= {since_ms}ms"  # noqa: S608 - our own number
    return {
        (one["staff_id"], one["room"], one["enter_ms"], one["leave_ms"])
        for one in influx(stack, "locations", f"{question} AND duration_s > 0 GROUP BY staff_id")
        if one["staff_id"].isdigit() and FIRST <= int(one["staff_id"]) < FIRST + PHONES
    }


def _same(stored: set[tuple[Any, ...]], expected: set[tuple[Any, ...]]) -> bool:
    """Whether the expected stays are stored and no others, but for those that ended when the phones did."""
    last_ms: dict[str, int] = {}
    for staff_id, _, _, leave_ms in expected:
        last_ms[staff_id] = max(leave_ms, last_ms.get(staff_id, 0))
    return expected <= stored and all(one[2] >= last_ms.get(one[0], 0) for one in stored - expected)


@pytest.mark.timeout(300)
def test_after_a_kill_under_load_history_is_that_of_an_undisturbed_run(stack: RunningStack) -> None:
    since_ms = now_ms() - 1000
    with _walking(stack, seed=since_ms):
        time.sleep(max(12.0, DOWN_S))  # something has to have happened before
        stack.kill("node-red")
        time.sleep(DOWN_S)
        stack.start("node-red")
        eventually(stack.is_caught_up, within_s=60, what="the rebuild")
        time.sleep(6)  # and something after
    expected: dict[str, list[dict[str, Any]]] = {}

    def stored() -> bool:
        """Whether the last words of the phones have got everywhere."""
        before, now = expected.get("locations"), _undisturbed(stack, since_ms)
        expected.update(now)
        return before == now["locations"] and {stay[:3] for stay in _stays(stack, since_ms)} >= {
            (stay["staff_id"], stay["room"], stay["enter_ms"]) for stay in now["stays"]
        }

    eventually(stored, within_s=60, what="stays of an undisturbed run")
    records = _records(stack, expected["locations"])
    assert len(records) == PHONES
    assert _answers(stack, set(records), since_ms) == records
    reported = {(one["staff_id"], one["room"], one["enter_ms"], one["leave_ms"]) for one in expected["stays"]}
    assert _same(_stays(stack, since_ms), reported)

    # By hand over the same time, twice: the same again.
    for _ in range(2):
        output = _make_rebuild(stack, str(since_ms / 1000))
        assert output.splitlines()[-1].startswith("done in "), output
        assert _answers(stack, set(records), since_ms) == records
        eventually(lambda: _same(_stays(stack, since_ms), reported), what="the same stays")


def _make_rebuild(stack: RunningStack, *times: str) -> str:
    environment = {**os.environ, "HTTP_PORT": str(stack.ports.http), "SDA_API_KEY": stack.secrets["SDA_API_KEY"]}
    command = (str(node_folder() / "node"), str(ROOT / "flows" / "bin" / "rebuild.js"), *times)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr


def test_who_vanished_while_node_red_was_away_is_lost(stack: RunningStack) -> None:
    beacon = json.loads(Path(stack.building).read_text())["beacons"][0]["id"]
    stack.kill("node-red")
    ago_ms = now_ms() - 75_000
    publish(stack, ("phone/vanished-1/readings", batch((beacon, -50), ts=ago_ms)))
    publish(stack, ("phone/vanished-1/readings", batch((beacon, -50), ts=ago_ms + 4000)))
    stack.start("node-red")
    eventually(stack.is_caught_up, within_s=60, what="the rebuild")
    question = "SELECT enter_ms, leave_ms FROM stay WHERE staff_id = 'vanished-1'"
    stays = eventually(lambda: influx(stack, "locations", question), what="the end of the stay")
    assert [(one["enter_ms"], one["leave_ms"]) for one in stays] == [(ago_ms, ago_ms + 4000)]


def test_backlog_that_comes_while_node_red_is_away_is_located(stack: RunningStack, demo: Building) -> None:
    """It is older than all that a start locates again."""
    who, (first, second) = f"backlog-{uuid.uuid4().hex[:8]}", demo.beacons_of_two_rooms()
    start_ms = now_ms() // 1000 * 1000 - 300_000
    stack.stop("node-red")
    sent = [start_ms + n * 1000 for n in range(120)]
    readings = [batch(((first if ts < sent[60] else second).id, -45), ts=ts) for ts in sent]
    publish(stack, *((f"phone/{who}/readings", one) for one in readings))
    stack.start("node-red")
    located = f"SELECT room FROM location WHERE staff_id = '{who}'"  # noqa: S608 - our own name
    eventually(lambda: len(influx(stack, "locations", located)) == len(sent), 90)
    stays = f"SELECT room FROM stay WHERE staff_id = '{who}' AND duration_s > 0"  # noqa: S608
    rooms = [one["room"] for one in influx(stack, "locations", stays)]
    assert rooms == [first.room, second.room]


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ((), "FROM is missing"),
        (("yesterday",), "from is no time"),
        (("2026-13-01",), "from is no time that exists"),
        (("2026-01-02", "2026-01-01"), "from is after to"),
    ],
)
def test_a_time_that_is_none_is_refused_in_words(stack: RunningStack, times: tuple[str, ...], said: str) -> None:
    assert said in _make_rebuild(stack, *times)


def test_the_jobs_can_be_seen(stack: RunningStack) -> None:
    url = f"{stack.http_url}/api/v1/rebuild"
    assert web.get(url).status_code == 401, "trust does not reach what only an admin may do"
    answer = web.get(url, headers={"X-API-Key": stack.secrets["SDA_API_KEY"]})
    assert answer.status_code == 200
    assert all(job["state"] in {"waiting", "running", "done"} for job in answer.json()["jobs"])


def test_batch_that_influxdb_never_gets_is_not_waited_for_without_end(stack: RunningStack, demo: Building) -> None:
    """The broker gives it to the flows alone; one that comes later shows that it has passed."""
    beacon, who = demo.beacons[0].id, f"unstored-{uuid.uuid4().hex[:8]}"
    stack.stop("telegraf")
    forget_session(stack, "telegraf/readings")
    stack.kill("node-red")
    publish(stack, (f"phone/{who}/readings", batch((beacon, -50))))
    stack.start("node-red")
    stack.start("telegraf")
    reason = str(eventually(lambda: _rebuild_part(stack).get("reason"), what="the reason in /health"))
    assert "InfluxDB does not have what arrived" in reason
    publish(stack, (f"phone/{who}/readings", batch((beacon, -50))))
    eventually(stack.is_caught_up, within_s=60, what="the rebuild")
    assert _rebuild_part(stack)["status"] == "up"


def _rebuild_part(stack: RunningStack) -> dict[str, Any]:
    part: dict[str, Any] = web.get(f"{stack.http_url}/health").json()["parts"]["rebuild"]
    return part


def test_one_late_batch_and_a_restart_cost_the_others_no_history(stack: RunningStack, demo: Building) -> None:
    beacon, who = demo.beacons[0].id, f"late-{uuid.uuid4().hex[:8]}"
    publish(stack, (f"phone/{who}/readings", batch((beacon, -45))))
    eventually(lambda: get(stack, f"/api/v1/staff/{who}").status_code == 200, what="somebody who is known")
    old_ms = now_ms() // 1000 * 1000 - 5 * 86_400_000
    publish(stack, (f"phone/{who}/readings", batch((beacon, -45), ts=old_ms)))
    heartbeats = f"SELECT late FROM flows_health WHERE late > 0 AND time > {now_ms()}ms"  # noqa: S608 - our own number
    eventually(lambda: influx(stack, "health", heartbeats), what="a heartbeat that knows of it")
    stack.kill("node-red")
    stack.start("node-red")
    with admin(stack) as caller:
        jobs = eventually(lambda: caller.get("/api/v1/rebuild").json()["jobs"], what="the jobs")
    assert jobs[0]["from_ms"] > now_ms() - 600_000, "what was settled before stays settled"
    located = f"SELECT room FROM location WHERE staff_id = '{who}' AND time = {old_ms}ms"  # noqa: S608 - our own
    eventually(lambda: influx(stack, "locations", located), within_s=60, what="the late location")
