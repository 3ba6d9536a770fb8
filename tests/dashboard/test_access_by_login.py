"""The dashboard needs a login; a viewer sees everything and changes nothing."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from support import web
from support.browser import log_in, session_of
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, publish


def test_a_page_redirects_to_the_login_and_back(browser: Browser, stack: RunningStack) -> None:
    page = browser.new_page()
    said: list[str] = []
    page.on("websocket", lambda socket: said.append(socket.url))
    page.goto(f"{stack.http_url}/dashboard/floor?level=L3")
    expect(page).to_have_url(re.compile(r"/login\?next="))
    assert "Harbour" not in page.content()
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_have_text("Name or password is wrong.")
    assert not said
    log_in(page, stack)
    expect(page).to_have_url(re.compile("/dashboard/floor.*level=L3"))
    expect(page.locator(".live p")).to_have_text(re.compile("^Live"), timeout=15_000)
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/login"))
    page.context.close()


@pytest.fixture
def viewer(browser: Browser, stack: RunningStack) -> Iterator[Page]:
    session: Any = session_of(browser, stack, "VIEWER")
    context = browser.new_context(base_url=f"{stack.http_url}/dashboard/", storage_state=session)
    yield context.new_page()
    context.close()


def test_viewer_sees_the_floor_and_history(viewer: Page, stack: RunningStack, demo: Building) -> None:
    beacon = next(one for one in demo.beacons if one.level == "L2")
    publish(stack, ("phone/viewed-1/readings", batch((beacon.id, -40))))
    viewer.goto(f"floor?level=L2&room={beacon.room}")
    # in the room's list: the plan may show several people as a number
    expect(viewer.get_by_role("link", name="viewed-1", exact=True).first).to_be_visible(timeout=60_000)
    expect(viewer.get_by_role("alert")).to_have_count(0)
    expect(viewer.get_by_role("button", name=f"Log out {stack.secrets['SDA_VIEWER_USER']}")).to_be_visible()
    asked = f"{stack.http_url}/api/v1/staff/viewed-1/stays"
    eventually(lambda: viewer.request.get(asked).status == 200, what="stays for a viewer")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/rebuild"),
        ("GET", "/api/v1/keys"),
        ("GET", "/newbeacondetect?staff_id=0&beacon_address=C2A628384B08&rssi=-20"),
    ],
)
def test_viewer_changes_nothing(viewer: Page, stack: RunningStack, method: str, path: str) -> None:
    answer = viewer.request.fetch(f"{stack.http_url}{path}", method=method)
    assert answer.status == 403, answer.text()
    assert "viewer" in answer.json()["error"]


def test_page_of_another_site_gets_nothing_with_our_cookie(viewer: Page, stack: RunningStack) -> None:
    cookies = {one["name"]: one["value"] for one in viewer.context.cookies()}
    headers = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    answer = web.get(f"{stack.http_url}/api/v1/staff", cookies=cookies, headers=headers)
    assert answer.status_code == 401
