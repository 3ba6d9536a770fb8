"""The past is located again: what was missed before a start, backlogs, by hand. Kills under load: test_chaos.py."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from support import web
from support.building import Building
from support.influx_writer import Stored, store_locations
from support.keys import admin
from support.running import RunningStack
from support.stack_client import batch, eventually, forget_session, get, influx, now_ms, publish, rebuild_by_hand

DAY_MS = 86_400_000


def test_who_vanished_while_node_red_was_away_is_lost(stack: RunningStack) -> None:
    beacon = json.loads(Path(stack.building).read_text())["beacons"][0]["id"]
    store_locations(stack, [Stored("of-last-week", now_ms() - 7 * DAY_MS, "L1", "nowhere")])
    stack.kill("node-red")
    ago_ms = now_ms() - 75_000
    publish(stack, ("phone/vanished-1/readings", batch((beacon, -50), ts=ago_ms)))
    publish(stack, ("phone/vanished-1/readings", batch((beacon, -50), ts=ago_ms + 4000)))
    stack.start("node-red")
    eventually(stack.is_caught_up, within_s=60, what="the rebuild")
    question = "SELECT enter_ms, leave_ms FROM stay WHERE staff_id = 'vanished-1'"
    stays = eventually(lambda: influx(stack, "locations", question), what="the end of the stay")
    assert [(one["enter_ms"], one["leave_ms"]) for one in stays] == [(ago_ms, ago_ms + 4000)]
    known = f"{stack.http_url}/api/v1/people/known"
    answer = eventually(lambda: web.get(known, retry_503=False).json().get("staff"), what="who has a past here")
    assert {"vanished-1", "of-last-week"} <= set(answer)


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
    assert said in rebuild_by_hand(stack, *times)


def test_the_jobs_can_be_seen(stack: RunningStack) -> None:
    url = f"{stack.http_url}/api/v1/rebuild"
    assert web.get(url).status_code == 401, "trust does not reach what only an admin may do"
    answer = web.get(url, headers={"X-API-Key": stack.secrets["SDA_API_KEY"]})
    assert answer.status_code == 200
    assert all(job["state"] in {"waiting", "running", "done"} for job in answer.json()["jobs"])


def test_batch_that_influxdb_never_gets_is_not_waited_for(stack: RunningStack, demo: Building) -> None:
    """The broker gives it to the flows alone, and nobody sends anything later."""
    stack.stop("spool")
    forget_session(stack, "telegraf/readings")
    stack.kill("node-red")
    publish(stack, (f"phone/unstored-{uuid.uuid4().hex[:8]}/readings", batch((demo.beacons[0].id, -50))))
    stack.start("node-red")
    stack.start("spool")
    eventually(stack.is_caught_up, within_s=60, what="the rebuild")
    assert _rebuild_part(stack)["status"] == "up"


def test_what_telegraf_has_not_stored_at_a_start_is_located_though_nobody_speaks(
    stack: RunningStack, demo: Building
) -> None:
    who, start_ms = f"behind-{uuid.uuid4().hex[:8]}", now_ms() // 1000 * 1000 - 10_000
    stack.freeze("telegraf")
    stack.stop("node-red")
    forget_session(stack, "nodered/flows")  # so that these come through InfluxDB alone
    sent = [start_ms + n * 1000 for n in range(5)]
    publish(stack, *((f"phone/{who}/readings", batch((demo.beacons[0].id, -45), ts=ts)) for ts in sent))
    stack.start("node-red")
    reason = str(eventually(lambda: _rebuild_part(stack).get("reason"), what="the reason in /health"))
    assert "InfluxDB does not have what arrived" in reason
    stack.thaw("telegraf")
    eventually(stack.is_caught_up, within_s=60, what="the rebuild")
    located = f"SELECT room FROM location WHERE staff_id = '{who}'"  # noqa: S608 - our own name
    assert [one["time"] for one in influx(stack, "locations", located)] == sent


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
