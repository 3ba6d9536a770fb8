"""Metrics: rates, lags, queues, losses and latencies, equal in Prometheus' format and in the bucket `health`."""

import math
import re
from typing import Any

import pytest
from stack.layout import ROOT
from support import web
from support.building import Building
from support.keys import asking, named_key
from support.metrics import figures, samples
from support.running import RunningStack
from support.stack_client import batch, eventually, influx, publish

PAGE = (ROOT / "docs" / "operations.md").read_text()
WITHIN_S = 60.0
"""A heartbeat is sent every five seconds; a busy machine may be slower."""
PROMETHEUS_ALONE = ("http_callers", "key_expiry_timestamp", "http_request_duration", "build_info")
"""From the operations page."""
IN_SECONDS = {"uptime_seconds": "uptime_s", "stored_timestamp_seconds": "stored_timestamp_s",
              "broker_certificate_expiry_timestamp_seconds": "broker_certificate_expiry_timestamp_s",
              "https_certificate_expiry_timestamp_seconds": "https_certificate_expiry_timestamp_s"}  # fmt: skip


def _field(sample: str) -> str | None:
    """The field name in the bucket `health` of a sample of /metrics."""
    name, _, label = sample.removeprefix("sda_").partition("{")
    if not sample.startswith("sda_") or name.startswith(PROMETHEUS_ALONE):
        return None
    name = name.removesuffix("_total")
    name = IN_SECONDS.get(name) or re.sub("_seconds$", "_ms", name)
    value = re.sub("[^a-z0-9]+", "_", label.partition("=")[2].lower()).strip("_")
    return f"{name}_{value or 'root'}" if label else name


def _newest(stack: RunningStack) -> dict[str, Any]:
    """The newest stored heartbeat."""
    rows = influx(stack, "health", "SELECT * FROM flows_health ORDER BY time DESC LIMIT 1")
    return {key: value for key, value in rows[0].items() if value is not None} if rows else {}


def test_metrics_are_prometheus_text_with_help(stack: RunningStack) -> None:
    answer = web.get(f"{stack.http_url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(answer.text)
    families = {name.split("{")[0] for name in found}
    for name in families:
        family = name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
        assert f"# TYPE {family} " in answer.text or f"# TYPE {name} " in answer.text, name
    for part in ("broker", "influxdb", "ingest", "rebuild", "building", "keys", "audit"):
        assert found[f'sda_part_up{{part="{part}"}}'] == 1
    assert found["process_resident_memory_bytes"] > 10_000_000
    assert any(name.startswith("sda_build_info{version=") for name in found)
    assert "nodejs_eventloop_lag_p99_seconds" in found


def test_metrics_of_the_operations_page_exist(stack: RunningStack) -> None:
    text = web.get(f"{stack.http_url}/metrics").text
    there = set(re.findall(r"^# HELP (sda_\w+)", text, re.MULTILINE))
    named = set(re.findall(r"\bsda_[a-z0-9_]*[a-z0-9]\b", PAGE))
    assert len(named) > 20
    assert named <= there, named - there


def test_messages_are_counted_and_timed(stack: RunningStack, demo: Building) -> None:
    before = figures(stack)
    beacon = demo.beacons[0]
    publish(stack, *[("phone/measured-1/readings", batch((beacon.id, -50))) for _ in range(3)],
            ("phone/measured-1/readings", "no json"))  # fmt: skip
    late = eventually(lambda: _grown(stack, before), WITHIN_S, "the figures have grown")
    assert late["sda_messages_total"] - before["sda_messages_total"] >= 4
    assert late["sda_readings_total"] - before["sda_readings_total"] >= 3
    assert late["sda_live_lag_p50_seconds"] <= late["sda_live_lag_p99_seconds"]
    # another test's walk of minutes ago may be in one interval
    eventually(lambda: 0 <= _live_lag_s(stack, beacon.id) < 30, WITHIN_S, "the lag of what is published now")
    assert 0 < late["sda_store_lag_seconds"] < 30
    # who appears is shown after two seconds
    eventually(lambda: figures(stack)['sda_staff{state="present"}'] >= 1, WITHIN_S, "somebody is present")


def _live_lag_s(stack: RunningStack, beacon: str) -> float:
    """Of the last interval, 99th percentile; infinite where nobody was located in it."""
    publish(stack, ("phone/measured-1/readings", batch((beacon, -50))))
    return figures(stack).get("sda_live_lag_p99_seconds", math.inf)


def _grown(stack: RunningStack, before: dict[str, float]) -> dict[str, float]:
    now = figures(stack)
    reason = 'sda_refused_total{reason="not_json"}'
    fresh = now.get(reason, 0) > before.get(reason, 0) and now["sda_locations_total"] > before["sda_locations_total"]
    return now if fresh and "sda_live_lag_p99_seconds" in now else {}


def test_responses_are_counted_and_timed_by_route_not_by_person(stack: RunningStack) -> None:
    key = named_key(stack, "counted", "history")
    before = figures(stack)
    with asking(stack, key, retry_503=False) as caller:
        for staff_id in range(7):
            caller.get(f"/api/v1/staff/nobody-{staff_id}/locations")
            caller.get("/extractbeacon", params={"staff_id": staff_id, "start_time": 1, "end_time": 2})
        caller.get("/retrieveformonitoring")
        caller.get("/no/such/thing-4711")
    after = figures(stack)

    def grown(name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    assert grown('sda_http_request_duration_seconds_count{route="/extractbeacon"}') == 7
    assert grown('sda_http_requests_total{route="/api/v1/staff/{staff_id}/locations"}') == 7
    assert grown('sda_http_answers_total{status="403"}') == 1
    assert grown('sda_http_callers_total{caller="counted"}') == 15
    assert not any("nobody-" in name or "4711" in name for name in after)


def test_the_bucket_health_has_the_same_metrics(stack: RunningStack) -> None:
    publish(stack, ("phone/measured-2/readings", "no json either"))
    assert web.get(f"{stack.http_url}/retrieveformonitoring").is_success
    reported = figures(stack)
    refused = reported['sda_refused_total{reason="not_json"}']
    wanted = {field for sample in reported if (field := _field(sample))}
    assert len(wanted) > 50

    def lacking() -> set[str]:
        return wanted - {row["fieldKey"] for row in influx(stack, "health", "SHOW FIELD KEYS FROM flows_health")}

    try:
        eventually(lambda: not lacking(), WITHIN_S, "every figure as a field")
    except AssertionError as error:
        raise AssertionError(f"{error}: {sorted(lacking())}") from error

    def caught_up() -> dict[str, Any]:
        stored = _newest(stack)  # a query may return a point before all of its fields are stored
        return stored if stored.get("refused_not_json", 0) >= refused and "messages" in stored else {}

    stored = eventually(caught_up, WITHIN_S, "the newest heartbeat")
    assert all(isinstance(value, float | int) for value in stored.values()), "numbers only: no series of their own"
    assert stored["messages"] <= figures(stack)["sda_messages_total"]


def test_a_stopped_part_is_down_in_the_metrics(stack: RunningStack) -> None:
    stack.stop("influxd")
    eventually(lambda: figures(stack)['sda_part_up{part="influxdb"}'] == 0, WITHIN_S, "InfluxDB is reported as down")
    stack.start("influxd")
    eventually(lambda: figures(stack)['sda_part_up{part="influxdb"}'] == 1, WITHIN_S, "and to be up again")


@pytest.mark.parametrize(("rights", "status"), [(("presence",), 200), (("admin",), 200), (("history",), 403)])
def test_rights_to_read_metrics(stack: RunningStack, rights: tuple[str, ...], status: int) -> None:
    with asking(stack, named_key(stack, "scraper-" + rights[0], *rights)) as caller:
        assert caller.get("/metrics").status_code == status
