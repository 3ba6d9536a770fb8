"""The floor page in a real browser: who is in which room, live, on the plan of the level."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.browser import serious_faults
from support.building import Building, Placed
from support.running import RunningStack
from support.stack_client import batch, eventually, now_ms, publish

SOON_MS = 15_000


@pytest.fixture
def floor(page: Page) -> Callable[..., Page]:
    def opened(**query: str) -> Page:
        page.goto("floor?" + "&".join(f"{key}={value}" for key, value in query.items()))
        expect(page.locator("svg .room").first).to_be_visible(timeout=SOON_MS)
        return page

    return opened


def heard(stack: RunningStack, staff_id: str, at: Placed, rssi: int = -40, ago_s: float = 0) -> None:
    publish(stack, (f"phone/{staff_id}/readings", batch((at.id, rssi), ts=now_ms() - int(ago_s * 1000))))


def marker(page: Page, staff_id: str) -> Locator:
    return page.locator(f'.marker[data-staff="{staff_id}"]')


def room_of(page: Page, staff_id: str) -> str | None:
    """The room under the middle of a person's marker on the plan."""
    return page.evaluate(  # type: ignore[no-any-return]
        """(id) => {
          const marker = document.querySelector(`.marker[data-staff="${id}"] rect`)?.getBoundingClientRect();
          const [x, y] = [marker.x + marker.width / 2, marker.y + marker.height / 2];
          const below = document.elementsFromPoint(x, y).map((one) => one.closest('.room')?.dataset.room);
          return below.find(Boolean) ?? null;
        }""",
        staff_id,
    )


def placed(demo: Building, level: str, index: int = 0) -> Placed:
    """The index-th room of a level that has a beacon."""
    rooms = {one.room: one for one in demo.beacons if one.level == level}
    return list(rooms.values())[index]


def test_marker_stands_in_its_room_and_moves_to_the_next(
    floor: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    first, second = placed(demo, "L4", 2), placed(demo, "L4", 4)
    heard(stack, "mover-1", first)
    page = floor(level="L4")
    expect(marker(page, "mover-1")).to_be_visible(timeout=SOON_MS)
    assert room_of(page, "mover-1") == first.room
    expect(marker(page, "mover-1").locator(".age")).to_have_text(re.compile(r"^\d+ s$"))
    expect(page.locator(".plan .signs")).to_contain_text(demo.room_name(first.room))
    number = page.locator(f'.room[data-room="{first.room}"]')
    expect(number).to_have_attribute("aria-label", re.compile(rf"^{re.escape(demo.room_name(first.room))} [1-9]"))
    heard(stack, "mover-1", second, rssi=-25)
    eventually(lambda: room_of(page, "mover-1") == second.room, what="the marker has moved")


def test_stale_people_are_marked_and_lost_people_listed_separately(
    floor: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    at = placed(demo, "L5", 1)
    heard(stack, "stale-1", at, ago_s=35)
    heard(stack, "lost-1", at, ago_s=90)
    page = floor(level="L5")
    expect(marker(page, "stale-1")).to_have_class(re.compile("stale"), timeout=SOON_MS)
    lost = page.get_by_role("region", name="Lost")
    expect(lost.get_by_role("link", name="lost-1")).to_be_visible(timeout=SOON_MS)
    expect(lost).to_contain_text(demo.room_name(at.room))
    expect(marker(page, "lost-1")).to_have_count(0)


def test_the_level_switch_shows_counts_and_the_url_keeps_the_level(
    floor: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    heard(stack, "level-1", placed(demo, "L6"))
    page = floor(level="L5")
    switch = page.locator('.levels [data-level="L6"]')
    expect(switch).to_contain_text(re.compile("[1-9]"), timeout=SOON_MS)
    switch.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(demo.level_name("L6"))
    expect(page).to_have_url(re.compile("level=L6"))
    expect(marker(page, "level-1")).to_be_visible(timeout=SOON_MS)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(demo.level_name("L6"))
    expect(page).to_have_title(f"Floor · {demo.raw['building']}")


def scale(page: Page) -> float:
    transform = page.locator(".plan > svg > g").get_attribute("transform") or ""
    return float(transform.split("scale(")[1].rstrip(")"))


def offset(page: Page) -> str:
    return (page.locator(".plan > svg > g").get_attribute("transform") or "").split(" scale")[0]


def test_plan_is_zoomed_and_moved_by_wheel_buttons_keys_and_drag(floor: Callable[..., Page]) -> None:
    page = floor(level="L1")
    whole = scale(page)
    page.locator(".plan > svg").hover()
    page.mouse.wheel(0, -400)
    eventually(lambda: scale(page) > whole, what="the wheel zooms")
    page.get_by_role("button", name="Show the whole level").click()
    assert scale(page) == pytest.approx(whole)
    page.get_by_role("button", name="Zoom in").click()
    assert scale(page) > whole
    page.get_by_role("button", name="Zoom out").click()
    assert scale(page) == pytest.approx(whole)
    page.locator(".plan > svg").focus()
    page.keyboard.press("+")
    assert scale(page) > whole
    before = offset(page)
    page.keyboard.press("ArrowRight")
    assert offset(page) != before
    page.keyboard.press("0")
    assert scale(page) == pytest.approx(whole)
    page.keyboard.press("+")
    before = offset(page)
    box = page.locator(".plan > svg").bounding_box()
    assert box
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 240, steps=4)
    page.mouse.up()
    assert offset(page) != before
    expect(page).not_to_have_url(re.compile("room="))  # dragging over a room does not select it


def test_a_room_lists_its_people_by_mouse_and_keyboard(
    floor: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    at = placed(demo, "L7", 1)
    heard(stack, "inside-1", at)
    page = floor(level="L7")
    room = page.locator(f'.room[data-room="{at.room}"]')
    room.locator("> path").click(position={"x": 4, "y": 4})
    panel = page.get_by_role("region", name=demo.room_name(at.room))
    expect(panel.get_by_role("list", name="Here now")).to_contain_text("inside-1", timeout=SOON_MS)
    expect(page).to_have_url(re.compile(f"room={at.room}"))
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)
    room.focus()
    page.keyboard.press("Enter")
    expect(panel).to_be_visible()
    expect(panel.get_by_role("heading", level=2)).to_be_focused()


def test_click_on_a_marker_opens_that_person(floor: Callable[..., Page], stack: RunningStack, demo: Building) -> None:
    heard(stack, "opened-1", placed(demo, "L7", 3))
    page = floor(level="L7")
    marker(page, "opened-1").click(timeout=SOON_MS)
    expect(page).to_have_url(re.compile("staff.*id=opened-1"))


def test_a_crowd_is_clustered_and_zooming_shows_everybody(
    floor: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    at = placed(demo, "L3", 2)
    ids = [f"crowd-{number}" for number in range(90)]
    publish(stack, *((f"phone/{one}/readings", batch((at.id, -40))) for one in ids))
    page = floor(level="L3")
    cluster = page.locator(f'.cluster[data-cluster="{at.room}"]')
    expect(cluster).to_contain_text(re.compile(r"9\d"), timeout=SOON_MS)
    expect(page.locator(f'.room[data-room="{at.room}"]')).to_have_attribute("aria-label", re.compile("over its limit"))
    expect(page.locator(f'.room[data-room="{at.room}"]')).to_have_class(re.compile("occupancy-4"))
    cluster.hover()
    page.mouse.wheel(0, -900)
    expect(cluster).to_have_count(0)
    expect(page.locator('.marker[data-staff^="crowd-"]')).not_to_have_count(0)
    shown = page.locator('.marker[data-staff^="crowd-"]').count()
    assert 20 < shown <= len(ids), f"{shown} of the crowd are on the screen"


def test_rooms_are_coloured_by_the_last_patrol_and_markers_named(
    floor: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    person = demo.raw["staff"][0]
    heard(stack, person["id"], placed(demo, "L6", 2))
    page = floor(level="L6")
    page.get_by_role("button", name="Last patrol", exact=True).click()
    expect(page).to_have_url(re.compile("colour=patrol"))
    expect(page.locator(f'.room[data-room="{placed(demo, "L6", 2).room}"]')).to_have_class(
        re.compile("patrol-0"), timeout=SOON_MS
    )
    page.get_by_role("button", name="Names").click()
    expect(marker(page, person["id"])).to_contain_text(person["name"][:6])
    expect(page).to_have_url(re.compile("labels=names"))


def test_an_invalid_response_is_reported(
    floor: Callable[..., Page], page: Page, stack: RunningStack, demo: Building
) -> None:
    at = placed(demo, "L6", 1)
    page.route("**/api/v1/patrols?*", lambda route: route.fulfill(status=200, body='{"patrols": ['))
    floor(level="L6", colour="patrol")
    expect(page.get_by_role("alert")).to_have_text("Earlier patrols are not known: the answer of the server is no JSON")
    heard(stack, "patrolled-1", at)
    expect(page.locator(f'.room[data-room="{at.room}"]')).to_have_class(re.compile("patrol-0"), timeout=SOON_MS)


def test_gateway_shows_its_state(floor: Callable[..., Page], stack: RunningStack, demo: Building) -> None:
    gateway = next(one for one in demo.gateways if one.level == "L2")
    page = floor(level="L2")
    shown = page.locator(f'[data-gateway="{gateway.id}"]')
    publish(stack, (f"gateway/{gateway.id}/status", {"state": "online", "ts": now_ms(), "version": "1"}))
    expect(shown).to_have_attribute("aria-label", re.compile("online"), timeout=SOON_MS)
    publish(stack, (f"gateway/{gateway.id}/status", {"state": "offline", "ts": now_ms(), "version": "1"}))
    expect(shown).to_have_attribute("aria-label", re.compile("offline"), timeout=SOON_MS)


def test_axe_finds_no_serious_fault(floor: Callable[..., Page], stack: RunningStack, demo: Building) -> None:
    at = placed(demo, "L1", 1)
    heard(stack, "axe-1", at)
    heard(stack, "axe-2", at, ago_s=40)
    heard(stack, "axe-3", at, ago_s=100)
    page = floor(level="L1", room=at.room)
    expect(marker(page, "axe-1")).to_be_visible(timeout=SOON_MS)
    assert serious_faults(page) == []


def test_the_page_fits_a_phones_width(floor: Callable[..., Page]) -> None:
    page = floor(level="L1")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('.sda').scrollWidth <= innerWidth")
    expect(page.locator(".plan > svg")).to_be_in_viewport(ratio=0.5)


def test_fingers_move_and_zoom_the_plan(browser: Browser, stack: RunningStack, admin_session: Any) -> None:
    context = browser.new_context(
        storage_state=admin_session, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    page.goto(f"{stack.http_url}/dashboard/floor?level=L1")
    plan = page.locator(".plan > svg")
    expect(page.locator("svg .room").first).to_be_visible(timeout=SOON_MS)
    plan.scroll_into_view_if_needed()
    box = plan.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = context.new_cdp_session(page)

    def fingers(*steps: list[tuple[float, float]]) -> None:
        for number, points in enumerate(steps):
            kind = "touchStart" if number == 0 else "touchMove"
            at = [{"x": px, "y": py, "id": finger} for finger, (px, py) in enumerate(points)]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    whole = scale(page)
    fingers([(x - 20, y), (x + 20, y)], [(x - 50, y), (x + 50, y)], [(x - 90, y), (x + 90, y)])
    eventually(lambda: scale(page) > 2 * whole, what="two fingers zoom")
    before = offset(page)
    fingers([(x, y)], [(x + 20, y + 20)], [(x + 60, y + 50)])
    eventually(lambda: offset(page) != before, what="one finger moves")
    context.close()


def test_markers_respect_reduced_motion(floor: Callable[..., Page], stack: RunningStack, demo: Building) -> None:
    heard(stack, "still-1", placed(demo, "L4", 1))
    page = floor(level="L4")
    expect(marker(page, "still-1")).to_be_visible(timeout=SOON_MS)
    speed = "getComputedStyle(document.querySelector('.marker')).transitionDuration"
    assert page.evaluate(speed) == "0.7s"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(speed) == "0s"
