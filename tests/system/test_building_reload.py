"""Changes the building file while everything runs: a valid one is applied, an invalid one refused, nothing is lost."""

import json
import uuid
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from ingest.steady import SteadySender
from stack.errors import StackError
from stack.lifecycle import status, up
from support import web
from support.building import NEW_BEACON, add_annex
from support.listening import Message, listening
from support.running import DEMO_BUILDING, RunningStack, running_stack
from support.stack_client import accepted_readings, batch, eventually, get, history, influx, now_ms, publish
from support.stored import stored_readings

Change = Callable[[dict[str, Any]], None]
TAKEN_WITHIN_S = 10.0


class Site:
    """A separate stack and the building file that it watches."""

    def __init__(self, stack: RunningStack, file: Path) -> None:
        self.stack, self.file = stack, file
        self.first: dict[str, Any] = json.loads(file.read_text())
        self.heard = 0
        """Number of readings published by `hears`."""

    def write(self, change: Change = lambda _: None) -> None:
        """Replace the file by the first building with `change` applied."""
        data = deepcopy(self.first)
        change(data)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(data))
        new.replace(self.file)

    def part(self) -> dict[str, Any]:
        """The building's part of /health."""
        return dict(get(self.stack, "/health").json()["parts"]["building"])

    def takes(self, **expected: Any) -> dict[str, Any]:
        """Wait until the building's part of /health is as expected."""

        def as_expected() -> dict[str, Any] | None:
            part = self.part()
            return part if part.items() >= expected.items() else None

        return eventually(as_expected, TAKEN_WITHIN_S, f"{expected} in /health") or {}

    def hears(self, staff: str, beacon: str, *at_ms: int) -> None:
        """Publish a phone's readings of a beacon at these times."""
        publish(self.stack, *[(f"phone/{staff}/readings", batch((beacon, -50), ts=ts)) for ts in at_ms])
        self.heard += len(at_ms)

    def stores(self, beacon: str) -> bool:
        """Whether InfluxDB stores readings of this beacon; publishes one to check."""
        self.hears("prober", beacon, now_ms())
        return bool(stored_readings(self.stack, beacon=beacon))

    def phone(self, beacon: str) -> str:
        """The room's name in HACS's response for a phone near `beacon`."""
        staff, now = f"phone-{uuid.uuid4().hex[:8]}", now_ms()
        self.hears(staff, beacon, *[now - n * 1000 for n in (2, 1, 0)])
        records = eventually(lambda: history(self.stack, staff, now / 1000 - 60, now / 1000 + 1), what="history")
        return str(records[0]["location"])


@pytest.fixture(scope="module")
def session_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    file = tmp_path_factory.mktemp("building") / "building.json"
    file.write_text(DEMO_BUILDING.read_text())
    with running_stack(building=file) as running:
        yield Site(running, file)


@pytest.fixture
def site(session_site: Site) -> Iterator[Site]:
    """With the unchanged demo building before and after."""
    yield session_site
    session_site.write()
    session_site.takes(status="up", rooms=60, beacons=120)


@pytest.fixture
def stack(site: Site) -> RunningStack:
    """Named `stack` for the logs in a failed test's report."""
    return site.stack


def test_room_and_beacon_added_under_load_work_and_no_reading_is_lost(site: Site, stack: RunningStack) -> None:
    before, heard = accepted_readings(stack), site.heard
    sender = SteadySender(stack, [one["id"] for one in site.first["beacons"][:2]], rate=200)
    with sender.running():
        sender.seconds_pass(1)
        site.write(add_annex)
        site.takes(rooms=61, beacons=121, status="up")
        assert site.phone(NEW_BEACON["id"]) == "Annex"
        eventually(lambda: site.stores(NEW_BEACON["id"]), within_s=60, what="the new beacon's readings stored")
        sender.seconds_pass(2)
        site.write()
        site.takes(rooms=60, beacons=120)
        sender.seconds_pass(2)
    sender.all_arrive()
    sent = sender.readings() + site.heard - heard
    eventually(lambda: accepted_readings(stack) - before >= sent, what=f"{sent} readings taken by the flows")
    assert accepted_readings(stack) - before == sent


def test_an_invalid_file_is_refused_with_every_fault_and_the_old_one_stays(site: Site, stack: RunningStack) -> None:
    known = site.first["beacons"][0]

    def spoil(data: dict[str, Any]) -> None:
        add_annex(data)
        data["levels"][0]["rooms"][1]["polygon"] = data["levels"][0]["rooms"][0]["polygon"]
        data["levels"][1]["rooms"][0]["limit"] = 0
        data["beacons"][1]["id"] = known["id"]
        data["beacons"][2]["room"] = "attic"
        data["gateways"][3]["colour"] = "red"
        data["staff"][4].pop("name")

    site.write(spoil)
    part = site.takes(status="degraded", rooms=60, beacons=120)
    assert get(stack, "/health").json()["status"] == "degraded"
    places = {fault.split(" ")[0] for fault in part["faults"]}
    assert places >= {
        "/levels/0/rooms/1/polygon",
        "/levels/1/rooms/0/limit",
        "/beacons/1",
        "/beacons/2/room",
        "/gateways/3",
        "/staff/4",
    }
    assert "remedy" in part
    assert site.phone(known["id"]) == next(
        room["name"] for room in site.first["levels"][0]["rooms"] if room["id"] == known["room"]
    )
    assert not site.stack.log("node-red", 400).count("attic") > 1, "logged once"

    site.file.write_text('{"building": "Half a')
    assert site.takes(status="degraded", faults_count=1)["faults"][0].startswith("/ is not JSON")
    stranger = web.get(f"{site.stack.http_url}/health", headers={"Origin": "http://elsewhere.example"})
    reported = stranger.json()["parts"]["building"]
    assert reported["faults_count"] == 1, "everybody sees the number of faults"
    assert "faults" not in reported, "only known callers see the file's content"
    site.write(add_annex)
    site.takes(status="up", rooms=61)


def test_status_shows_the_faults_and_a_start_changes_nothing(site: Site, stack: RunningStack) -> None:
    site.file.write_text('{"building": "Half a')
    site.takes(status="degraded")
    lines, all_up = status(stack.settings)
    assert not all_up
    (reported,) = [line for line in lines if line.startswith("building is degraded: ")]
    assert "/ is not JSON" in reported
    assert "-> correct the file" in reported

    before = [stack.pid(name) for name in ("mosquitto", "telegraf", "node-red")]
    with pytest.raises(StackError, match=r"(?s)/ is not JSON.*Nothing was changed; running processes continue"):
        up(stack.settings, report=lambda _: None, leave_out=("simulator",))
    assert [stack.pid(name) for name in ("mosquitto", "telegraf", "node-red")] == before
    site.write()
    site.takes(status="up")
    assert status(stack.settings)[0][-1] == "all parts are up"


def test_history_keeps_the_name_of_a_removed_room(site: Site, stack: RunningStack) -> None:
    site.write(add_annex)
    site.takes(rooms=61)
    now = now_ms()
    site.hears("renamer", NEW_BEACON["id"], *[now - n * 1000 for n in (2, 1, 0)])

    def rooms() -> set[str]:
        return {one["location"] for one in history(stack, "renamer", now / 1000 - 60, now / 1000 + 1)}

    eventually(lambda: rooms() == {"Annex"}, what="history in the new room")
    site.write()
    site.takes(rooms=60)
    assert rooms() == {"Annex"}
    eventually(lambda: influx(stack, "locations", "SELECT room FROM location WHERE staff_id = 'renamer'"))
    stack.stop("node-red")
    stack.start("node-red")
    eventually(lambda: rooms() == {"Annex"}, what="history in the former room after a restart")


def test_crowded_is_published_once_per_exceeded_limit(site: Site, stack: RunningStack) -> None:
    site.write(add_annex)
    site.takes(rooms=61)
    with listening(stack, "events") as heard:
        for _ in range(3):
            for n in range(3):
                site.hears(f"crowd-{n}", NEW_BEACON["id"], now_ms())
            a_second_passes()
        eventually(lambda: crowds(heard), what="the event")
    assert [{key: value for key, value in one.items() if key != "ts"} for one in crowds(heard)] == [
        {"type": "crowded", "subject": "l1-annex", "level": "L1", "room": "l1-annex", "count": 3, "limit": 2}
    ]


def a_second_passes() -> None:
    """The flows check limits once a second."""
    since = now_ms()
    eventually(lambda: now_ms() > since + 1100)


def crowds(heard: list[Message]) -> list[dict[str, Any]]:
    return [one.payload for one in heard if one.payload["type"] == "crowded"]
