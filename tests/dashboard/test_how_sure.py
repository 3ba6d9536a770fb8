"""How sure a room is, in a real browser: *probably* beside it, and marks in the history."""

import math
import os
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from support import web
from support.browser import serious_faults
from support.building import Building, Placed
from support.history_page import written
from support.running import RunningStack
from support.stack_client import batch, eventually, now_ms, publish

SOON_MS = 15_000
LEVEL = "L5"


ROOMS = ("l5-office-1", "l5-office-2")
"""Wall to wall."""
PERIOD_S = 24


def neighbours(demo: Building) -> tuple[Placed, Placed]:
    """Beacons of two rooms of the level, in front of each other."""
    first, second = ([one for one in demo.beacons if one.room == room][-1] for room in ROOMS)
    return first, second


def torn(first: Placed, second: Placed, n: int, ts: int | None = None) -> dict[str, Any]:
    """Second `n` of somebody near the wall: by and by the one is louder, then the other."""
    lead = round(8 * math.sin(2 * math.pi * n / PERIOD_S))
    return batch((first.id, -74 + lead // 2), (second.id, -74 - lead // 2), ts=ts)


def presence_of(stack: RunningStack, who: str) -> dict[str, Any]:
    answer = web.get(f"{stack.http_url}/api/v1/staff/{who}")
    found: dict[str, Any] = answer.json()["presence"] or {} if answer.status_code == HTTPStatus.OK else {}
    return found


def hear_until(stack: RunningStack, who: str, first: Placed, second: Placed, *, probably: bool) -> dict[str, Any]:
    """Readings each second until the room is probable, or sure."""
    for n in range(60):
        body = torn(first, second, n) if probably else batch((first.id, -40))
        publish(stack, (f"phone/{who}/readings", body))
        time.sleep(1)  # a reading each second is what a phone sends
        presence = presence_of(stack, who)
        if presence.get("probably") is probably:
            return presence
    raise AssertionError(f"{who} is never {'probably' if probably else 'surely'} anywhere: {presence}")


def pictured(page: Page, name: str) -> None:
    """A picture for people, where `PICTURES` names a folder."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=False)


def test_probably_stands_beside_the_room_until_it_is_sure(page: Page, stack: RunningStack, demo: Building) -> None:
    first, second = neighbours(demo)
    presence = hear_until(stack, "torn-1", first, second, probably=True)
    room, other = presence["room"], demo.room_name(presence["runner_up"])
    tooltip = re.compile(rf"^\d+ % sure, else {re.escape(other)}$")
    page.goto(f"floor?level={LEVEL}&room={room}")
    beside = page.locator(".room-panel li", has_text="torn-1").first.locator(".probably")
    expect(beside).to_contain_text("probably", timeout=SOON_MS)
    expect(beside).to_have_attribute("title", tooltip)
    marker = page.locator('.marker[data-staff="torn-1"]')
    expect(marker).to_have_class(re.compile("probable"))
    expect(marker.locator("title")).to_contain_text("probably here")
    pictured(page, "floor")
    page.goto("staff?q=torn-1")
    cell = page.locator('tr[data-staff="torn-1"] .room')
    expect(cell).to_contain_text("probably", timeout=SOON_MS)
    expect(cell).to_contain_text(demo.room_name(room))
    pictured(page, "staff")
    page.goto("staff?id=torn-1")
    expect(page.locator(".facts .probably")).to_have_attribute("title", tooltip, timeout=SOON_MS)
    page.locator("details.trace summary").click()
    expect(page.locator(".belief .said")).to_contain_text("shown as probably", timeout=SOON_MS)
    pictured(page, "member")
    hear_until(stack, "torn-1", first, second, probably=False)
    expect(page.locator(".facts .probably")).to_have_count(0, timeout=SOON_MS)


@pytest.fixture
def past(page: Page) -> Callable[..., Page]:
    def opened(**query: str) -> Page:
        page.goto("history?" + "&".join(f"{key}={value}" for key, value in query.items()))
        expect(page.locator(".past")).to_be_visible(timeout=SOON_MS)
        return page

    return opened


def test_history_marks_what_was_probable_or_corrected(
    past: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    first, second = neighbours(demo)
    start_ms = now_ms() // 1000 * 1000 - 600_000
    publish(stack, *[("phone/torn-2/readings", torn(first, second, n, start_ms + n * 1000)) for n in range(240)])
    window = {"start": start_ms / 1000, "end": start_ms / 1000 + 240}

    def doubtful(count: int) -> list[dict[str, Any]]:
        answer = web.get(f"{stack.http_url}/api/v1/staff/torn-2/locations", params={**window, "doubtful": 1})
        found = answer.json().get("locations", [])
        return found if len(found) >= count else []

    found = eventually(lambda: doubtful(5), what="seconds in doubt")
    page = past(**{"staff": "torn-2", "from": written(start_ms), "to": written(start_ms + 240_000)})
    expect(page.locator(".player .doubts i").first).to_be_attached(timeout=SOON_MS)
    probable = [one for one in found if one["probably"]]
    assert probable

    def shown() -> bool:
        for one in probable:
            page.get_by_role("slider", name="Instant").fill(str(one["ts"]))
            if page.locator(".here .probably").count() > 0:
                return True
        return False

    eventually(shown, what="an instant at which the list says probably")
    expect(page.locator(".map .legend")).to_contain_text("probably in this room")
    pictured(page, "history")
    assert serious_faults(page) == []
