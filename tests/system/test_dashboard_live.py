"""The dashboard says when what it shows is not the present, and finds back by itself."""

import re

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import log_in, session_of
from support.building import Building
from support.running import RunningStack
from support.talk import batch, publish

SAYS_WITHIN_MS = 5_000
BACK_WITHIN_MS = 45_000
LIVE = re.compile("^Live")


@pytest.fixture
def live_page(page: Page) -> Page:
    page.goto("floor?level=L2")
    expect(page.locator(".live p")).to_have_text(LIVE, timeout=15_000)
    page.evaluate("window.neverReloaded = true")
    return page


def _same_page(page: Page) -> None:
    assert page.evaluate("window.neverReloaded") is True
    expect(page).to_have_url(re.compile("floor.*level=L2"))


def test_node_red_restarted(live_page: Page, stack: RunningStack) -> None:
    stack.stop("node-red")
    expect(live_page.locator(".live p")).to_have_text(re.compile("Not live"), timeout=SAYS_WITHIN_MS)
    stack.start("node-red")
    expect(live_page.locator(".live p")).to_have_text(LIVE, timeout=BACK_WITHIN_MS)
    _same_page(live_page)


def test_node_red_frozen(live_page: Page, stack: RunningStack) -> None:
    stack.freeze("node-red")
    try:
        expect(live_page.locator(".live p")).to_have_text(
            "Not live: the server does not answer", timeout=SAYS_WITHIN_MS
        )
    finally:
        stack.thaw("node-red")
    expect(live_page.locator(".live p")).to_have_text(LIVE, timeout=BACK_WITHIN_MS)
    _same_page(live_page)


def test_broker_stopped(live_page: Page, stack: RunningStack, demo: Building) -> None:
    stack.stop("mosquitto")
    expect(live_page.locator(".live p")).to_have_text("Not live: the message broker is away", timeout=SAYS_WITHIN_MS)
    stack.start("mosquitto")
    expect(live_page.locator(".live p")).to_have_text(LIVE, timeout=BACK_WITHIN_MS)
    beacon = next(one for one in demo.beacons if one.level == "L2")
    publish(stack, ("phone/back-1/readings", batch((beacon.id, -40))))
    expect(live_page.locator('.marker[data-staff="back-1"]')).to_be_visible(timeout=15_000)
    _same_page(live_page)


def test_influxdb_stopped(live_page: Page, stack: RunningStack, demo: Building) -> None:
    stack.stop("influxd")
    expect(live_page.locator(".live p")).to_have_text(
        re.compile("history is not available|not being stored"), timeout=SAYS_WITHIN_MS
    )
    beacon = next(one for one in demo.beacons if one.level == "L2")
    publish(stack, ("phone/meanwhile-1/readings", batch((beacon.id, -40))))
    expect(live_page.locator('.marker[data-staff="meanwhile-1"]')).to_be_visible(timeout=15_000)
    stack.start("influxd")
    expect(live_page.locator(".live p")).not_to_have_text(
        re.compile("history is not available"), timeout=BACK_WITHIN_MS
    )
    _same_page(live_page)


def test_logged_out_elsewhere_leads_to_the_login_and_back(browser: Browser, stack: RunningStack) -> None:
    """Two pages of one session: logging out in one ends both, and the other finds its place again."""
    context = browser.new_context(storage_state=session_of(browser, stack, "VIEWER"))
    page = context.new_page()
    page.goto(f"{stack.http_url}/dashboard/floor?level=L3")
    expect(page.locator(".live p")).to_have_text(LIVE, timeout=15_000)
    cookies = {one["name"]: one["value"] for one in context.cookies()}
    httpx.post(f"{stack.http_url}/logout", cookies=cookies)
    expect(page.locator(".live p")).to_have_text("Not live: the login has ended", timeout=SAYS_WITHIN_MS)
    page.get_by_role("button", name="Log in").click()
    log_in(page, stack, "VIEWER")
    expect(page).to_have_url(re.compile("floor.*level=L3"))
    expect(page.locator(".live p")).to_have_text(LIVE, timeout=15_000)
    context.close()
