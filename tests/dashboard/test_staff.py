"""The staff page in a real browser: the table of everybody, and one staff member's page."""

import csv
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.browser import serious_faults, session_of
from support.building import Building, Placed
from support.running import RunningStack
from support.stack_client import batch, now_ms, publish

SOON_MS = 15_000


def beacon_on(demo: Building, level: str, room: int = 0) -> Placed:
    rooms = {one.room: one for one in demo.beacons if one.level == level}
    return list(rooms.values())[room]


def row(page: Page, staff_id: str) -> Locator:
    return page.locator(f'tr[data-staff="{staff_id}"]')


@pytest.fixture
def table(page: Page) -> Callable[[str], Page]:
    def opened(query: str = "") -> Page:
        page.goto(f"staff{query}")
        expect(page.get_by_role("heading", name="Staff")).to_be_visible(timeout=SOON_MS)
        return page

    return opened


def test_a_row_shows_location_and_reading(table: Callable[[str], Page], stack: RunningStack, demo: Building) -> None:
    at = beacon_on(demo, "L2", 1)
    publish(stack, ("phone/row-1/readings", batch((at.id, -47))))
    page = table("?q=row-1")
    cells = row(page, "row-1")
    expect(cells).to_contain_text(demo.room_name(at.room), timeout=SOON_MS)
    expect(cells).to_contain_text(demo.level_name("L2"))
    expect(cells).to_contain_text("present")
    expect(cells).to_contain_text("-47 dBm")
    expect(cells.locator(".seen")).to_have_text(re.compile(r"^\d+ s ago$"))
    expect(cells.locator(".since")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))


def test_battery_of_the_tag(table: Callable[[str], Page], stack: RunningStack, demo: Building) -> None:
    person = next(one for one in demo.raw["staff"] if one.get("tags"))
    gateway = demo.gateways[0]
    reading = {"beacon": person["tags"][0], "rssi": -50, "battery_mv": 2390}
    publish(stack, (f"gateway/{gateway.id}/readings", {"v": 1, "ts": now_ms(), "readings": [reading]}))
    page = table(f"?q={person['name'].split()[0]}")
    expect(row(page, person["id"]).locator(".battery")).to_have_text(re.compile("2.39 V.*low"), timeout=SOON_MS)


def test_the_url_keeps_search_sort_and_filter(
    table: Callable[[str], Page], stack: RunningStack, demo: Building
) -> None:
    for number, level in enumerate(("L6", "L1", "L3")):
        publish(stack, (f"phone/sort-{number}/readings", batch((beacon_on(demo, level).id, -40 - number))))
    page = table("")
    page.get_by_role("searchbox", name="Search staff").fill("sort-")
    order = page.locator("tbody tr .id")
    expect(order).to_have_text(["sort-0", "sort-1", "sort-2"], timeout=SOON_MS)
    page.get_by_role("button", name="Level").click()
    expect(order).to_have_text(["sort-1", "sort-2", "sort-0"])
    expect(page.get_by_role("columnheader", name="Level")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Signal").click()
    expect(order).to_have_text(["sort-0", "sort-1", "sort-2"])
    expect(page).to_have_url(re.compile("sort=-signal"))
    page.reload()
    expect(order).to_have_text(["sort-0", "sort-1", "sort-2"], timeout=SOON_MS)
    page.get_by_role("combobox", name="Level").select_option("L1")
    expect(order).to_have_text(["sort-1"])
    expect(page.get_by_role("status").filter(has_text="1 of")).to_be_visible()


@pytest.fixture(scope="module")
def walk(session_stack: RunningStack, demo: Building) -> list[Placed]:
    """Readings of two minutes: two people in the café, then one of them in the mail room and a level higher."""
    places = [next(one for one in demo.beacons if one.room == room) for room in ("l1-cafe", "l1-mail", "l2-hall-a")]
    messages = []
    for staff_id, way in (("walk-1", places), ("walk-2", places[:1])):
        for step, place in enumerate(way):
            for second in range(0, 40, 4):
                ts = now_ms() - 120_000 + (step * 40 + second) * 1000
                messages.append((f"phone/{staff_id}/readings", batch((place.id, -30), ts=ts)))
    publish(session_stack, *messages)
    return places


def test_day_of_one_person(page: Page, walk: list[Placed], demo: Building) -> None:
    page.goto("staff?id=walk-1")
    expect(page.get_by_role("heading", level=1)).to_contain_text("walk-1")
    line = page.locator(".timeline .line i")
    expect(line).to_have_count(3, timeout=30_000)
    page.get_by_text("3 stays as a list").click()
    rooms = page.locator(".stays tbody tr")
    for row_, place in zip([rooms.nth(2), rooms.nth(1), rooms.nth(0)], walk, strict=True):
        expect(row_).to_contain_text(demo.room_name(place.room))
    contacts = page.get_by_role("region", name="Contacts table")
    expect(contacts).to_contain_text("walk-2")
    expect(contacts).to_contain_text(demo.room_name("l1-cafe"))
    assert serious_faults(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('.sda').scrollWidth <= innerWidth")


def test_an_admin_sees_the_explanation_of_a_location(page: Page, stack: RunningStack, demo: Building) -> None:
    at, other = beacon_on(demo, "L3"), beacon_on(demo, "L3", 1)
    heard = [
        ("phone/why-1/readings", batch((at.id, -45), (other.id, -70), ts=now_ms() - n * 1000)) for n in range(8, -1, -1)
    ]
    publish(stack, *heard)
    page.goto("staff?id=why-1")
    why = page.locator(".trace")
    why.get_by_text("Why this room").click()
    expect(why.locator(".belief .said")).to_contain_text(demo.room_name(at.room), timeout=SOON_MS)
    expect(why.locator(".belief .said .percent")).to_have_text(re.compile(r"^\d+ %$"))
    nearest = why.locator("tbody tr").first
    expect(nearest.locator("th")).to_contain_text(at.id)
    expect(nearest.locator("td").first).to_have_text(re.compile(r"^-4\d$"))
    expect(why).to_contain_text("than calibrated (±")
    with page.expect_response(re.compile("/staff/why-1/trace$")) as again:
        assert again.value.status == 200
    assert serious_faults(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('.sda').scrollWidth <= innerWidth")


def test_a_viewer_does_not_see_the_explanation(browser: Browser, stack: RunningStack) -> None:
    context = browser.new_context(
        base_url=f"{stack.http_url}/dashboard/", storage_state=session_of(browser, stack, "VIEWER")
    )
    page = context.new_page()
    page.goto("staff?id=0")
    expect(page.get_by_role("heading", name="Contacts")).to_be_visible(timeout=SOON_MS)
    expect(page.locator(".trace")).to_have_count(0)
    assert page.request.get(f"{stack.http_url}/api/v1/staff/0/trace").status == 403
    context.close()


@pytest.mark.usefixtures("walk")
def test_the_path_is_drawn_on_each_levels_plan(page: Page) -> None:
    page.goto("staff?id=walk-1")
    levels = page.get_by_role("group", name="Level of the plan")
    expect(levels.get_by_role("button")).to_have_count(2, timeout=30_000)
    levels.get_by_role("button").first.click()
    expect(page.locator(".way .path polyline")).to_have_count(1)
    expect(page.locator(".way .room.visited")).to_have_count(2)
    levels.get_by_role("button").last.click()
    expect(page.locator(".way .path polyline")).to_have_count(0)
    expect(page.locator('.way .room.visited[data-room="l2-hall-a"]')).to_have_count(1)
    levels.get_by_role("button").first.click()
    expect(page).to_have_url(re.compile("plan=L1"))
    page.reload()
    expect(levels.get_by_role("button").first).to_have_attribute("aria-pressed", "true", timeout=30_000)


def test_stays_are_downloaded_as_csv(page: Page, walk: list[Placed]) -> None:
    page.goto("staff?id=walk-1")
    expect(page.locator(".timeline .line i")).to_have_count(3, timeout=30_000)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert re.fullmatch(r"walk-1-\d{4}-\d\d-\d\d\.csv", download.value.suggested_filename)
    with download.value.path().open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [row_["room"] for row_ in rows] == [place.room for place in walk]
    assert all(row_["enter"].endswith("Z") for row_ in rows)


@pytest.mark.usefixtures("walk")
def test_the_url_has_the_selected_day(page: Page) -> None:
    page.goto("staff?id=walk-1&day=2020-02-03")
    expect(page.get_by_label("Day", exact=True)).to_have_value("2020-02-03")
    expect(page.get_by_text("Not heard on this day")).to_be_visible(timeout=SOON_MS)


@pytest.mark.usefixtures("walk")
def test_a_room_on_the_floor_lists_todays_visitors(page: Page) -> None:
    page.goto("floor?level=L1&room=l1-cafe&colour=patrol")
    was = page.get_by_role("list", name="Was here today")
    expect(was).to_contain_text("walk-1", timeout=30_000)
    expect(page.locator('.room[data-room="l1-cafe"]')).to_have_attribute(
        "aria-label", re.compile("last patrol|Café [1-9]")
    )
    expect(page.locator('.room[data-room="l1-cafe"]')).to_have_class(re.compile("patrol-[01]"))


def test_axe_finds_no_serious_fault(table: Callable[[str], Page], stack: RunningStack, demo: Building) -> None:
    at = beacon_on(demo, "L2")
    publish(stack, *((f"phone/axe-{i}/readings", batch((at.id, -40), ts=now_ms() - i * 40_000)) for i in range(3)))
    page = table("?sort=state")
    expect(row(page, "axe-2")).to_contain_text("lost", timeout=SOON_MS)
    assert serious_faults(page) == []
    page.goto("staff?id=axe-0")
    expect(page.get_by_role("heading", level=1)).to_contain_text("axe-0")
    assert serious_faults(page) == []


def test_the_page_fits_a_phones_width(table: Callable[[str], Page]) -> None:
    page = table("")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('.sda').scrollWidth <= innerWidth")
