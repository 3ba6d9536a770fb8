"""STORES=2: two InfluxDBs are filled alike; the flows read from one and go over to the other at once."""

from collections.abc import Iterator
from typing import Any

import pytest
from stack.stores import SECOND
from support import web
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import eventually, history, now_ms
from support.walks import Walks, walk

MEASUREMENTS = {"readings": "batch", "locations": "location", "health": "flows_health"}


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    with running_stack(environment={"STORES": "2", "MQTT_SERVICES_OUTSIDE": ""}) as running:
        yield running


@pytest.fixture(scope="module")
def walks(stack: RunningStack, demo: Building) -> Walks:
    return walk(stack, demo, "walk-ann", "walk-ben")


def rows(stack: RunningStack, number: int, bucket: str, query: str) -> list[list[Any]]:
    """The rows of an InfluxQL query to one of the two, with its own token."""
    store = stack.settings.stores[number - 1]
    answer = web.get(
        f"{stack.settings.url_of('INFLUX_PORT', store)}/query",
        params={"db": bucket, "epoch": "ms", "q": query},
        headers={"Authorization": f"Token {stack.secrets[store.key('INFLUX_READ_TOKEN')]}"},
        timeout=60,
    )
    answer.raise_for_status()
    found: list[list[Any]] = [row for one in answer.json()["results"][0].get("series", []) for row in one["values"]]
    return found


def stores_part(stack: RunningStack) -> dict[str, Any]:
    """What /health says of the two."""
    part: dict[str, Any] = web.get(f"{stack.http_url}/health", timeout=10).json()["parts"]["stores"]
    return part


def test_both_are_filled_with_the_same(stack: RunningStack, walks: Walks) -> None:
    until = now_ms()
    eventually(lambda: stores_part(stack)["status"] == "up", what="both are up")
    for bucket, measurement in MEASUREMENTS.items():
        query = f"SELECT * FROM {measurement} WHERE time < {until}ms GROUP BY *"  # noqa: S608 - our own names

        def same(bucket: str = bucket, query: str = query) -> bool:
            first, second = (rows(stack, number, bucket, query) for number in (1, 2))
            return len(first) > 0 and first == second

        eventually(same, what=f"the same {measurement} in both")
    assert walks


def test_history_goes_on_while_the_one_that_is_read_from_is_down(stack: RunningStack, walks: Walks) -> None:
    start_s, end_s = walks.start_ms / 1000 - 3600, walks.end_ms / 1000  # longer than memory goes back
    before = history(stack, "walk-ann", start_s, end_s)
    reads_from = stores_part(stack)["reads_from"]
    name = stack.settings.stores[reads_from - 1].name("influxd")
    stack.kill(name)
    assert history(stack, "walk-ann", start_s, end_s) == before, "the first question after the kill"
    part = stores_part(stack)
    assert (part["status"], part["reads_from"], part["switches"]) == ("degraded", 3 - reads_from, 1)
    stack.start(name)
    eventually(lambda: stores_part(stack)["status"] == "up", what="both are up again")
    assert stores_part(stack)["reads_from"] == 3 - reads_from


def test_what_was_missed_is_stored_when_it_is_back(stack: RunningStack, demo: Building) -> None:
    stack.kill(SECOND.name("influxd"))
    walk(stack, demo, "walk-cleo", "walk-dan")
    stack.start(SECOND.name("influxd"))
    query = "SELECT * FROM batch WHERE receiver = 'walk-cleo' GROUP BY *"
    eventually(lambda: len(rows(stack, 2, "readings", query)) > 0, what="its readings in the second")
    eventually(lambda: rows(stack, 1, "readings", query) == rows(stack, 2, "readings", query), what="the same in both")
