"""A campus in containers, on one engine: a reading over MQTT comes back from the entry, over the loss of a node too."""

from pathlib import Path

import pytest
from container_campus import ContainerCampus, container_campus, engine
from containers.daemon import Engine
from stack.layout import ROOT
from support.building import Building
from support.stack_client import batch, eventually, now_ms

pytestmark = pytest.mark.timeout(900)
__all__ = ["engine"]
ANNEX = ROOT / "flows" / "building" / "annex.json"


def places(campus: ContainerCampus, key: str, staff_id: str) -> list[tuple[str, str]]:
    """Site and room of each record of the last five minutes; [] while there is no answer."""
    now_s = now_ms() // 1000
    asked = {"staff_id": staff_id, "start_time": str(now_s - 300), "end_time": str(now_s + 1)}
    answer = campus.get("/extractbeacon", key, **asked)
    return [(one["site"], one["location"]) for one in answer.json()["location"]] if answer.status_code == 200 else []


def test_a_reading_comes_back_from_the_entry_and_a_lost_node_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    beacon = Building(ANNEX).beacons[0]
    room = ("south", Building(ANNEX).room_name(beacon.room))
    tmp_path.chmod(0o755)
    with container_campus(engine, tmp_path, ANNEX) as campus:
        first = campus.account("add", "phone", "first")
        campus.make_files()
        campus.up(campus.hosts)
        key = campus.key()
        campus.publish("first", first, batch((beacon.id, -50)))
        eventually(lambda: room in places(campus, key, "first"), what="the first phone's room at the entry")

        # An account that is new: its folders are made and copied again, nothing is restarted.
        second = campus.account("add", "phone", "second")
        before = [campus.compose(node, "ps", "--quiet") for node in ("nats-2", "nats-3")]
        campus.make_files()
        campus.compose("nats-1", "down", "--volumes", "--timeout", "0")
        campus.up(["nats-2", "nats-3"])
        assert [campus.compose(node, "ps", "--quiet") for node in ("nats-2", "nats-3")] == before
        campus.publish("second", second, batch((beacon.id, -50)))
        eventually(lambda: room in places(campus, key, "second"), what="the second phone's room, without a node")
        campus.up(["nats-1"])
