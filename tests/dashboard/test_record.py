"""The recording page on a phone: choose the walker, tap rooms, stop, download."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.api import Api
from support.browser import serious_faults, session_of, whole
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, publish
from support.tabs import Tabs

SOON_MS = 15_000
PHONE: Any = {"width": 390, "height": 844}
WALKER = "33"


pytestmark = pytest.mark.usefixtures("no_recordings")


@pytest.fixture
def phone(tabs: Tabs, stack: RunningStack, admin_session: Any) -> Iterator[Page]:
    """A phone's page, logged in as admin."""
    base = f"{stack.http_url}/dashboard/"
    with tabs.lent(base_url=base, storage_state=admin_session, viewport=PHONE, has_touch=True) as page:
        page.goto("record")
        expect(page.get_by_role("heading", name="A new walk")).to_be_visible(timeout=SOON_MS)
        yield page


@pytest.fixture
def hear(stack: RunningStack, demo: Building) -> Callable[[], None]:
    """Publish one reading of the walker's tag by a gateway."""
    tag = next(one for one in demo.raw["staff"] if one["id"] == WALKER)["tags"][0]
    return lambda: publish(stack, (f"gateway/{demo.gateways[0].id}/readings", batch((tag, -60))))


def name_of(demo: Building) -> str:
    return str(next(one for one in demo.raw["staff"] if one["id"] == WALKER)["name"])


def begin(page: Page, demo: Building, called: str) -> None:
    page.get_by_role("searchbox", name="Find staff to add").fill(name_of(demo))
    page.get_by_role("list", name="Staff found").get_by_role("button").first.click()
    page.get_by_label("Name, if you like").fill(called)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("timer")).to_be_visible(timeout=SOON_MS)


def rooms(demo: Building, level: int = 0) -> list[dict[str, Any]]:
    return list(demo.raw["levels"][level]["rooms"])


def room(page: Page, id_: str) -> Locator:
    return page.locator(f'button[data-room="{id_}"]')


def stop(page: Page) -> None:
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Really stop").click()


def here(page: Page) -> Locator:
    return page.locator(".here")


def test_walk_is_recorded_and_downloaded(phone: Page, api: Api, demo: Building, hear: Callable[[], None]) -> None:
    begin(phone, demo, "monday")
    expect(here(phone)).to_have_text("Tap the room you are in")
    lobby, other = rooms(demo)[:2]
    room(phone, lobby["id"]).tap()
    expect(here(phone)).to_have_text(lobby["name"])
    expect(room(phone, lobby["id"])).to_have_attribute("aria-pressed", "true")
    hear()
    expect(phone.get_by_text("1 reading heard, 1 tap")).to_be_visible(timeout=SOON_MS)
    room(phone, lobby["id"]).tap()  # a repeated tap is accepted
    room(phone, other["id"]).tap()
    expect(here(phone)).to_have_text(other["name"])
    phone.get_by_role("button", name="Undo last tap").tap()
    expect(here(phone)).to_have_text(lobby["name"])
    phone.get_by_role("button", name="In no room").tap()
    expect(here(phone)).to_have_text("In no room")
    upstairs = rooms(demo, 1)[0]
    phone.get_by_label("Level").select_option(demo.raw["levels"][1]["name"])
    room(phone, upstairs["id"]).tap()
    expect(here(phone)).to_have_text(upstairs["name"])
    (running,) = api.get("listRecordings")["recordings"]

    def tapped() -> list[Any]:
        return [one["room"] for one in api.get("getRecording", recording=running["id"])["taps"]]

    eventually(lambda: tapped() == [lobby["id"], None, upstairs["id"]], what="the taps at the server")
    stop(phone)
    kept = phone.locator('[data-recording="monday"]')
    expect(kept).to_contain_text("1 reading, 3 taps", timeout=SOON_MS)
    with phone.expect_download() as started:
        kept.get_by_role("button", name="Download monday").tap()
    assert started.value.suggested_filename == "monday.zip"
    content = zipfile.ZipFile(io.BytesIO(started.value.path().read_bytes()))
    assert sorted(content.namelist()) == [
        f"monday/{name}" for name in ("building.json", "monday.csv", "monday.truth.csv", "set.json")
    ]
    assert json.loads(content.read("monday/building.json"))["staff"][0]["name"] == "Walker"
    kept.get_by_role("button", name="Delete monday", exact=True).tap()
    kept.get_by_role("button", name="Really delete monday").tap()
    expect(kept).to_have_count(0, timeout=SOON_MS)


def test_taps_of_an_offline_phone_keep_their_times(phone: Page, api: Api, demo: Building) -> None:
    begin(phone, demo, "offline")
    first, second, third = rooms(demo)[:3]
    room(phone, first["id"]).tap()
    (running,) = api.get("listRecordings")["recordings"]
    at = {"recording": running["id"]}
    eventually(lambda: len(api.get("getRecording", **at)["taps"]) == 1, what="the first tap")
    phone.context.set_offline(True)
    room(phone, third["id"]).tap()
    expect(phone.get_by_text("1 change not sent yet")).to_be_visible(timeout=SOON_MS)
    phone.get_by_role("button", name="Undo last tap").tap()
    expect(here(phone)).to_have_text(first["name"])
    room(phone, second["id"]).tap()
    expect(phone.get_by_role("button", name="Stop")).to_be_disabled()
    tapped_ms = phone.evaluate("Date.now()")
    expect(phone.get_by_text("not sent yet")).to_be_visible(timeout=SOON_MS)
    phone.wait_for_function("(since) => Date.now() > since + 2500", arg=tapped_ms)
    phone.context.set_offline(False)
    expect(phone.get_by_text("not sent yet")).to_have_count(0, timeout=SOON_MS)

    def taps() -> list[dict[str, Any]]:
        return list(api.get("getRecording", **at)["taps"])

    eventually(lambda: len(taps()) == 2, what="the tap from offline")
    assert [one["room"] for one in taps()] == [first["id"], second["id"]]
    assert abs(taps()[1]["ts"] - tapped_ms) < 2000


def test_a_walk_continues_after_a_reload_and_shows_missing_readings(phone: Page, demo: Building) -> None:
    begin(phone, demo, "silent")
    first = rooms(demo)[0]
    room(phone, first["id"]).tap()
    expect(phone.get_by_text("1 tap")).to_be_visible()
    phone.reload()
    expect(here(phone)).to_have_text(first["name"], timeout=SOON_MS)
    expect(phone.get_by_text("Nothing heard for")).to_be_visible(timeout=SOON_MS)


def test_page_fits_a_phone_and_has_no_serious_faults(phone: Page, demo: Building, hear: Callable[[], None]) -> None:
    def fits() -> None:
        rights = "(all) => all.map((one) => one.getBoundingClientRect().right)"
        assert max(phone.locator(".record *").evaluate_all(rights)) <= PHONE["width"] - 12
        assert serious_faults(phone) == []

    fits()
    begin(phone, demo, "phone")
    room(phone, rooms(demo)[0]["id"]).tap()
    hear()
    expect(phone.get_by_text("1 reading heard, 1 tap")).to_be_visible(timeout=SOON_MS)
    fits()
    small = phone.locator(".rooms-to-tap button, .run button").evaluate_all(
        "(all) => all.filter((one) => Math.min(one.offsetHeight, one.offsetWidth) < 44).map((one) => one.textContent)"
    )
    assert small == []
    stop(phone)
    expect(phone.locator('[data-recording="phone"]')).to_be_visible(timeout=SOON_MS)
    fits()


def test_recording_works_with_the_keyboard(phone: Page, demo: Building) -> None:
    begin(phone, demo, "keyboard")
    first, second = rooms(demo)[:2]
    room(phone, first["id"]).focus()
    phone.keyboard.press("Enter")
    expect(here(phone)).to_have_text(first["name"])
    phone.keyboard.press("Tab")
    phone.keyboard.press("Space")
    expect(here(phone)).to_have_text(second["name"])
    expect(room(phone, second["id"])).to_be_focused()


def test_set_up_links_to_recording_and_viewers_are_refused(page: Page, browser: Browser, stack: RunningStack) -> None:
    page.goto("setup")
    page.locator(".sda").get_by_role("link", name="Record a walk").click()
    expect(page.get_by_role("heading", name="Record a walk")).to_be_visible(timeout=SOON_MS)
    base = f"{stack.http_url}/dashboard/"
    with whole(browser.new_context(base_url=base, storage_state=session_of(browser, stack, "VIEWER"))) as context:
        viewer = context.new_page()
        viewer.goto("record")
        expect(viewer.get_by_text("Only an admin may record a walk")).to_be_visible(timeout=SOON_MS)
        expect(viewer.get_by_role("button", name="Start")).to_have_count(0)
        answer = viewer.request.post(f"{stack.http_url}/api/v1/recordings", data={"staff_id": WALKER})
        assert answer.status == 403
        assert viewer.request.get(f"{stack.http_url}/api/v1/recordings").status == 403
