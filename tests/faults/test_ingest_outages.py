"""Outages of database, broker and Telegraf under steady load: every reading is stored afterwards."""

import pytest
from ingest.steady import SteadySender
from support import web
from support.building import Building
from support.running import RunningStack
from support.stack_client import eventually

RATE = 100  # messages a second, four readings in each
OUTAGE_S = 20


@pytest.fixture
def sender(stack: RunningStack, demo: Building) -> SteadySender:
    return SteadySender(stack, [beacon.id for beacon in demo.beacons[:4]], RATE)


def test_every_reading_is_stored_after_an_outage_of_the_broker(stack: RunningStack, sender: SteadySender) -> None:
    with sender.running():
        sender.seconds_pass(2)
        stack.stop("mosquitto")
        sender.seconds_pass(OUTAGE_S)
        stack.start("mosquitto")
        sender.seconds_pass(2)
    sender.all_arrive()


def test_what_comes_without_influxdb_is_on_disk_and_survives_kills(stack: RunningStack, sender: SteadySender) -> None:
    """All of it leaves the broker, whose queue is bounded; Telegraf and the spool are killed in the middle."""
    with sender.running():
        sender.seconds_pass(1)
        stack.freeze("influxd")
        sender.seconds_pass(4)
        stack.kill("telegraf")
        sender.seconds_pass(1)
        stack.start("telegraf")
        sender.seconds_pass(1)
        stack.kill("spool")
        sender.seconds_pass(1)
        stack.start("spool")
        sender.seconds_pass(1)
    all_is_on_disk_over_a_kill(stack, sender)
    stack.thaw("influxd")
    sender.all_arrive()


def test_what_comes_without_telegraf_is_on_disk_and_survives_kills(stack: RunningStack, sender: SteadySender) -> None:
    """The spool takes it from the broker, is killed in the middle, and asks Telegraf again for what that had taken."""
    with sender.running():
        sender.seconds_pass(1)
        stack.freeze("telegraf")
        sender.seconds_pass(4)
    all_is_on_disk_over_a_kill(stack, sender)
    stack.kill("telegraf")
    stack.start("telegraf")
    sender.all_arrive()


def test_every_reading_is_stored_after_a_kill_of_telegraf(stack: RunningStack, sender: SteadySender) -> None:
    with sender.running():
        sender.seconds_pass(2)
        stack.kill("telegraf")
        sender.seconds_pass(3)
        stack.start("telegraf")
        sender.seconds_pass(2)
    sender.all_arrive()


def all_is_on_disk_over_a_kill(stack: RunningStack, sender: SteadySender) -> None:
    """All but what was under way when the outage began waits in the spool, and still does after a kill of it."""
    eventually(lambda: waiting_lines(stack) >= sender.messages - 2 * RATE, within_s=60, what="all messages on disk")
    stack.kill("spool")
    stack.start("spool")
    assert waiting_lines(stack) >= sender.messages - 2 * RATE


def waiting_lines(stack: RunningStack) -> int:
    """What waits on disk for Telegraf and InfluxDB: messages and points."""
    return int(web.get(f"{stack.settings.spool_url}/status", timeout=10).json()["waiting_lines"])
