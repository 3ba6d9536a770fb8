"""With one part down the others continue, report it and recover; readings from meanwhile are located afterwards."""

import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
from support import web
from support.building import Building
from support.listening import listening
from support.running import RunningStack
from support.stack_client import batch, eventually, get, history, influx, now_ms, publish
from support.stored import stored_readings


def _health(stack: RunningStack, part: str) -> str:
    answer = get(stack, "/health").json()
    return str(answer["parts"][part]["status"]) if answer["status"] == "degraded" else "up"


def test_without_influxdb_recent_history_works_and_older_is_503(stack: RunningStack, demo: Building) -> None:
    beacon = demo.beacons_of_two_rooms()[0]
    stack.stop("influxd")
    eventually(lambda: _health(stack, "influxdb") != "up", within_s=60)
    ts = now_ms()
    publish(stack, ("phone/outage-1/readings", batch((beacon.id, -50), ts=ts)))
    eventually(lambda: history(stack, "outage-1", ts / 1000 - 1, ts / 1000 + 1))
    started = time.monotonic()
    older = _ask_once(
        stack, "/extractbeacon", staff_id="outage-1", start_time=int(time.time()) - 86_400, end_time=int(time.time())
    )
    assert older.status_code == 503
    assert int(older.headers["retry-after"]) > 0
    assert older.json()["location"] == []
    assert time.monotonic() - started < 4  # how soon as a rule: test_slow_influxdb.py
    stack.start("influxd")
    eventually(lambda: _health(stack, "influxdb") == "up", within_s=60)
    eventually(lambda: history(stack, "outage-1", time.time() - 86_400, time.time()), within_s=60)


def test_a_frozen_influxdb_does_not_block_callers(stack: RunningStack) -> None:
    stack.freeze("influxd")
    try:
        now_s = int(time.time())
        answer = _ask_once(stack, "/extractbeacon", staff_id="0", start_time=now_s - 86_400, end_time=now_s)
        assert answer.status_code == 503
        eventually(lambda: _health(stack, "influxdb") == "degraded", within_s=60, what="health names InfluxDB")
    finally:
        stack.thaw("influxd")


def test_without_the_broker_a_detection_is_503_and_health_has_the_reason(stack: RunningStack, demo: Building) -> None:
    stack.stop("mosquitto")
    eventually(lambda: _health(stack, "broker") != "up", within_s=60)
    reason = get(stack, "/health").json()["parts"]["broker"]["reason"]
    assert "broker" in reason.lower()
    beacon = demo.beacons_of_two_rooms()[0].id
    refused = _ask_once(stack, "/newbeacondetect", staff_id="0", beacon_address=beacon, rssi="-50")
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) > 0


def test_what_arrives_while_node_red_is_away_is_located_at_its_own_time(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    stack.stop("node-red")
    ts = now_ms() - 10_000
    publish(
        stack,
        ("phone/away-1/readings", batch((first.id, -50), ts=ts)),
        ("phone/away-1/readings", batch((second.id, -30), ts=ts + 8_000)),
    )
    stack.start("node-red")
    start_s, end_s = ts / 1000 - 1, now_ms() / 1000
    both_ends = {"start_time": start_s, "end_time": end_s}
    eventually(
        partial(
            _whole,
            {ts // 1000, (ts + 8_000) // 1000},
            partial(_ask_once, stack, "/extractbeacon", staff_id="away-1", **both_ends),
            partial(_ask_once, stack, "/extractbeacon", staff_id="away-1,nobody", **both_ends),
            partial(_ask_once, stack, "/api/v1/staff/away-1/locations", start=start_s, end=end_s),
        )
    )


def _ask_once(stack: RunningStack, path: str, **parameters: Any) -> httpx.Response:
    """The first response, even if it is 503."""
    return web.get(stack.http_url + path, params=parameters, timeout=5, retry_503=False)


def _whole(seconds: set[int], *asked: Callable[[], httpx.Response]) -> bool:
    """Whether all calls are answered. Until everything is located they get 503 and never a partial answer."""
    answers = [ask() for ask in asked]
    for answer in answers:
        if answer.status_code == 503:
            assert int(answer.headers["retry-after"]) > 0
        else:
            reported = answer.json()
            records = reported["location"] if "location" in reported else reported["locations"]
            assert {int(one.get("timestamp") or one["ts"] // 1000) for one in records} == seconds, answer.text
    return all(answer.status_code == 200 for answer in answers)


def test_what_a_killed_broker_forgot_is_published_again(stack: RunningStack, demo: Building) -> None:
    """Presences that stay as they are, and locations and stays that Telegraf has not fetched yet."""
    first, second = demo.beacons_of_two_rooms()
    who = f"forgotten-{uuid.uuid4().hex[:8]}"
    stack.stop("telegraf")
    start_ms = now_ms() // 1000 * 1000 - 40_000
    sent = [(start_ms + n * 1000, first if n < 20 else second) for n in range(40)]
    publish(stack, *((f"phone/{who}/readings", batch((room.id, -45), ts=ts)) for ts, room in sent))
    eventually(lambda: _room(stack, who) == second.room, what="the last room")
    eventually(lambda: get(stack, "/health").json()["parts"]["broker"]["waiting"] == 0, what="all published")
    stack.kill("mosquitto")
    stack.start("mosquitto")
    assert [one["room"] for one in _retained(stack, f"staff/{who}/location")] == [second.room]
    stack.start("telegraf")
    located = f"SELECT room FROM location WHERE staff_id = '{who}'"  # noqa: S608 - our own name
    eventually(lambda: len(influx(stack, "locations", located)) >= len(sent) - 1, what="the locations")
    stays = f"SELECT room FROM stay WHERE staff_id = '{who}'"  # noqa: S608
    eventually(lambda: first.room in {one["room"] for one in influx(stack, "locations", stays)}, what="the stay")


def _room(stack: RunningStack, who: str) -> str | None:
    presence = get(stack, f"/api/v1/staff/{who}").json().get("presence")
    return str(presence["room"]) if presence else None


def _retained(stack: RunningStack, topic: str) -> list[dict[str, Any]]:
    """Messages on a topic within ten seconds."""
    with listening(stack, topic) as heard:
        eventually(lambda: heard, within_s=10, what=f"something under {topic}")
        return [heard[0].payload]


_STAYS = (
    "/api/v1/staff/0/stays",
    "/api/v1/stays",
    "/api/v1/staff/0/contacts",
    "/api/v1/patrols",
    "/api/v1/rankings/rooms",
    "/api/v1/rankings/staff",
)


def test_answers_made_from_stays_are_never_partial(stack: RunningStack, demo: Building) -> None:
    """Neither while they are on their way to the database, nor before they are located again after a start."""
    room = demo.beacons[0].room
    asked = (*_STAYS, f"/api/v1/rooms/{room}/visits")
    window = {"start": time.time() - 3600, "end": time.time()}
    days_ago = {"start": time.time() - 3 * 86_400, "end": time.time() - 3 * 86_400 + 60}

    def answers(window: dict[str, float], *paths: str) -> set[int]:
        found = [_ask_once(stack, path, **window) for path in paths]
        assert all(int(one.headers["retry-after"]) > 0 for one in found if one.status_code == 503)
        return {one.status_code for one in found}

    eventually(lambda: answers(window, *asked, "/api/v1/events") == {200}, what="what tests before left on its way")
    stack.stop("telegraf")
    eventually(lambda: answers(window, *asked, "/api/v1/events") == {503}, what="stays that are on their way")
    assert answers(days_ago, *asked, "/api/v1/events") == {200}
    publish(stack, ("phone/halves-1/readings", batch((demo.beacons[0].id, -50))))
    stack.kill("node-red")
    publish(stack, ("phone/halves-1/readings", batch((demo.beacons[0].id, -50))))
    stack.start("node-red")
    assert answers(window, *asked) == {503}, "what was missed is not located again yet"
    assert answers(days_ago, *asked) == {200}
    stack.start("telegraf")
    eventually(lambda: answers(window, *asked, "/api/v1/events") == {200}, what="all of it")


def test_while_the_clock_is_behind_nothing_is_taken_in_and_nothing_lost(stack: RunningStack, demo: Building) -> None:
    """A clock behind the newest known time before the restart, as on a machine without a battery."""
    beacon, who = demo.beacons[0].id, f"clock-{uuid.uuid4().hex[:8]}"
    stack.stop("telegraf")
    stack.stop("node-red")
    tolerated_s, behind_s = 60, 12
    newest = stack.data_dir / "ingest" / "newest-time"
    assert int(newest.read_text()) == pytest.approx(time.time(), abs=60), "what was known before the restart"
    newest.write_text(f"{int(time.time()) + tolerated_s + behind_s}\n")
    stack.start("telegraf")
    stack.start("node-red")
    publish(stack, *((f"phone/{who}/readings", batch((beacon, -45), ts=now_ms() + n)) for n in range(3)))
    clock = get(stack, "/health").json()["parts"]["clock"]
    assert clock["status"] == "degraded"
    assert "behind the newest time known" in clock["reason"]
    alert = eventually(lambda: _alert(stack, "clock_behind:clock"), what="the alert")
    assert alert["severity"] == "critical"
    stored = partial(stored_readings, stack, f"receiver = '{who}'")
    assert stored() == [], "the broker keeps them"
    eventually(lambda: len(stored()) == 3, within_s=60, what="what the broker has kept")
    eventually(lambda: _answers(stack) and _health(stack, "clock") == "up", within_s=60, what="all goes on")
    eventually(lambda: _where(stack, who), within_s=60, what="where it was")


def _alert(stack: RunningStack, id_: str) -> dict[str, Any]:
    alerts: list[dict[str, Any]] = get(stack, "/api/v1/alerts").json()["alerts"]
    return next((one for one in alerts if one["id"] == id_), {})


def _where(stack: RunningStack, who: str) -> list[dict[str, Any]]:
    """A person's records of the last minutes; empty while Node-RED starts."""
    try:
        return history(stack, who, time.time() - 300, time.time())
    except httpx.TransportError:
        return []


def _answers(stack: RunningStack) -> bool:
    """Whether Node-RED has restarted."""
    try:
        return web.get(f"{stack.http_url}/health", retry_503=False).status_code == 200
    except httpx.TransportError:
        return False
