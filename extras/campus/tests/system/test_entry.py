"""The campus entry before two real sites: one history, one place at a time, all of an answer or 503, who asked."""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from campus.run import KEY_NAME, key_command, start_entry
from playwright.sync_api import Browser, expect
from stack.layout import ROOT
from stack.supervisor import Supervisor
from support import web
from support.api import Api
from support.browser import serious_faults, whole
from support.building import Building
from support.keys import admin
from support.metrics import figures, samples
from support.running import RunningStack, running_stack
from support.stack_client import batch, eventually, now_ms, publish
from unused_ports import unused_ports

ANNEX = ROOT / "flows" / "building" / "annex.json"
SITE_TIMEOUT_MS = 1000
"""Short, since a test waits for it; an answer that a busy machine delays further is asked for again."""
PREDECESSOR = (ROOT / "docs" / "coming-from-the-predecessor.md").read_text()
DETECT, EXTRACT, MONITOR = re.findall(r"^GET (/\S+)$", PREDECESSOR, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Campus:
    """The entry and its sites."""

    http_url: str
    folder: Path
    north: RunningStack
    south: RunningStack

    @property
    def secrets(self) -> dict[str, str]:
        """No key: this machine is trusted."""
        return {"SDA_API_KEY": ""}

    def get(self, path: str, *, retry_503: bool = True, key: str = "") -> httpx.Response:
        """One request, without a key from a trusted address."""
        headers = {"X-API-Key": key} if key else {}
        return web.get(self.http_url + path, headers=headers, timeout=20, retry_503=retry_503)

    def history(self, staff_id: str, from_s: int) -> list[dict[str, Any]]:
        """The records of everybody of that name in the last minutes."""
        answer = self.get(f"/extractbeacon?staff_id={staff_id}&start_time={from_s}&end_time={int(time.time()) + 60}")
        answer.raise_for_status()
        records: list[dict[str, Any]] = answer.json()["location"]
        return records


@pytest.fixture(scope="module")
def campus(session_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    """The shared stack and one more with the annex, and the entry before both."""
    folder = tmp_path_factory.mktemp("campus")
    (port,) = unused_ports(1)
    with running_stack(building=ANNEX) as south:
        sites = {"north": session_stack.settings, "south": south.settings}
        try:
            start_entry(folder, port, sites, SITE_TIMEOUT_MS)
            yield Campus(f"http://127.0.0.1:{port}", folder, session_stack, south)
        finally:
            Supervisor(folder).shut_down()
            with admin(session_stack) as caller:
                for key in caller.get("/api/v1/keys").json()["keys"]:
                    if key["name"] == KEY_NAME:
                        caller.delete(f"/api/v1/keys/{key['id']}")


def test_who_walks_over_is_in_one_place_at_a_time(campus: Campus, demo: Building) -> None:
    """The newest sighting wins, in all answers of the present, as soon as its site knows of it; the past has both."""
    began_ms = now_ms()
    there, here = demo.beacons[0], Building(ANNEX).beacons[0]
    publish(campus.north, ("phone/walker/readings", batch((there.id, -50), ts=began_ms - 3000)))
    eventually(lambda: _sites(campus, "walker") == {"north"})

    publish(campus.south, ("phone/walker/readings", batch((here.id, -50), ts=began_ms)))
    at_south = f"{campus.south.http_url}/api/v1/staff/walker"
    eventually(lambda: web.get(at_south).json().get("presence"))
    assert _sites(campus, "walker") == {"south"}

    presence = campus.get("/api/v1/staff/walker").json()["presence"]
    assert (presence["site"], presence["room"]) == ("south", here.room)
    (listed,) = [one for one in campus.get("/api/v1/staff").json()["staff"] if one["staff_id"] == "walker"]
    assert listed["presence"]["site"] == "south"
    past = campus.history("walker", began_ms // 1000 - 10)
    assert [one["site"] for one in past] == ["south", "north"], "newest first"
    assert [one["location"] for one in past] == [Building(ANNEX).room_name(here.room), demo.room_name(there.room)]


def test_who_is_at_one_site_costs_the_other_no_question(campus: Campus, demo: Building) -> None:
    """Whoever walks over is asked for there as well from then on."""
    began_ms = now_ms()
    publish(campus.north, ("phone/local/readings", batch((demo.beacons[0].id, -50), ts=began_ms - 2000)))
    eventually(lambda: _follows(campus, "north") and _follows(campus, "south"), within_s=60, what="both sites followed")
    eventually(lambda: campus.history("local", began_ms // 1000 - 10))

    def is_spared() -> bool:
        before = _polls(campus.south)
        for _ in range(3):
            assert [one["site"] for one in campus.history("local", began_ms // 1000 - 10)] == ["north"]
        return _polls(campus.south) == before

    eventually(is_spared, what="three polls that did not go to the other site")
    publish(campus.south, ("phone/local/readings", batch((Building(ANNEX).beacons[0].id, -50), ts=began_ms)))
    eventually(lambda: [one["site"] for one in campus.history("local", began_ms // 1000 - 10)] == ["south", "north"])


def test_the_predecessors_requests(campus: Campus) -> None:
    began_s = int(time.time())
    beacon = Building(ANNEX).beacons[1]
    detect = DETECT.replace("user_address=0", "user_address=pred").replace("C2A628384B08", beacon.id)
    assert campus.get(detect).text == "New Beacon Detection Added", "the site that has the beacon takes it"
    extract = EXTRACT.replace("staff_id=0", "staff_id=pred").replace("1637396919", str(began_s + 60))
    (record,) = eventually(lambda: campus.get(extract).json()["location"])
    (row,) = [one for one in campus.get(MONITOR).json()["data"] if one["staff_id"] == "pred"]
    assert row == {**record, "staff_id": "pred", "rssi": -20, "mac": beacon.id}
    assert record["site"] == "south"
    unknown = campus.get(DETECT.replace("C2A628384B08", "C2A628384B99"))
    message = "there is no beacon C2A628384B99 in the building file of any site"
    assert (unknown.status_code, unknown.json()["error"]) == (404, message)
    at_site = web.get(campus.north.http_url + EXTRACT.replace("start_time=0&", ""))
    at_entry = campus.get(EXTRACT.replace("start_time=0&", ""))
    assert (at_entry.status_code, at_entry.json()) == (at_site.status_code, at_site.json()), "messages are a site's"


def test_several_and_everybody_are_the_histories_of_both_sites(campus: Campus, demo: Building) -> None:
    began_s = int(time.time())
    publish(campus.north, ("phone/both/readings", batch((demo.beacons[0].id, -50))))
    publish(campus.south, ("phone/annex-only/readings", batch((Building(ANNEX).beacons[2].id, -50))))
    for asked in ("both,annex-only", "*"):
        found = eventually(partial(_places, campus, asked, began_s, {"both", "annex-only"}))
        assert (found["both"], found["annex-only"]) == ("north", "south")


def test_stays_events_and_rooms_are_those_of_both_sites(campus: Campus, demo: Building) -> None:
    """Page after page they are what the sites answer by themselves, in one order, each with its site."""
    began_ms = now_ms()
    there, here = demo.beacons[0], Building(ANNEX).beacons[3]
    publish(campus.north, ("phone/lister/readings", batch((there.id, -50), ts=began_ms - 4000)))
    publish(campus.south, ("phone/lister/readings", batch((here.id, -50), ts=began_ms)))
    entry, sites = Api(campus), {name: Api(stack) for name, stack in (("north", campus.north), ("south", campus.south))}
    window = {"start": began_ms / 1000 - 60, "end": began_ms / 1000 + 60}

    def same(operation: str, items: str, order: Callable[[Any], Any], **filters: Any) -> bool:
        parts = {name: site.pages(operation, items, **filters, **window) for name, site in sites.items()}
        expected = sorted(({**one, "site": name} for name, part in parts.items() for one in part), key=order)
        both = {one["site"] for one in expected} == {"north", "south"}
        return both and entry.pages(operation, items, limit=2, **filters, **window) == expected

    try:
        lists = partial(entry.pages, "listRooms", "rooms")
        eventually(lambda: [one["site"] for one in lists() if "lister" in _people(one)] == ["south"], what="one room")
        assert "lister" in _people(entry.get("getRoom", room=here.room))
        eventually(lambda: same("listEvents", "events", lambda one: (-one["ts"], one["subject"]), type="enter"))
        by_person: Callable[[Any], Any] = lambda one: (one["enter_ms"], one["staff_id"])  # noqa: E731
        eventually(lambda: same("searchStays", "stays", by_person, staff_id="lister,walker"))
        eventually(lambda: same("listStays", "stays", lambda one: one["enter_ms"], staff_id="lister"))
        visits = entry.get("listVisits", room=here.room, **window)
        assert (visits["site"], visits["name"]) == ("south", Building(ANNEX).room_name(here.room))
        assert "lister" in {one["staff_id"] for one in visits["visits"]}
        assert entry.get("getRoom", room=there.room, site="north")["site"] == "north"
        entry.ask("getRoom", 404, room="nowhere")
    finally:
        for api in (entry, *sites.values()):
            api.close()


def test_a_site_that_is_away_is_503_and_never_half_an_answer(campus: Campus, browser: Browser) -> None:
    now_s = int(time.time())
    publish(campus.south, ("phone/there/readings", batch((Building(ANNEX).beacons[0].id, -50))))
    eventually(lambda: campus.history("there", now_s - 60))
    poll = f"/extractbeacon?staff_id=there&start_time={now_s - 60}&end_time={now_s}"
    window = f"start={now_s - 60}&end={now_s}"
    asked = (poll, "/api/v1/staff", f"/api/v1/stays?{window}", f"/api/v1/events?{window}", "/api/v1/rooms")
    assert [campus.get(path).status_code for path in asked] == [200] * len(asked)
    with whole(browser.new_context(base_url=campus.http_url)) as context:
        page = context.new_page()
        page.goto("/")
        rows = page.get_by_role("row")
        north, south = (rows.filter(has=page.get_by_role("rowheader", name=name)) for name in ("north", "south"))
        expect(south).to_contain_text("Harbour House Annex")
        expect(south.get_by_role("link")).to_have_attribute("href", f"{campus.south.http_url}/dashboard")
        assert serious_faults(page) == []
        campus.south.freeze("node-red")
        try:
            with ThreadPoolExecutor() as pool:  # each waits for the site
                answers = list(pool.map(lambda path: campus.get(path, retry_503=False), asked))
            for answer in answers:
                assert (answer.status_code, int(answer.headers["retry-after"])) == (503, 5)
                assert "site south does not answer" in answer.json()["error"]
            assert campus.get("/api/v1/rooms?site=north").status_code == 200, "what one site answers needs no other"
            eventually(lambda: _states(campus)["south"] == "away")
            assert _states(campus)["north"] != "away"
            never_there = poll.replace("=there", "=nobody")
            assert campus.get(never_there, retry_503=False).status_code == 503, "it cannot say that it has nothing"
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # sooner than by itself
            expect(south).to_contain_text("No answer", timeout=60_000)
            expect(south).to_contain_text("does not answer within 1000 ms")
            expect(page.get_by_role("status")).to_have_text("No answer: south")
            expect(north).not_to_contain_text("No answer")
        finally:
            campus.south.thaw("node-red")
        assert campus.get(poll).status_code == 200
        eventually(lambda: _states(campus)["south"] != "away")
        expect(south).not_to_contain_text("No answer", timeout=60_000)


def test_the_callers_name_is_in_the_audit_log_of_each_site_that_is_asked(campus: Campus, demo: Building) -> None:
    for site, building, ago_ms in ((campus.north, demo, 2000), (campus.south, Building(ANNEX), 0)):
        publish(site, ("phone/audited/readings", batch((building.beacons[0].id, -50), ts=now_ms() - ago_ms)))
    eventually(lambda: len({one["site"] for one in campus.history("audited", int(time.time()) - 60)}) == 2)
    made = key_command(campus.folder, ["add", "hacs", "--right", "history"])
    key = made.stdout.strip()
    now_s = int(time.time())
    poll = f"/extractbeacon?staff_id=audited&start_time={now_s - 7200}&end_time={now_s - 3600}"
    eventually(lambda: campus.get(poll, key=key).status_code == 200, what="the entry to know the new key")
    assert campus.get(MONITOR, key=key).status_code == 403, "rights are those of the caller"
    for site in (campus.north, campus.south):
        with admin(site) as caller:
            asked = {"who": f"{KEY_NAME}/hacs", "subject": "audited"}
            entry, *_ = caller.get("/api/v1/audit", params=asked).json()["entries"]
        assert (entry["route"], entry["subjects"]) == ("/extractbeacon", ["audited"])
    assert campus.get(poll, key="sda_00000000_" + 43 * "x").status_code == 401


def _follows(campus: Campus, site: str) -> bool:
    """Whether the entry knows who has a past at a site."""
    return samples(campus.get("/metrics").text)[f'sda_campus_site_followed{{site="{site}"}}'] == 1


def _polls(site: RunningStack) -> float:
    """How many histories a site was asked for."""
    return figures(site).get('sda_http_requests_total{route="/extractbeacon"}', 0)


def _sites(campus: Campus, staff_id: str) -> set[str]:
    """Where the monitoring route shows somebody."""
    data = campus.get(MONITOR).json()["data"]
    return {one["site"] for one in data if one["staff_id"] == staff_id}


def _places(campus: Campus, asked: str, from_s: int, wanted: set[str]) -> dict[str, str]:
    """The site of each person in a history, once it has all of the wanted ones."""
    found = {one["staff_id"]: one["site"] for one in campus.history(asked, from_s)}
    return found if wanted <= found.keys() else {}


def _people(room: dict[str, Any]) -> set[str]:
    """Who is in a room."""
    return {one["staff_id"] for one in room["people"]}


def _states(campus: Campus) -> dict[str, str]:
    """What the entry says of each site."""
    return {name: site["status"] for name, site in campus.get("/health").json()["sites"].items()}
