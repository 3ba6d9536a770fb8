"""The set-up page in a real browser: edit, upload and place the building, save and restore it."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.browser import serious_faults, session_of
from support.keys import admin, asking, named_key
from support.running import DEMO_BUILDING, RunningStack, running_stack
from support.stack_client import batch, publish
from support.tabs import Tabs

SOON_MS = 60_000
BUILDING = "/api/v1/building"
BEACON = "A0B1C2D3E4F8"
FIRST: dict[str, Any] = json.loads(DEMO_BUILDING.read_text())
CAFE = FIRST["levels"][0]["rooms"][3]


@pytest.fixture(scope="module")
def own_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A separate stack, whose building may be changed."""
    file = tmp_path_factory.mktemp("setup") / "building.json"
    file.write_text(DEMO_BUILDING.read_text())
    with running_stack(building=file) as running:
        yield running


@pytest.fixture(scope="module")
def sessions(browser: Browser, own_stack: RunningStack) -> dict[str, Any]:
    return {role: session_of(browser, own_stack, role) for role in ("ADMIN", "VIEWER")}


@pytest.fixture(scope="module")
def http(own_stack: RunningStack) -> Iterator[httpx.Client]:
    with admin(own_stack) as client:
        yield client


@pytest.fixture
def stack(own_stack: RunningStack, http: httpx.Client) -> RunningStack:
    """With the demo building."""
    put(http, lambda _: None)
    return own_stack


def put(http: httpx.Client, change: Callable[[dict[str, Any]], Any]) -> None:
    """Set the building to the demo building with a change, outside the page."""
    data = deepcopy(FIRST)
    change(data)
    etag = http.get(BUILDING).headers["etag"]
    http.put(BUILDING, json=data, headers={"If-Match": etag}).raise_for_status()


@pytest.fixture
def opened(tabs: Tabs, stack: RunningStack, sessions: dict[str, Any]) -> Iterator[Callable[..., Page]]:
    """Opens pages below the dashboard; an error in their scripts fails the test."""
    with ExitStack() as lent:

        def opened(path: str = "setup", role: str = "ADMIN") -> Page:
            base, viewport = f"{stack.http_url}/dashboard/", {"width": 1280, "height": 800}
            page = lent.enter_context(tabs.lent(base_url=base, storage_state=sessions[role], viewport=viewport))
            page.set_default_timeout(SOON_MS)
            page.goto(path)
            if path.startswith("setup"):
                expect(page.get_by_role("heading", name="Set-up", level=1)).to_be_visible()
                expect(page.locator(".wait")).to_have_count(0)
            return page

        yield opened


@pytest.fixture
def setup(opened: Callable[..., Page]) -> Page:
    return opened()


def building(http: httpx.Client) -> dict[str, Any]:
    return dict(http.get(BUILDING).json())


def thing(page: Page) -> Locator:
    """The form of the selected item."""
    return page.locator(".thing")


def status(page: Page) -> Locator:
    return page.locator(".draft").get_by_role("status").first


def saved(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(status(page)).to_have_text(re.compile(r"Saved as version \d+, which is in use"))


def click_on_plan(page: Page, x_m: float, y_m: float) -> None:
    """Click on a point of the shown level, in metres."""
    point = page.locator(".plan .ground").evaluate(
        """(ground, [x, y]) => {
            const point = new DOMPoint(x, ground.height.baseVal.value - y).matrixTransform(ground.getScreenCTM());
            return [point.x, point.y];
        }""",
        [x_m, y_m],
    )
    page.mouse.click(*point)


def typed(page: Page, label: str, value: str) -> None:
    field = thing(page).get_by_label(label)
    field.fill(value)
    field.press("Tab")


def test_a_beacon_is_placed_by_a_click_and_used_at_once(setup: Page, http: httpx.Client, stack: RunningStack) -> None:
    setup.get_by_role("button", name="Beacon", exact=True).click()
    expect(thing(setup).get_by_role("heading", level=2)).to_be_focused()
    typed(setup, "Id", "a0:b1:c2:d3:e4:f8")
    click_on_plan(setup, 5, 4)
    expect(thing(setup).get_by_label("Room")).to_have_value(CAFE["id"])
    expect(thing(setup).get_by_label("Id")).to_have_value(BEACON)
    assert float(thing(setup).get_by_label("East").input_value()) == pytest.approx(5, abs=0.1)
    expect(status(setup)).to_have_text("1 change not saved")
    setup.keyboard.press("Escape")
    expect(setup.locator(".plan .ground")).to_have_count(0)
    setup.get_by_text("What is changed").click()
    expect(setup.get_by_text(f"Beacon {BEACON} added")).to_be_visible()
    saved(setup)
    made = next(one for one in building(http)["beacons"] if one["id"] == BEACON)
    assert (made["level"], made["room"]) == ("L1", CAFE["id"])
    publish(stack, ("phone/placed-1/readings", batch((BEACON, -40))))
    setup.goto("floor?level=L1")
    expect(setup.locator('[data-staff="placed-1"]')).to_be_visible()


def test_gateway_is_placed_without_a_mouse(setup: Page, http: httpx.Client) -> None:
    setup.get_by_role("button", name="Gateway", exact=True).press("Enter")
    typed(setup, "Id", "gw-new")
    typed(setup, "East", "5")
    typed(setup, "North", "4")
    expect(thing(setup).get_by_label("Room")).to_have_value(CAFE["id"])
    marker = setup.locator('[data-device="gw-new"]')
    marker.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "Shift+ArrowDown"):
        marker.press(key)
    expect(thing(setup).get_by_label("East")).to_have_value("6")
    expect(thing(setup).get_by_label("North")).to_have_value("4.4")
    expect(marker).to_be_focused()
    thing(setup).get_by_label("Room").select_option("l2-foyer")
    expect(thing(setup).get_by_label("Position is not measured")).to_be_checked()
    saved(setup)
    made = next(one for one in building(http)["gateways"] if one["id"] == "gw-new")
    assert (made["level"], made["room"], made["approximate"]) == ("L2", "l2-foyer", True)


def test_beacon_is_moved_edited_and_removed(setup: Page, http: httpx.Client) -> None:
    first = FIRST["beacons"][0]
    setup.locator(f'[data-device="{first["id"]}"]').click()
    thing(setup).get_by_role("button", name="Place on the plan").click()
    click_on_plan(setup, 5, 4)
    typed(setup, "Power at 1 m", "-61")
    setup.locator(".things summary", has_text="Beacons").click()
    setup.locator(f'[data-choose="{FIRST["beacons"][1]["id"]}"]').click()
    thing(setup).get_by_role("button", name="Remove").click()
    expect(thing(setup)).to_have_count(0)
    expect(status(setup)).to_have_text("2 changes not saved")
    setup.get_by_role("button", name="Undo").click()
    expect(thing(setup)).to_be_visible()
    setup.get_by_role("button", name="Redo").click()
    saved(setup)
    beacons = building(http)["beacons"]
    assert (beacons[0]["room"], beacons[0]["tx"]) == (CAFE["id"], -61)
    assert FIRST["beacons"][1]["id"] not in {one["id"] for one in beacons}


def test_room_is_drawn_on_a_new_level(setup: Page, http: httpx.Client) -> None:
    setup.get_by_role("button", name="Level", exact=True).click()
    typed(setup, "Name", "Roof")
    setup.get_by_role("button", name="Room", exact=True).click()
    for corner in ((0.3, 0.2), (20, 0.3), (20, 10), (0.2, 10)):
        click_on_plan(setup, *corner)
    expect(thing(setup).get_by_label("Corners")).to_have_value(re.compile(r"^0, 0\n20(\.\d)?, 0"))
    typed(setup, "Name", "Helipad")
    typed(setup, "Id", "helipad")
    typed(setup, "Corners", "0, 0\n20, 0\n20, 10\n0, 10")
    typed(setup, "Crowded above", "4")
    thing(setup).get_by_label("Kind").select_option("lobby")
    saved(setup)
    level = building(http)["levels"][-1]
    assert (level["id"], level["name"]) == ("L8", "Roof")
    assert level["rooms"] == [
        {
            "id": "helipad",
            "name": "Helipad",
            "polygon": [[0, 0], [20, 0], [20, 10], [0, 10]],
            "limit": 4,
            "kind": "lobby",
        }
    ]


def test_faults_are_shown_beside_their_field_and_link_to_it(setup: Page, http: httpx.Client) -> None:
    before = building(http)
    setup.locator(".things summary", has_text="Rooms").click()
    setup.locator(f'[data-choose="{CAFE["id"]}"]').click()
    typed(setup, "Corners", "0, 0\n18, 0\n18, 12\n-5, 12")
    thing(setup).get_by_label("Name").fill("Half typed")
    corners = thing(setup).get_by_label("Corners")
    expect(corners).to_have_attribute("aria-invalid", "true")
    expect(corners).to_have_accessible_description(re.compile(r"lies outside the level of 60 x 36 m"))
    expect(thing(setup).get_by_label("Name")).to_have_value("Half typed")
    typed(setup, "Name", "")
    expect(thing(setup).get_by_label("Name")).to_have_accessible_description("is missing")
    expect(setup.get_by_role("link", name="Plan 2")).to_be_visible()
    setup.get_by_role("button", name="Save", exact=True).click()
    expect(setup.get_by_role("alert")).to_contain_text("nothing was changed")
    assert building(http) == before
    setup.get_by_role("button", name="Close").click()
    setup.locator(".faults").get_by_role("button", name=re.compile("Name is missing")).click()  # opens automatically
    typed(setup, "Name", CAFE["name"])
    typed(setup, "Corners", "0, 0\n18, 0\n18, 12\n0, 12")
    expect(setup.locator(".faults summary")).to_have_text("No faults")
    expect(status(setup)).to_have_text("Nothing is changed")


def test_staff_get_names_and_tags(setup: Page, http: httpx.Client) -> None:
    setup.get_by_role("link", name="Staff").last.click()
    setup.get_by_role("button", name="Staff member").click()
    typed(setup, "Id", "new-1")
    typed(setup, "Name", "Noor Aziz")
    setup.get_by_label("Another tag").fill("a0:b1:c2:d3:e4:aa")
    setup.get_by_role("button", name="Add tag").click()
    setup.get_by_label("Another tag").fill(FIRST["beacons"][0]["id"])
    setup.get_by_label("Another tag").press("Enter")
    reported = thing(setup).locator(".tags .fault")
    expect(reported).to_contain_text(f"is already at Beacon {FIRST['beacons'][0]['id']}")
    setup.get_by_role("button", name=f"Take tag {FIRST['beacons'][0]['id']} away").click()
    expect(reported).to_have_count(0)
    setup.get_by_role("searchbox").fill("Noor")
    expect(setup.locator("tbody tr")).to_have_count(1)
    saved(setup)
    assert building(http)["staff"][-1] == {"id": "new-1", "name": "Noor Aziz", "tags": ["A0B1C2D3E4AA"]}


def test_power_of_tags_and_open_edges_are_kept_and_can_be_set(opened: Callable[..., Page], http: httpx.Client) -> None:
    def begun(data: dict[str, Any]) -> None:
        data["staff"][0]["tag_tx"] = -52
        data["levels"][0]["rooms"][3]["open_edges"] = [1]

    put(http, begun)
    page = opened("setup?tab=staff")
    page.get_by_role("searchbox").fill(FIRST["staff"][0]["name"])
    page.get_by_role("button", name=f"Edit {FIRST['staff'][0]['id']} {FIRST['staff'][0]['name']}").click()
    typed(page, "Name", "Renamed")
    saved(page)
    now = building(http)
    assert (now["staff"][0]["name"], now["staff"][0]["tag_tx"]) == ("Renamed", -52)
    assert now["levels"][0]["rooms"][3]["open_edges"] == [1]
    typed(page, "Power of the tags at 1 m, dBm", "-55")
    saved(page)
    assert building(http)["staff"][0]["tag_tx"] == -55


def test_text_is_checked_line_by_line_and_becomes_the_draft(setup: Page, http: httpx.Client) -> None:
    setup.get_by_role("link", name="File").click()
    editor = setup.get_by_role("textbox", name="Building file")
    good = editor.input_value()
    assert json.loads(good) == building(http)
    lines = good.split("\n")
    line = next(i for i, text in enumerate(lines) if '"l1-cafe"' in text)
    editor.fill(
        "\n".join([*lines[:line], lines[line].replace('"name": "Quayside Café"', '"name": 7'), *lines[line + 1 :]])
    )
    reported = setup.locator(".line-faults li")
    expect(reported).to_have_count(1)
    expect(reported).to_contain_text(f"Line {line + 1}")
    expect(reported).to_contain_text("must be string, not 7")
    reported.get_by_role("button").click()
    assert "l1-cafe" in editor.evaluate("one => one.value.slice(one.selectionStart, one.selectionEnd)")
    expect(setup.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    editor.fill(good.replace("Quayside Café", "Quayside Bar").replace("{", "{ ,", 1))
    expect(reported).to_contain_text("is not JSON")
    editor.fill(good.replace("Quayside Café", "Quayside Bar"))
    expect(reported).to_have_count(0)
    expect(status(setup)).to_have_text("1 change not saved")
    setup.get_by_label("Name of the building").fill("Quay House")
    setup.get_by_label("Name of the building").press("Tab")
    saved(setup)
    now = building(http)
    assert (now["building"], now["levels"][0]["rooms"][3]["name"]) == ("Quay House", "Quayside Bar")


def test_building_is_downloaded_and_uploaded(setup: Page, http: httpx.Client, tmp_path: Path) -> None:
    setup.get_by_role("link", name="File").click()
    with setup.expect_download() as download:
        setup.get_by_role("button", name="Download").click()
    data = json.loads(Path(download.value.path()).read_text())
    assert data == building(http)
    data["staff"] = data["staff"][:3]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(data))
    setup.get_by_label("Upload a file").set_input_files(file)
    expect(status(setup)).to_have_text(f"{len(FIRST['staff']) - 3} changes not saved")
    saved(setup)
    assert building(http)["staff"] == FIRST["staff"][:3]


def test_a_list_of_beacons_is_corrected_in_place_and_imported(setup: Page, http: httpx.Client, tmp_path: Path) -> None:
    file = tmp_path / "beacons.csv"
    file.write_text(
        f"mac,location,level\nA0:B1:C2:D3:E4:01,{CAFE['name']},L1\nA0:B1:C2:D3:E4,{CAFE['name']},L1\n", "utf-16"
    )
    setup.goto("setup?tab=file")
    setup.get_by_label("Upload a file").set_input_files(file)
    reported = setup.locator(".line-faults li")
    expect(reported).to_contain_text("Line 3")
    expect(reported).to_contain_text("10 digits")
    expect(setup.get_by_text("1 beacon is new, 1 line cannot be taken")).to_be_visible()
    editor = setup.get_by_role("textbox", name="List of beacons")
    editor.fill(editor.input_value().replace("A0:B1:C2:D3:E4,", "A0:B1:C2:D3:E4:02,"))
    setup.get_by_role("button", name="Import 2 beacons").click()
    expect(status(setup)).to_have_text(re.compile(r"2 beacons were imported as version \d+"))
    assert {"A0B1C2D3E401", "A0B1C2D3E402"} <= {one["id"] for one in building(http)["beacons"]}


def test_going_back_to_an_earlier_version(opened: Callable[..., Page], http: httpx.Client) -> None:
    put(http, lambda data: data.update(building="Not wanted"))
    page = opened("setup?tab=versions")
    rows = page.locator("tbody tr")
    expect(rows.first).to_contain_text("now")
    expect(rows.first).to_contain_text("edited")
    rows.nth(1).get_by_role("button", name=re.compile("Go back")).click()
    expect(page.get_by_role("list", name="What it would change")).to_contain_text(
        "The building is called “Harbour House”"
    )
    page.get_by_role("button", name=re.compile(r"Go back to version \d+$")).click()
    expect(status(page)).to_have_text(re.compile(r"Gone back to version \d+; that is version \d+"))
    expect(rows.first).to_contain_text("back to version")
    assert building(http) == FIRST


def test_others_changes_are_shown_and_mine_are_kept(
    opened: Callable[..., Page], stack: RunningStack, http: httpx.Client
) -> None:
    page = opened("setup?tab=staff")
    page.get_by_role("button", name="Edit 1 Muhammad").click()
    typed(page, "Name", "Mine")
    with asking(stack, named_key(stack, "installer", "admin")) as installer:
        put(
            installer, lambda data: [data["staff"][1].update(name="Theirs"), data["staff"][2].update(name="Theirs too")]
        )
    notice = page.locator(".conflict")
    expect(notice).to_contain_text(re.compile(r"installer has changed the building meanwhile \(version \d+\)"))
    expect(notice).to_contain_text("Staff member 2 Theirs too changed: Name")
    expect(thing(page).get_by_label("Name")).to_have_value("Mine")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(notice).to_be_visible()
    assert building(http)["staff"][1]["name"] == "Theirs", "nobody overwrites it unseen"
    page.get_by_role("button", name="Load theirs and keep my changes").click()
    expect(notice).to_contain_text("Staff member 1: name")
    expect(thing(page).get_by_label("Name")).to_have_value("Mine")
    page.get_by_role("button", name="Seen").click()
    saved(page)
    assert [one["name"] for one in building(http)["staff"][1:3]] == ["Mine", "Theirs too"]


def test_an_unnoticed_change_of_others_is_a_conflict(opened: Callable[..., Page], http: httpx.Client) -> None:
    page = opened("setup?tab=staff")
    page.get_by_role("button", name="Edit 1 Muhammad").click()
    typed(page, "Name", "Mine")
    etag = http.get(BUILDING).headers["etag"]

    def late(route: Any) -> None:
        if building(http)["building"] != "Theirs":
            data = {**deepcopy(FIRST), "building": "Theirs"}
            http.put(BUILDING, json=data, headers={"If-Match": etag}).raise_for_status()
        route.continue_()

    page.route(f"**{BUILDING}", late)
    with page.expect_response(lambda one: one.request.method == "PUT") as answer:
        page.get_by_role("button", name="Save", exact=True).click()
    assert answer.value.status == 412
    expect(page.locator(".conflict")).to_contain_text("What you have changed is still here")
    page.get_by_role("button", name="Load theirs and keep my changes").click()
    saved(page)
    assert (building(http)["building"], building(http)["staff"][1]["name"]) == ("Theirs", "Mine")


def test_a_lost_response_to_a_save_is_not_a_conflict(opened: Callable[..., Page], http: httpx.Client) -> None:
    page = opened("setup?tab=staff")
    page.get_by_role("button", name="Edit 1 Muhammad").click()
    typed(page, "Name", "Mine")

    def lose(route: Any) -> None:
        if route.request.method == "PUT":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route(f"**{BUILDING}", lose)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(status(page)).to_have_text("Nothing is changed")
    expect(page.locator(".conflict")).to_have_count(0)
    assert building(http)["staff"][1]["name"] == "Mine"


def test_a_draft_survives_a_visit_to_another_page(setup: Page) -> None:
    setup.goto("setup?tab=staff")
    setup.get_by_role("button", name="Edit 1 Muhammad").click()
    typed(setup, "Name", "Half done")
    setup.get_by_role("link", name="Floor").click()
    expect(setup.locator(".plan")).to_be_visible()
    setup.get_by_role("link", name="Set-up").click()
    expect(status(setup)).to_have_text("1 change not saved")
    setup.get_by_role("button", name="Discard").click()
    expect(status(setup)).to_have_text("Nothing is changed")


def test_the_devices_page_links_to_the_right_form(
    opened: Callable[..., Page], stack: RunningStack, http: httpx.Client
) -> None:
    stranger, tag = "ABCDEF012377", "ABCDEF012388"
    publish(stack, ("phone/finder-1/readings", batch((stranger, -55), (tag, -60))))
    publish(stack, ("gateway/gw-unlisted/readings", batch((stranger, -55))))
    page = opened("devices?tab=strangers")
    page.locator(f'tr[data-id="{stranger}"]').get_by_role("button", name=re.compile("Place on the plan")).click()
    expect(thing(page).get_by_label("Id")).to_have_value(stranger)
    click_on_plan(page, 5, 4)
    expect(thing(page).get_by_label("Room")).to_have_value(CAFE["id"])

    page.get_by_role("link", name="Devices").click()
    page.get_by_role("link", name="Unregistered").click()
    page.locator(f'tr[data-id="{tag}"]').get_by_role("button", name=re.compile("Give to somebody")).click()
    page.get_by_role("button", name="Give it to 1 Muhammad").click()
    expect(thing(page)).to_contain_text(tag)

    page.get_by_role("link", name="Devices").click()
    page.get_by_role("link", name="Gateways").click()
    page.locator('tr[data-id="gw-unlisted"]').get_by_role("button", name=re.compile("Place it")).click()
    expect(thing(page).get_by_label("Id")).to_have_value("gw-unlisted")
    click_on_plan(page, 6, 4)
    expect(thing(page).get_by_label("Room")).to_have_value(CAFE["id"])
    saved(page)
    now = building(http)
    assert (now["beacons"][-1]["id"], now["gateways"][-1]["id"]) == (stranger, "gw-unlisted")
    assert tag in now["staff"][1]["tags"]


def installers_list() -> tuple[str, list[int]]:
    """130 rows of six levels and sixty rooms, and the lines of the eight invalid rows."""
    rows = [
        [f"C2A6{number:08d}", f"Room {number % 60 // 6}", ("B1", "G", "1", "2", "3", "10")[number % 6]]
        for number in range(130)
    ]
    faulty: dict[int, list[str]] = {
        7: [rows[6][0][:-1], *rows[6][1:]],
        20: [rows[19][0][:-1] + "G", *rows[19][1:]],
        33: [rows[2][0], *rows[32][1:]],
        48: [rows[47][0], "", rows[47][2]],
        60: [*rows[59][:2], ""],
        77: ["", *rows[76][1:]],
        90: [*rows[89], "spare"],
        111: [rows[110][0], '"' + rows[110][1], rows[110][2]],
    }
    return "\n".join(":".join(faulty.get(line, row)) for line, row in enumerate(rows, 1)), sorted(faulty)


def test_building_is_made_of_a_list_and_locates_people(
    opened: Callable[..., Page], http: httpx.Client, stack: RunningStack
) -> None:
    page = opened("setup?tab=start")
    text, faulty = installers_list()
    page.get_by_label("Upload a list").set_input_files(
        {"name": "b.csv", "mimeType": "text/csv", "buffer": text.encode()}
    )
    page.get_by_label("Name of the building").fill("Raffles Tower")
    reported = page.locator(".start-list").get_by_role("status").filter(has_text="Raffles Tower")
    expect(reported).to_have_text(re.compile("6 levels, 60 rooms, 122 beacons, 8 lines refused"))
    lines = page.locator(".line-faults li")
    expect(lines).to_have_count(len(faulty))
    assert [int(str(line.get_attribute("data-line"))) for line in lines.all()] == faulty
    names = page.locator(".made > li h3").all_inner_texts()
    assert [name.split()[0] for name in names] == ["10", "3", "2", "1", "G", "B1"]
    assert building(http)["building"] == FIRST["building"], "nothing is saved before somebody says so"
    assert serious_faults(page) == []
    page.get_by_role("button", name="Make this building").click()
    expect(status(page)).to_have_text(re.compile(r"Raffles Tower is in use as version \d+, with 122 new beacons"))
    expect(page.locator(".schematic")).to_contain_text("nothing of it is measured")
    made = building(http)
    assert [level["id"] for level in made["levels"]] == ["B1", "G", "1", "2", "3", "10"]
    assert (made["staff"], made["gateways"], all(level["schematic"] for level in made["levels"])) == ([], [], True)
    assert "6 levels, 60 rooms, 122 beacons" in stack.command("building", "check")
    for number in range(4):
        publish(stack, ("phone/walker/readings", batch((made["beacons"][0]["id"], -50 - number))))
    page.goto(f"floor?level={made['beacons'][0]['level']}")
    expect(page.locator('[data-staff="walker"]')).to_be_visible()
    expect(page.locator(".schematic")).to_contain_text("not measured")


@pytest.mark.parametrize("name", ["plan.svg", "plan.pdf"])
def test_building_is_drawn_on_a_plan(
    opened: Callable[..., Page], browser: Browser, http: httpx.Client, stack: RunningStack, name: str
) -> None:
    page = opened("setup?tab=start")
    page.get_by_label("Upload a plan").set_input_files(
        {"name": name, "mimeType": "", "buffer": SVG.encode() if name.endswith("svg") else two_pages(browser)}
    )
    if name.endswith("pdf"):
        page.get_by_label("Page of plan.pdf, 1 to 2").fill("2")
        page.get_by_role("button", name="Take this page").click()
    expect(page.locator(".plan image")).to_have_attribute("href", re.compile(r"^/pages/pictures/plan-\w+\.(svg|png)$"))
    picture = str(page.locator(".plan image").get_attribute("href"))
    ground = page.locator(".plan .ground")
    width_m, height_m = (float(str(ground.get_attribute(side))) for side in ("width", "height"))
    assert width_m / height_m == pytest.approx(800 / 500, rel=0.01)
    click_on_plan(page, width_m / 8, height_m / 2)
    click_on_plan(page, width_m * 7 / 8, height_m / 2)
    page.get_by_label("Metres").fill("30")
    page.locator(".scale-bar").get_by_role("button", name="Set the scale").click()
    page.get_by_role("button", name="Room", exact=True).click()
    for corner in ((0.4, 0.4), (39.5, 0.4), (39.5, 12), (0.4, 12)):
        click_on_plan(page, *corner)
    page.get_by_role("button", name="Beacon", exact=True).click()
    typed(page, "Id", BEACON)
    click_on_plan(page, 20, 6)
    saved(page)
    (level,) = building(http)["levels"]
    assert (level["width_m"], level["height_m"]) == (pytest.approx(40, abs=0.2), pytest.approx(25, abs=0.3))
    assert level["plan"] == picture.rpartition("/")[2]
    assert (stack.building.parent / level["plan"]).is_file(), "beside the building, where the backup finds it"
    page.goto("floor")
    expect(page.locator(".plan image")).to_have_attribute("href", picture)
    answer = page.request.get(f"{stack.http_url}{picture}")
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"


SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="800" height="500" viewBox="0 0 800 500">
<rect width="800" height="500" fill="white"/><path d="M0 250H800" stroke="black"/></svg>"""


def two_pages(browser: Browser) -> bytes:
    """A PDF: a cover, and the plan."""
    page = browser.new_page()
    style = "@page { size: 800px 500px; margin: 0 } body { margin: 0 } p { page-break-after: always }"
    page.set_content(f"<style>{style}</style><p>Cover</p>{SVG}")
    made = page.pdf(prefer_css_page_size=True)
    page.close()
    return made


def test_invalid_plans_are_refused_with_the_reason(setup: Page, http: httpx.Client) -> None:
    setup.goto("setup?tab=start")
    for name, content, reason in (
        ("plan.png", b"no picture", "no picture that this browser can show"),
        ("plan.pdf", b"%PDF-1.7 nothing", "cannot be read as a PDF"),
        ("plan.svg", SVG.replace("<path", "<script>alert(1)</script><path").encode(), "has a script"),
    ):
        setup.get_by_label("Upload a plan").set_input_files({"name": name, "mimeType": "", "buffer": content})
        expect(setup.get_by_role("alert").filter(has_text=reason)).to_be_visible()
        expect(status(setup)).to_have_text("Nothing is changed")
    assert building(http) == FIRST


def test_empty_building_is_started(setup: Page, http: httpx.Client) -> None:
    setup.goto("setup?tab=start")
    setup.get_by_role("button", name="An empty building").click()
    expect(thing(setup).get_by_label("Name")).to_have_value("Level 1")
    saved(setup)
    assert (building(http)["levels"][0]["rooms"], building(http)["staff"]) == ([], [])


def test_first_steps_and_simulated_people_are_shown(
    opened: Callable[..., Page], http: httpx.Client, stack: RunningStack
) -> None:
    page = opened("floor")
    steps = page.locator(".steps")
    expect(steps.locator("li.next")).to_contain_text("Your building")
    assert serious_faults(page) == []
    put(http, lambda data: data.update(building="Mine"))
    for step in ("building", "staff"):
        expect(steps.locator(f'[data-step="{step}"]')).to_have_class(re.compile("done"))
    publish(stack, ("phone/0/readings", {**batch((FIRST["beacons"][0]["id"], -40)), "simulated": True}))
    for view in ("floor", "staff", "history", "devices", "setup", "system", "record"):
        page.goto(view)
        expect(page.locator(".simulated")).to_contain_text("played by a simulator, not real")
    page.goto(f"{stack.http_url}/monitoring")
    expect(page.locator(".simulated")).to_be_visible()
    publish(stack, ("phone/0/readings", batch((FIRST["beacons"][0]["id"], -40))))
    expect(page.locator(".simulated")).to_be_hidden()
    named_key(stack, "hacs", "history")
    page.goto("floor")
    expect(page.locator(".floor")).to_be_visible()
    expect(steps).to_have_count(0)
    expect(page.locator(".simulated")).to_have_count(0)


def test_a_viewer_sees_everything_and_changes_nothing(
    opened: Callable[..., Page], stack: RunningStack, http: httpx.Client
) -> None:
    page = opened(role="VIEWER")
    expect(page.get_by_role("note")).to_contain_text("viewer")
    expect(page.locator(".draft")).to_have_count(0)
    page.locator(f'[data-device="{FIRST["beacons"][0]["id"]}"]').click()
    expect(thing(page).get_by_label("East")).to_be_disabled()
    for name in ("Beacon", "Remove", "Save"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    page.get_by_role("link", name="File").click()
    expect(page.get_by_role("textbox", name="Building file")).to_have_attribute("readonly", "")
    expect(page.get_by_label("Upload a file")).to_have_count(0)
    page.get_by_role("link", name="Versions").click()
    expect(page.locator("tbody tr").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Go back"))).to_have_count(0)
    headers = {"If-Match": http.get(BUILDING).headers["etag"]}
    for method, path in (("PUT", ""), ("POST", "/validate"), ("POST", "/import"), ("POST", "/from-list"),
                         ("POST", "/pictures"), ("POST", "/versions/1/restore")):  # fmt: skip
        answer = page.request.fetch(f"{stack.http_url}{BUILDING}{path}", method=method, data=FIRST, headers=headers)
        assert answer.status == 403, (method, path, answer.text())


TABS = ("plan", "staff", "file", "file&as=csv", "versions", "start")


def test_axe_finds_no_serious_fault(opened: Callable[..., Page]) -> None:
    page = opened("setup?add=beacon&id=oops")
    expect(page.locator(".faults summary")).to_have_text(re.compile(r"^Faults \d"))
    page.locator(".faults summary").click()
    assert serious_faults(page) == [], "plan with faults"
    page.get_by_role("link", name="Staff").last.click()
    expect(page).to_have_url(re.compile("tab=staff"))
    expect(page.get_by_role("region", name="Everybody")).to_be_visible()
    page.get_by_role("button", name="Staff member").click()
    expect(thing(page)).to_be_visible()
    page.get_by_label("Another tag").fill("no tag")
    page.get_by_role("button", name="Add tag").click()
    expect(thing(page).locator(".tags .fault")).to_be_visible()
    assert serious_faults(page) == [], "staff with faults"
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("link", name="File").click()
    page.get_by_role("textbox", name="Building file").fill("{\n")
    expect(page.locator(".line-faults li")).to_be_visible()
    assert serious_faults(page) == [], "file with faults"
    page.get_by_role("button", name="Drop it").click()
    page.get_by_role("button", name="List of beacons").click()
    assert serious_faults(page) == [], "list"
    page.get_by_role("link", name="Versions").click()
    expect(page.locator("tbody tr").first).to_be_visible()
    assert serious_faults(page) == [], "versions"


def test_the_page_fits_a_phones_width(setup: Page) -> None:
    setup.set_viewport_size({"width": 390, "height": 844})
    for tab in TABS:
        setup.goto(f"setup?tab={tab}")
        expect(setup.get_by_role("heading", name="Set-up")).to_be_visible()
        expect(setup.locator(".wait")).to_have_count(0)
        assert setup.evaluate("document.querySelector('.sda').scrollWidth <= innerWidth"), tab
