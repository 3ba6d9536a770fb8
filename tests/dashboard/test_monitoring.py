"""/monitoring: the classic view for old bookmarks, behind the login, updated live."""

import re

from playwright.sync_api import Browser, Page, expect
from support.browser import SAYS_WITHIN_MS, log_in, serious_faults
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, publish

BACK_WITHIN_MS = 60_000
WELL = re.compile(r"^Live(; no readings are coming in)?\.")


def test_an_old_bookmark_leads_through_the_login_to_the_table(browser: Browser, stack: RunningStack) -> None:
    page = browser.new_page()
    page.goto(f"{stack.http_url}/monitoring")
    log_in(page, stack, "VIEWER")
    expect(page).to_have_url(re.compile("/monitoring$"))
    expect(page.get_by_role("heading", name="Monitoring")).to_be_visible()
    page.context.close()


def test_the_table_shows_everybodys_latest_location_live(page: Page, stack: RunningStack, demo: Building) -> None:
    first, second = (next(one for one in demo.beacons if one.level == level) for level in ("L3", "L5"))
    publish(stack, ("phone/classic-1/readings", batch((first.id, -44))))
    page.goto("/monitoring")
    row = page.get_by_role("row").filter(has_text="classic-1")
    expect(row.get_by_role("cell")).to_have_text(
        [
            "classic-1",
            "L3",
            demo.room_name(first.room),
            re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"),
            "-44",
            first.id,
        ],
        timeout=15_000,
    )
    publish(stack, ("phone/classic-1/readings", batch((second.id, -30))))
    expect(row).to_contain_text(demo.room_name(second.room), timeout=15_000)
    assert serious_faults(page) == []


def test_the_page_shows_when_it_is_not_live_or_a_part_is_down(page: Page, stack: RunningStack) -> None:
    page.goto("/monitoring")
    status = page.get_by_role("status")
    for service, said in (
        ("node-red", "Not live: no connection to the server"),
        ("mosquitto", "Not live: the message broker is away"),
        ("influxd", "history is not available"),
    ):
        expect(status).to_have_text(WELL, timeout=BACK_WITHIN_MS)
        stack.stop(service)
        expect(status).not_to_have_text(WELL, timeout=SAYS_WITHIN_MS)
        expect(status).to_contain_text(said)
        stack.start(service)
    expect(status).to_have_text(WELL, timeout=BACK_WITHIN_MS)


def test_the_page_shows_when_the_server_does_not_answer(page: Page, stack: RunningStack) -> None:
    page.goto("/monitoring")
    status = page.get_by_role("status")
    expect(status).to_have_text(WELL, timeout=BACK_WITHIN_MS)
    stack.freeze("node-red")
    try:
        expect(status).to_contain_text("Not live: no connection", timeout=SAYS_WITHIN_MS)
    finally:
        stack.thaw("node-red")
    expect(status).to_have_text(WELL, timeout=BACK_WITHIN_MS)
