"""The queries of docs/operations.md show stored readings."""

import csv
import re

import pytest
from stack.layout import ROOT
from support import web
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, influx, now_ms, publish

PAGE = (ROOT / "docs" / "operations.md").read_text()
FENCED = re.compile(r"<!-- tested: (\w+) -->\n```(sql|flux)\n(.*?)```", re.DOTALL)
QUERIES = {name: query for name, _, query in FENCED.findall(PAGE)}


@pytest.fixture
def phone(stack: RunningStack, demo: Building) -> str:
    """A phone that has sent two readings in one batch; they are stored."""
    beacons = demo.beacons[:2]
    body = batch((beacons[0].id, -50), (beacons[1].id, -61), ts=now_ms() - 1000)
    body["readings"][0] |= {"battery_mv": 2950}
    publish(stack, ("phone/7/readings", body))
    eventually(lambda: influx(stack, "readings", "SELECT readings FROM batch WHERE receiver = '7'"))
    return "7"


def test_every_kind_of_query_is_documented() -> None:
    assert set(QUERIES) == {"heard", "batches", "measured", "unfolded"}


@pytest.mark.parametrize("name", ["heard", "batches", "measured"])
def test_influxql(stack: RunningStack, demo: Building, phone: str, name: str) -> None:
    query = QUERIES[name].replace("C2A628384B08", demo.beacons[0].id)
    assert f"'{phone}'" in query or demo.beacons[0].id in query
    eventually(lambda: influx(stack, "readings", query), what=f"rows of {query}")


def test_flux_unfolds_batches(stack: RunningStack, demo: Building, phone: str) -> None:
    with web.Client(
        base_url=stack.influx_url, headers={"Authorization": f"Token {stack.secrets['INFLUX_READ_TOKEN']}"}
    ) as client:
        headers = {"Content-Type": "application/vnd.flux", "Accept": "application/csv"}
        answer = client.post("/api/v2/query", params={"org": "sda"}, content=QUERIES["unfolded"], headers=headers)
    answer.raise_for_status()
    rows = list(csv.DictReader(line for line in answer.text.splitlines() if line))
    found = {(row["receiver"], row["beacon"], int(row["rssi"])) for row in rows}
    assert {(phone, demo.beacons[0].id, -50), (phone, demo.beacons[1].id, -61)} <= found, answer.text
