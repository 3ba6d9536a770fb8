"""The predecessor's three requests, as docs/coming-from-the-predecessor.md has them, on a building of its list."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stack.layout import ROOT
from support import web
from support.keys import admin
from support.running import DEMO_BUILDING, RunningStack, running_stack
from support.talk import eventually

PAGE = (ROOT / "docs" / "coming-from-the-predecessor.md").read_text()
DETECT, EXTRACT, MONITOR = re.findall(r"^GET (/\S+)$", PAGE, re.MULTILINE)
LIST = re.findall(r"`(C2A628384B08:[^`]+)`", PAGE)[0]
ROOM, LEVEL = LIST.split(":")[1:]


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A stack that took over the predecessor's list of beacons, its callers on the same machine."""
    file = tmp_path_factory.mktemp("building") / "building.json"
    file.write_text(DEMO_BUILDING.read_text())
    with running_stack(building=file) as stack, admin(stack) as http:
        building = "/api/v1/building"
        made = http.post(
            f"{building}/from-list",
            params={"how": "new", "name": "Ours"},
            content=LIST,
            headers={"Content-Type": "text/csv", "If-Match": http.get(building).headers["etag"]},
        )
        assert made.json()["added"] == ["C2A628384B08"], made.text
        yield stack


def test_the_page_has_the_requests_that_were_sent() -> None:
    assert "beacon_address=C2A628384B08" in DETECT
    assert "start_time=0&" in EXTRACT
    assert MONITOR == "/retrieveformonitoring"


def test_a_detection_is_history_from_epoch_0_on_and_on_the_monitoring_page(moved: RunningStack) -> None:
    before_s = int(time.time())
    assert _get(moved, DETECT).text == "New Beacon Detection Added"
    until_now = EXTRACT.replace("end_time=1637396919", f"end_time={before_s + 60}")
    (record,) = eventually(lambda: _get(moved, until_now).json()["location"])
    level = _level(moved)
    assert (record["level"], record["location"]) == (level, ROOM)
    assert before_s <= record["timestamp"] <= time.time()
    (row,) = _get(moved, MONITOR).json()["data"]
    assert row == {**record, "staff_id": "0", "rssi": -20, "mac": "C2A628384B08"}


def test_what_the_page_says_is_answered_differently(moved: RunningStack) -> None:
    assert _get(moved, EXTRACT).json() == {"location": []}, "older than 30 days"
    unknown = _get(moved, DETECT.replace("C2A628384B08", "C2A628384B09"))
    assert (unknown.status_code, unknown.json()["error"]) == (
        404,
        "there is no beacon C2A628384B09 in the building file",
    )
    assert _get(moved, EXTRACT.replace("staff_id=0", "staff_id=nobody")).json() == {"location": []}
    missing = _get(moved, EXTRACT.replace("start_time=0&", ""))
    assert (missing.status_code, missing.json()) == (400, {"error": "start_time is missing", "location": []})
    assert _get(moved, DETECT.replace("rssi=-20", "rssi=-200")).status_code == 400


def test_many_detections_in_a_second_are_one_location_newest_first(moved: RunningStack) -> None:
    began_s = int(time.time())
    count = 0
    while time.time() < began_s + 3:
        assert _get(moved, DETECT.replace("user_address=0", "user_address=7")).status_code == 200
        count += 1
    window = f"/extractbeacon?staff_id=7&start_time=0&end_time={began_s + 60}"
    times = [one["timestamp"] for one in eventually(lambda: _get(moved, window).json()["location"])]
    assert count > len(times)
    assert times == sorted(set(times), reverse=True)


def _get(stack: RunningStack, path: str) -> Any:
    return web.get(stack.http_url + path)


def _level(stack: RunningStack) -> str:
    building = json.loads(Path(stack.building).read_text())
    return str(next(level["id"] for level in building["levels"] if level["name"] == LEVEL))
