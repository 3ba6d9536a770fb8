"""Every dashboard page shows when its data are not live, and recovers by itself."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect
from support import web
from support.browser import SAYS_WITHIN_MS, log_in, session_of, whole
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, publish

BACK_WITHIN_MS = 60_000
LIVE = re.compile("^Live")


@pytest.fixture
def live_page(page: Page) -> Page:
    page.goto("floor?level=L2")
    expect(page.locator(".live p")).to_have_text(LIVE, timeout=15_000)
    page.evaluate("window.neverReloaded = true")
    return page


@pytest.fixture(scope="module")
def opened(browser: Browser, session_stack: RunningStack, admin_session: Any) -> Iterator[dict[str, Page]]:
    """All pages of the menu by address, each in its own tab and never reloaded."""
    with whole(
        browser.new_context(base_url=f"{session_stack.http_url}/dashboard/", storage_state=admin_session)
    ) as context:
        pages = {"/dashboard/floor": context.new_page()}
        pages["/dashboard/floor"].goto("floor?level=L2")
        menu = pages["/dashboard/floor"].locator(".menu a")
        expect(menu).not_to_have_count(0)
        for link in menu.evaluate_all("(all) => all.map((one) => one.getAttribute('href'))"):
            if link not in pages:
                pages[link] = context.new_page()
                pages[link].goto(link)
        assert len(pages) >= 6
        for page in pages.values():
            expect(page.locator(".live p")).to_have_text(LIVE, timeout=15_000)
            page.evaluate("window.neverReloaded = true")
        yield pages


@pytest.fixture
def live_pages(opened: dict[str, Page], stack: RunningStack) -> dict[str, Page]:  # noqa: ARG001 - restored afterwards
    _say(opened, LIVE, BACK_WITHIN_MS)
    return opened


def _say(pages: dict[str, Page], text: re.Pattern[str] | str, within_ms: int) -> None:
    for page in pages.values():
        expect(page.locator(".live p")).to_have_text(text, timeout=within_ms)


def _same_pages(pages: dict[str, Page]) -> None:
    for address, page in pages.items():
        assert page.evaluate("window.neverReloaded") is True, address
        expect(page).to_have_url(re.compile(f"{address}(\\?|$)"))
    expect(pages["/dashboard/floor"]).to_have_url(re.compile("floor.*level=L2"))


def test_node_red_restarted(live_pages: dict[str, Page], stack: RunningStack) -> None:
    stack.stop("node-red")
    _say(live_pages, re.compile("Not live"), SAYS_WITHIN_MS)
    stack.start("node-red")
    _say(live_pages, LIVE, BACK_WITHIN_MS)
    _same_pages(live_pages)


def test_node_red_frozen(live_page: Page, stack: RunningStack) -> None:
    stack.freeze("node-red")
    try:
        expect(live_page.locator(".live p")).to_have_text(
            "Not live: the server does not answer", timeout=SAYS_WITHIN_MS
        )
    finally:
        stack.thaw("node-red")
    expect(live_page.locator(".live p")).to_have_text(LIVE, timeout=BACK_WITHIN_MS)
    _same_pages({"/dashboard/floor": live_page})


def test_broker_stopped(live_pages: dict[str, Page], stack: RunningStack, demo: Building) -> None:
    stack.stop("mosquitto")
    _say(live_pages, "Not live: the message broker is away", SAYS_WITHIN_MS)
    for page, what in (("floor", ".plan"), ("staff", "main > .card"), ("devices", "main > .alerts")):
        expect(live_pages[f"/dashboard/{page}"].locator(what)).to_have_css("filter", re.compile("grayscale"))
    stack.start("mosquitto")
    _say(live_pages, LIVE, BACK_WITHIN_MS)
    beacon = next(one for one in demo.beacons if one.level == "L2")
    publish(stack, ("phone/back-1/readings", batch((beacon.id, -40))))
    floor = live_pages["/dashboard/floor"]
    expect(floor.locator('.marker[data-staff="back-1"]')).to_be_visible(timeout=15_000)
    _same_pages(live_pages)


def test_influxdb_stopped(live_pages: dict[str, Page], stack: RunningStack, demo: Building) -> None:
    stack.stop("influxd")
    _say(live_pages, re.compile("history is not available|not being stored"), SAYS_WITHIN_MS)
    beacon = next(one for one in demo.beacons if one.level == "L2")
    publish(stack, ("phone/meanwhile-1/readings", batch((beacon.id, -40))))
    floor = live_pages["/dashboard/floor"]
    expect(floor.locator('.marker[data-staff="meanwhile-1"]')).to_be_visible(timeout=15_000)
    stack.start("influxd")
    for page in live_pages.values():
        expect(page.locator(".live p")).not_to_have_text(re.compile("history|stored"), timeout=BACK_WITHIN_MS)
    _same_pages(live_pages)


def test_old_data_are_marked(live_page: Page, stack: RunningStack, demo: Building) -> None:
    expect(live_page.locator(".live p")).to_have_text("Live, but no readings are coming in", timeout=BACK_WITHIN_MS)
    publish(stack, ("phone/again-1/readings", batch((demo.beacons[0].id, -40))))
    expect(live_page.locator(".live p")).to_have_text("Live", timeout=15_000)


def test_a_page_gets_only_its_topics_at_a_limited_rate(page: Page, stack: RunningStack, demo: Building) -> None:
    reported: list[dict[str, Any]] = []

    def hear(frame: bytes | str) -> None:
        if isinstance(frame, str) and frame.find('["sda:snapshot",') >= 0:
            reported.append(json.loads(frame[frame.index("[") :])[1])

    def listen(socket: WebSocket) -> None:
        reported.clear()  # messages for the previous page
        socket.on("framereceived", hear)

    page.on("websocket", listen)
    for view, topic in (("floor?level=L2", "floor:L2"), ("system", "system")):
        page.goto(view)

        def many(topic: str = topic) -> bool:
            publish(stack, ("phone/often-1/readings", batch((demo.beacons[0].id, -40))))
            page.evaluate("1")  # lets frames arrive
            return len([one for one in reported if one["topic"] == topic]) > 10

        eventually(many, 60, f"snapshots of {topic}")
        shown = [one for one in reported if one["topic"] == topic]
        assert {one["topic"] for one in reported} <= {topic, "status"}
        assert ("people" in shown[0]) is (view != "system")
        made = sorted({one["ts"] for one in shown})
        gaps = [after - before for before, after in pairwise(made)]
        assert min(gaps) >= 200, gaps


def test_a_wall_screen_shows_the_view_of_its_url(browser: Browser, stack: RunningStack, demo: Building) -> None:
    context = browser.new_context(
        storage_state=session_of(browser, stack, "VIEWER"), viewport={"width": 1920, "height": 1080}
    )
    wall = context.new_page()
    wall.goto(f"{stack.http_url}/dashboard/floor?level=L5&colour=patrol&labels=names")
    name = next(level["name"] for level in demo.raw["levels"] if level["id"] == "L5")
    expect(wall.get_by_role("heading", level=1)).to_have_text(name, timeout=15_000)
    for pressed in ("Last patrol", "Names"):
        expect(wall.get_by_role("button", name=pressed, exact=True)).to_have_attribute("aria-pressed", "true")
    fits = "(({ scrollWidth, scrollHeight }) => scrollWidth <= innerWidth && scrollHeight <= innerHeight)"
    eventually(lambda: wall.evaluate(f"{fits}(document.querySelector('.sda'))"), what="nobody scrolls on a wall")
    context.close()


ADDRESSES = (
    "floor?level=L1&room=l1-cafe", "staff", "staff?id=0", "history", "devices", "devices?tab=gateways",
    "devices?tab=beacons", "devices?tab=strangers", "setup", "setup?tab=staff", "setup?tab=file", "setup?tab=versions",
    "system", "/monitoring",
)  # fmt: skip
FITS = "(document.querySelector('.sda') ?? document.documentElement).scrollWidth <= innerWidth"


def test_every_page_fits_phone_and_wall_without_external_requests(page: Page, stack: RunningStack) -> None:
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]) if request.url.startswith("http") else None)
    for address in ADDRESSES:
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=BACK_WITHIN_MS)
        expect(page.get_by_text("Loading …")).to_have_count(0, timeout=BACK_WITHIN_MS)
        for width, height in ((390, 844), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            eventually(lambda: page.evaluate(FITS), what=f"{address} fits {width} px")
    assert hosts == {stack.http_url.split("/")[2]}


def test_a_page_that_fails_to_load_shows_an_error(live_page: Page) -> None:
    code = "**/sda-dashboard/parts/staff-*.js"
    live_page.route(code, lambda route: route.abort())
    live_page.get_by_role("link", name="Staff").click()
    expect(live_page.get_by_role("alert")).to_contain_text("could not be loaded", timeout=15_000)
    live_page.unroute(code)
    live_page.get_by_role("button", name="Load again").click()
    expect(live_page.get_by_role("heading", name="Staff", level=1)).to_be_visible(timeout=15_000)


def test_the_colour_scheme_is_remembered(live_page: Page) -> None:
    for chosen, scheme in (("light", "light"), ("dark", "dark"), ("auto", "light dark"), ("light", "light")):
        live_page.get_by_role("button", name=re.compile("^Colours: ")).click()
        expect(live_page.get_by_role("button", name=f"Colours: {chosen}. Change")).to_be_visible()
        expect(live_page.locator(".sda")).to_have_css("color-scheme", scheme)
    live_page.reload()
    expect(live_page.locator(".sda")).to_have_css("color-scheme", "light")


def test_keyboard_skips_the_menu(live_page: Page) -> None:
    skip = live_page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_attached()
    live_page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    live_page.keyboard.press("Enter")
    expect(live_page.get_by_role("main")).to_be_focused()


def test_menu_and_state_fit_any_width(live_page: Page) -> None:
    beyond = """[...document.querySelectorAll('.bar, .bar *')].filter((one) => {
        const { left, right, width } = one.getBoundingClientRect();
        return width > 0 && (left < -1 || right > innerWidth + 1);
    }).map((one) => one.outerHTML.slice(0, 60))"""
    for width in (320, 720, 910, 1280):
        live_page.set_viewport_size({"width": width, "height": 800})
        eventually(
            lambda: live_page.evaluate(beyond) == [], what=f"nothing of the bar lies beyond the edge at {width} px"
        )


@pytest.fixture
def zones(browser: Browser, admin_session: Any) -> Iterator[dict[str, Page]]:
    contexts = {
        zone: browser.new_context(storage_state=admin_session, timezone_id=zone) for zone in ("UTC", "Asia/Kolkata")
    }
    yield {zone: context.new_page() for zone, context in contexts.items()}
    for context in contexts.values():
        context.close()


def test_times_use_the_browsers_time_zone(zones: dict[str, Page], stack: RunningStack) -> None:
    minutes = {}
    for zone, page in zones.items():
        page.goto(f"{stack.http_url}/dashboard/system")
        now = page.locator(".figure .marks span").last
        expect(now).to_have_text(re.compile(r"^\d\d:\d\d$"), timeout=15_000)
        hours, rest = now.inner_text().split(":")
        minutes[zone] = int(hours) * 60 + int(rest)
    ahead = (minutes["Asia/Kolkata"] - minutes["UTC"]) % (24 * 60)
    assert 330 <= ahead <= 335, minutes


def test_a_logout_in_another_tab_leads_to_the_login_and_back(browser: Browser, stack: RunningStack) -> None:
    """Two pages of one session: a logout in one ends both; after a login the other returns to its view."""
    context = browser.new_context(storage_state=session_of(browser, stack, "VIEWER"))
    page = context.new_page()
    page.goto(f"{stack.http_url}/dashboard/floor?level=L3")
    expect(page.locator(".live p")).to_have_text(LIVE, timeout=15_000)
    cookies = {one["name"]: one["value"] for one in context.cookies()}
    web.post(f"{stack.http_url}/logout", cookies=cookies)
    expect(page.locator(".live p")).to_have_text("Not live: the login has ended", timeout=SAYS_WITHIN_MS)
    page.get_by_role("button", name="Log in").click()
    log_in(page, stack, "VIEWER")
    expect(page).to_have_url(re.compile("floor.*level=L3"))
    expect(page.locator(".live p")).to_have_text(LIVE, timeout=15_000)
    context.close()
