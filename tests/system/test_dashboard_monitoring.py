"""/monitoring: the classic view for old bookmarks, behind the login, refreshed live."""

import re

from playwright.sync_api import Browser, Page, expect
from support.browser import log_in, serious_faults
from support.building import Building
from support.running import RunningStack
from support.talk import batch, publish


def test_old_bookmark_leads_through_the_login_to_the_table(browser: Browser, stack: RunningStack) -> None:
    page = browser.new_page()
    page.goto(f"{stack.http_url}/monitoring")
    log_in(page, stack, "VIEWER")
    expect(page).to_have_url(re.compile("/monitoring$"))
    expect(page.get_by_role("heading", name="Monitoring")).to_be_visible()
    page.context.close()


def test_table_holds_everybodys_latest_and_follows(page: Page, stack: RunningStack, demo: Building) -> None:
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


def test_it_says_when_it_is_not_live(page: Page, stack: RunningStack) -> None:
    page.goto("/monitoring")
    expect(page.get_by_role("status")).to_contain_text("Live", timeout=15_000)
    stack.stop("node-red")
    expect(page.get_by_role("status")).to_contain_text("Not live", timeout=8_000)
    stack.start("node-red")
    expect(page.get_by_role("status")).to_have_text(re.compile("^Live"), timeout=30_000)
