"""A thousand SDAs on one level, on a separate stack: the plan stays legible and can be moved and zoomed."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import serious_faults, session_of
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import batch, eventually, publish

SOON_MS = 15_000
WITHIN_S = 90.0
PEOPLE = 1000
DRAWN = """() => ({
  markers: document.querySelectorAll('.marker').length,
  clusters: [...document.querySelectorAll('.cluster')].map((one) => Number(one.querySelector('text').textContent)),
})"""


@pytest.fixture(scope="module")
def crowded() -> Iterator[RunningStack]:
    with running_stack() as stack:
        yield stack


@pytest.fixture
def page(browser: Browser, crowded: RunningStack) -> Iterator[Page]:
    context = browser.new_context(
        base_url=f"{crowded.http_url}/dashboard/",
        storage_state=session_of(browser, crowded),
        viewport={"width": 1280, "height": 800},
    )
    yield context.new_page()
    context.close()


def test_a_thousand_people_are_clustered_and_zooming_shows_them(
    page: Page, crowded: RunningStack, demo: Building
) -> None:
    beacons = [one for one in demo.beacons if one.level == "L2"]
    rooms = {one.room for one in beacons}
    page.goto("floor?level=L2")
    expect(page.locator("svg .room").first).to_be_visible(timeout=SOON_MS)

    def everybody_shown() -> bool:
        heard = [(f"phone/many-{n}/readings", batch((beacons[n % len(beacons)].id, -40))) for n in range(PEOPLE)]
        publish(crowded, *heard)
        drawn = page.evaluate(DRAWN)
        return bool(drawn["markers"] + sum(drawn["clusters"]) == PEOPLE)

    eventually(everybody_shown, WITHIN_S, "all of them are on the plan")
    drawn = page.evaluate(DRAWN)
    assert len(drawn["clusters"]) + drawn["markers"] < 300, f"that is not legible: {drawn}"
    assert 0 < len(drawn["clusters"]) <= len(rooms), "one number a room"
    assert serious_faults(page) == []

    before = drawn["markers"]
    cluster = page.locator(".cluster").first
    cluster.hover()
    for _ in range(6):
        page.mouse.wheel(0, -900)
    eventually(lambda: page.evaluate(DRAWN)["markers"] > before, WITHIN_S, "a close-up shows people one by one")
    page.get_by_role("button", name="Show the whole level").click()
    eventually(lambda: page.evaluate(DRAWN)["clusters"], WITHIN_S, "and from afar they are numbers again")
