"""Outages of database, broker and Telegraf under steady load: every reading is stored afterwards."""

import pytest
from ingest.steady import SteadySender
from support.building import Building
from support.running import RunningStack

RATE = 100  # messages a second, four readings in each
OUTAGE_S = 20


@pytest.fixture
def sender(stack: RunningStack, demo: Building) -> SteadySender:
    return SteadySender(stack, [beacon.id for beacon in demo.beacons[:4]], RATE)


@pytest.mark.parametrize("name", ["influxd", "mosquitto"])
def test_every_reading_is_stored_after_an_outage(stack: RunningStack, sender: SteadySender, name: str) -> None:
    with sender.running():
        sender.seconds_pass(2)
        stack.stop(name)
        sender.seconds_pass(OUTAGE_S)
        stack.start(name)
        sender.seconds_pass(2)
    sender.all_arrive()


def test_every_reading_is_stored_after_a_kill_of_telegraf(stack: RunningStack, sender: SteadySender) -> None:
    with sender.running():
        sender.seconds_pass(2)
        stack.kill("telegraf")
        sender.seconds_pass(3)
        stack.start("telegraf")
        sender.seconds_pass(2)
    sender.all_arrive()
