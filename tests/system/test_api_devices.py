"""`/api/v1` of beacons with their telemetry, gateways with their health, and events."""

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from support import web
from support.api import Api
from support.building import Building
from support.running import RunningStack
from support.stack_client import at_least, batch, eventually, history, influx, now_ms, publish
from support.walks import Walks

pytestmark = pytest.mark.usefixtures("stack")
MINUTE_MS = 60_000


def _measured(beacon: str, ts: int, mv: int, celsius: float) -> dict[str, Any]:
    reading = {"beacon": beacon, "rssi": -60, "battery_mv": mv, "temperature_c": celsius, "humidity_pct": 50}
    return {"v": 1, "ts": ts, "readings": [reading]}


@pytest.fixture(scope="module")
def measured(session_stack: RunningStack, demo: Building) -> tuple[str, int]:
    """A beacon with two values from two receivers in each of three past minutes; returns it and the first minute."""
    beacon, first_ms = demo.beacons[-1].id, now_ms() // MINUTE_MS * MINUTE_MS - 3 * MINUTE_MS
    publish(
        session_stack,
        *[
            (
                f"phone/measure-{receiver}/readings",
                _measured(beacon, first_ms + n * MINUTE_MS + at, 2900 + 10 * n + 4 * receiver, 20 + n),
            )
            for n in range(3)
            for receiver in range(2)
            for at in (1000, 31_000)
        ],
    )
    return beacon, first_ms


def test_beacons_are_listed_with_their_latest_telemetry(api: Api, measured: tuple[str, int], demo: Building) -> None:
    beacons = api.pages("listBeacons", "beacons", limit=50)
    ids = [one["beacon"] for one in beacons]
    assert ids == sorted(ids)
    person, tag = demo.tagged()
    assert {one["beacon"] for one in beacons} >= {one.id for one in demo.beacons} | {tag}
    assert next(one for one in beacons if one["beacon"] == tag)["staff_id"] == person
    beacon, first_ms = measured
    found = eventually(lambda: (one := api.get("getBeacon", beacon=beacon))["measured"] and one)
    assert found["measured"]["battery_mv"] in {2920, 2924}
    assert found["measured"]["ts"] == first_ms + 2 * MINUTE_MS + 31_000
    written = ":".join(beacon.lower()[at : at + 2] for at in range(0, 12, 2))
    assert api.get("getBeacon", beacon=written)["beacon"] == beacon


def test_learned_strengths_survive_a_restart(api: Api, stack: RunningStack, demo: Building) -> None:
    level = demo.gateways[-1].level  # other tests use the lower levels
    near, other, third = [one.id for one in demo.gateways if one.level == level][:3]
    tagged = (one for one in reversed(demo.raw["staff"]) if one.get("tags"))
    walker = next(
        one for one in tagged if api.get("getStaff", staff_id=one["id"])["presence"] is None
    )  # used by no other test
    tag, begin_ms = walker["tags"][0], now_ms() - 780_000
    for part in range(0, 780, 78):  # in parts, as they are located
        seconds = range(part, part + 78)
        publish(
            stack,
            *[
                (f"gateway/{gateway}/readings", batch((tag, rssi), ts=begin_ms + second * 1000))
                for second in seconds
                for gateway, rssi in ((near, -50), (other, -65), (third, -80))
            ],
        )
        located_s = begin_ms // 1000 + seconds[-3]
        eventually(lambda: history(stack, walker["id"], located_s, located_s + 3), what="where they are")  # noqa: B023
    learned = eventually(lambda: api.get("getGateway", gateway=near)["rssi_bias_db"], what="five visits of a minute")
    stack.stop("node-red")
    kept = json.loads((stack.data_dir / "node-red" / "learning.json").read_text())["offsets"]
    assert next(one["visits"] for one in kept if one["id"] == near) >= 5
    stack.start("node-red")
    assert abs(api.get("getGateway", gateway=near)["rssi_bias_db"] - learned) < 1


def test_raw_telemetry_page_by_page(api: Api, measured: tuple[str, int]) -> None:
    beacon, first_ms = measured
    ask: dict[str, Any] = {"beacon": beacon, "every": "raw", "start": first_ms / 1000, "end": first_ms / 1000 + 180}
    points = eventually(lambda: at_least(12, api.pages("listTelemetry", "points", limit=5, **ask)))
    assert points == sorted(points, key=lambda point: (point[0], point[1]))
    assert points[:2] == [
        [first_ms + 1000, "measure-0", 2900, 20, 50],
        [first_ms + 1000, "measure-1", 2904, 20, 50],
    ]
    columns = ["ts", "receiver", "battery_mv", "temperature_c", "humidity_pct"]
    assert api.get("listTelemetry", **ask)["columns"] == columns


def test_minutes_are_means_of_their_readings(api: Api, measured: tuple[str, int]) -> None:
    beacon, first_ms = measured
    ask: dict[str, Any] = {"beacon": beacon, "start": first_ms / 1000, "end": first_ms / 1000 + 180}
    expected = [[first_ms + n * MINUTE_MS, 2902 + 10 * n, 20 + n, 50] for n in range(3)]
    eventually(lambda: api.get("listTelemetry", every="minute", **ask)["points"] == expected)
    answer = api.ask("listTelemetry", limit=2, **ask)
    assert answer.json()["points"] == expected[:2]
    assert api.get("listTelemetry", limit=2, cursor=answer.json()["next"], **ask)["points"] == expected[2:]


def test_the_task_stores_past_minutes(api: Api, stack: RunningStack, measured: tuple[str, int]) -> None:
    """The task runs each minute; here it is started by hand. It stores the values that the API returned before."""
    beacon, first_ms = measured
    ask = {"beacon": beacon, "start": first_ms / 1000, "end": first_ms / 1000 + 180}
    _run_task(stack)
    query = f"SELECT battery_mv, temperature_c, humidity_pct FROM telemetry WHERE beacon = '{beacon}'"  # noqa: S608
    stored = eventually(lambda: at_least(3, influx(stack, "telemetry", query)))
    reported = api.get("listTelemetry", **ask)["points"]
    assert [[one["time"], one["battery_mv"], one["temperature_c"], one["humidity_pct"]] for one in stored] == reported


def _run_task(stack: RunningStack) -> None:
    headers = {"Authorization": f"Token {stack.secrets['INFLUX_ADMIN_TOKEN']}"}
    with web.Client(base_url=stack.influx_url, headers=headers) as admin:
        (task,) = admin.get("/api/v2/tasks").json()["tasks"]
        run = admin.post(f"/api/v2/tasks/{task['id']}/runs", json={}).json()
        ended = eventually(lambda: _ended(admin.get(f"/api/v2/tasks/{task['id']}/runs/{run['id']}").json()))
        assert ended == "success", admin.get(f"/api/v2/tasks/{task['id']}/runs/{run['id']}/logs").text


def _ended(run: dict[str, Any]) -> str:
    return str(run["status"]) if run.get("status") in {"success", "failed", "canceled"} else ""


def test_a_month_of_minutes_and_hours_is_one_cacheable_response(api: Api, stack: RunningStack, demo: Building) -> None:
    beacon, hours = demo.beacons[-2].id, 31 * 24
    end_ms = now_ms() // 3_600_000 * 3_600_000 - 3_600_000
    start_ms = end_ms - hours * 3_600_000
    lines = [
        f"telemetry,beacon={beacon} battery_mv={2900 + n % 60}.0,temperature_c=21.5 {start_ms + n * MINUTE_MS}"
        for n in range(hours * 60)
    ]
    _write(stack, "telemetry", lines)
    ask: dict[str, Any] = {"beacon": beacon, "start": start_ms / 1000, "end": end_ms / 1000, "limit": 44_640}
    answer = api.ask("listTelemetry", **ask)
    points = answer.json()["points"]
    assert len(points) == 44_640
    assert (points[0], points[-1]) == ([start_ms, 2900, 21.5, None], [end_ms - MINUTE_MS, 2959, 21.5, None])
    assert answer.json()["next"] is None
    again = api.http.get(answer.url, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (
        len(api.get("listTelemetry", **{key: value for key, value in ask.items() if key != "limit"})["points"]) == 1000
    ), "unless another limit is given"
    day = api.get("listTelemetry", beacon=beacon, end=end_ms / 1000)
    assert day["end_ms"] - day["start_ms"] == 86_400_000, "the last day, unless another start is given"
    by_hour = api.get("listTelemetry", every="hour", **ask)["points"]
    assert by_hour == [[start_ms + n * 3_600_000, 2930, 21.5, None] for n in range(hours)]  # 2929.5, rounded


def _write(stack: RunningStack, bucket: str, lines: list[str]) -> None:
    headers = {"Authorization": f"Token {stack.secrets['INFLUX_ADMIN_TOKEN']}"}
    where = {"org": "sda", "bucket": bucket, "precision": "ms"}
    body = "\n".join(lines)
    written = web.post(f"{stack.influx_url}/api/v2/write", params=where, headers=headers, content=body, timeout=30)
    assert written.status_code == 204, written.text


@pytest.mark.parametrize("operation", ["getBeacon", "listTelemetry"])
def test_an_unknown_beacon_is_404_and_an_invalid_id_400(api: Api, operation: str) -> None:
    api.ask(operation, expected=404, beacon="FFFFFFFFFFF0")
    assert "beacon" in api.ask(operation, expected=400, beacon="what").json()["error"]


def test_gateways_with_their_state_figures_and_history(api: Api, stack: RunningStack, demo: Building) -> None:
    listed, other, ts = demo.gateways[-1], f"other-{uuid.uuid4().hex[:6]}", now_ms()
    publish(
        stack,
        (f"gateway/{listed.id}/status", {"state": "online", "ts": ts, "version": "9.9"}),
        *[
            (f"gateway/{listed.id}/health", {"ts": ts + n, "uptime_s": n, "adverts": 7, "version": "9.9"})
            for n in range(3)
        ],
        (f"gateway/{other}/health", {"ts": ts, "uptime_s": 5}),
    )
    found = eventually(lambda: _with(api.get("getGateway", gateway=listed.id), lambda one: one["health"]))
    assert (found["state"], found["version"], found["room"], found["listed"]) == ("online", "9.9", listed.room, True)
    assert found["health"]["adverts"] == 7
    gateways = api.pages("listGateways", "gateways", limit=20)
    listing = {one["gateway"]: one["listed"] for one in gateways}
    assert (listing[listed.id], listing[other]) == (True, False)
    window = {"start": ts / 1000 - 1, "end": ts / 1000 + 60}
    points = eventually(
        lambda: at_least(3, api.pages("listGatewayHealth", "points", gateway=listed.id, limit=2, **window))
    )
    assert points[0] == {"ts": ts, "uptime_s": 0, "adverts": 7, "version": "9.9"}
    statuses = eventually(lambda: api.get("listGatewayStatus", gateway=listed.id, **window)["statuses"])
    assert statuses == [{"ts": ts, "state": "online", "version": "9.9"}]


@pytest.mark.parametrize("operation", ["getGateway", "listGatewayHealth", "listGatewayStatus"])
def test_unknown_gateway_is_404(api: Api, operation: str) -> None:
    api.ask(operation, expected=404, gateway="no-such-gateway")


def test_events_newest_first_and_by_subject(api: Api, walks: Walks) -> None:
    window = walks.window | {"end": time.time() + 60}
    reported = eventually(lambda: at_least(3, api.pages("listEvents", "events", subject=walks.ann, limit=1, **window)))
    assert [(one["type"], one["room"]) for one in reversed(reported)][:3] == [
        ("enter", walks.first.room),
        ("leave", walks.first.room),
        ("enter", walks.second.room),
    ]
    assert {one["staff_id"] for one in reported} == {walks.ann}
    entered = api.pages("listEvents", "events", type="enter", **window)
    assert {one["type"] for one in entered} == {"enter"}
    times = [one["ts"] for one in entered]
    assert times == sorted(times, reverse=True)
    assert len(api.get("listEvents", start=0, end=86_400)["events"]) == 0


def test_the_default_limit_is_25_events_and_events_of_one_moment_are_complete(
    api: Api, stack: RunningStack, demo: Building
) -> None:
    """Thirty people enter a room in the same millisecond."""
    beacon, ts, run = demo.beacons[-5], now_ms(), uuid.uuid4().hex[:6]
    publish(stack, *[(f"phone/{run}-{n:02}/readings", batch((beacon.id, -40), ts=ts)) for n in range(30)])
    window = {"start": ts / 1000 - 10, "end": ts / 1000 + 60}
    mine: Callable[[list[Any]], list[Any]] = lambda events: [one for one in events if one["subject"].startswith(run)]  # noqa: E731
    eventually(lambda: len(mine(api.pages("listEvents", "events", type="enter", **window))) == 30)
    first = api.get("listEvents", type="enter", **window)
    assert len(first["events"]) == 25
    assert first["next"]
    assert sorted(
        one["subject"] for one in mine(api.pages("listEvents", "events", type="enter", limit=7, **window))
    ) == [f"{run}-{n:02}" for n in range(30)]


def _with(found: Any, test: Callable[[Any], Any]) -> Any:
    return found if test(found) else None
