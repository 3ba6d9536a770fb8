"""The history page in a real browser, on a separate stack with fifty people who walked for forty minutes."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from support import web
from support.browser import serious_faults, session_of
from support.building import Building
from support.crowd import Crowd, walk_crowd
from support.history_page import (
    COLOURS,
    DRAWN,
    LISTED,
    SHOW_AND_PLAY,
    clipped,
    location_at,
    stays_by_api,
    where,
    written,
)
from support.keys import admin
from support.running import RunningStack, running_stack
from support.stack_client import eventually

SOON_MS = 60_000
PEOPLE = 50
MINUTE_MS = 60_000
STARTS_WITHIN_S = 2.0
PICTURED = "L7"


@pytest.fixture(scope="module")
def session_stack(demo: Building, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A separate stack, since the crowd would disturb other tests. One level has a magenta picture."""
    folder = tmp_path_factory.mktemp("building")
    levels = [{**one, "plan": "plan.svg"} if one["id"] == PICTURED else one for one in demo.raw["levels"]]
    (folder / "building.json").write_text(json.dumps({**demo.raw, "levels": levels}))
    (folder / "plan.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="28"><path fill="#f0f" d="M0,0H40V28H0z"/></svg>'
    )
    with running_stack(folder / "building.json") as stack:
        yield stack


@pytest.fixture(scope="module")
def admin_session(browser: Browser, session_stack: RunningStack) -> Any:
    return session_of(browser, session_stack)


@pytest.fixture(scope="module")
def crowd(session_stack: RunningStack, demo: Building) -> Crowd:
    return walk_crowd(session_stack, demo, PEOPLE, minutes=40)


@pytest.fixture
def window(crowd: Crowd) -> tuple[int, int]:
    """Half an hour within the walk."""
    return crowd.end_ms - 33 * MINUTE_MS, crowd.end_ms - 3 * MINUTE_MS


@pytest.fixture
def past(page: Page, window: tuple[int, int]) -> Callable[..., Page]:
    """Opens the page with a selection."""

    def opened(**query: str) -> Page:
        asked = {"from": written(window[0]), "to": written(window[1])} | query
        page.goto("history?" + "&".join(f"{key}={value}" for key, value in asked.items()))
        expect(page.locator(".past")).to_be_visible(timeout=SOON_MS)
        return page

    return opened


def instant(page: Page) -> int:
    return int(page.locator(".past").get_attribute("data-at") or 0)


def seek(page: Page, ms: int) -> None:
    page.get_by_role("slider", name="Instant").fill(str(ms))
    expect(page.locator(".past")).to_have_attribute("data-at", str(ms))


def test_half_an_hour_of_fifty_starts_at_once(page: Page, crowd: Crowd) -> None:
    def starts() -> bool:
        page.goto(f"history?staff={','.join(crowd.staff)}")  # people without a time: the last half hour is preset
        took_s = float(page.evaluate(SHOW_AND_PLAY))
        print(f"playback of half an hour of {PEOPLE} SDAs started after {took_s:.2f} s")  # noqa: T201 - the figure
        return took_s <= STARTS_WITHIN_S

    eventually(starts, within_s=60, what=f"a playback that starts within {STARTS_WITHIN_S} s")
    expect(page.locator(".past")).to_be_visible()


def test_an_instant_matches_the_api(
    past: Callable[..., Page], stack: RunningStack, crowd: Crowd, demo: Building, window: tuple[int, int]
) -> None:
    page = past(staff=",".join(crowd.staff))
    stays = stays_by_api(stack, crowd, *window)
    for ms in (window[0] + minutes * MINUTE_MS for minutes in (4, 15, 29)):
        seek(page, ms)
        expected = where(stays, ms)
        assert len(expected) == PEOPLE
        assert page.evaluate(LISTED) == expected
        page.locator(".plan").scroll_into_view_if_needed()
        for level in demo.raw["levels"]:
            page.get_by_role("group", name="Level of the plan").get_by_role(
                "button", name=re.compile(level["id"])
            ).click()
            expect(page.get_by_role("group", name=f"Plan of {level['name']}")).to_be_visible()
            rooms = {room["id"] for room in level["rooms"]}
            here = {who: room for who, room in expected.items() if room in rooms}
            drawn = page.evaluate(DRAWN)
            alone = {who: room for who, room in here.items() if room not in drawn["many"]}
            assert drawn["people"] == alone
            assert all(count == list(here.values()).count(room) for room, count in drawn["many"].items())
        moving = {
            one["staff_id"] for one in stays for edge in (one["enter_ms"], one["leave_ms"]) if abs(edge - ms) < 10_000
        }
        with web.Client(base_url=stack.http_url, timeout=20) as caller:
            assert {who: location_at(caller, who, ms) for who in expected if who not in moving} == {
                who: room for who, room in expected.items() if who not in moving
            }


def test_a_level_is_chosen_with_its_time(
    page: Page, stack: RunningStack, crowd: Crowd, window: tuple[int, int]
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("history")
    expect(page.get_by_role("heading", name="History", level=1)).to_be_visible(timeout=SOON_MS)
    expect(page.get_by_text("Nothing is looked up before you choose")).to_be_visible()
    assert not any("/api/v1/stays" in url for url in asked)
    page.get_by_role("radio", name="Everybody on a level").check()
    page.get_by_role("combobox", name="Level").select_option("L2")
    for name, ms in zip(("From", "To"), window, strict=True):
        local = page.evaluate(
            "(ms) => new Date(ms - new Date(ms).getTimezoneOffset() * 60000).toISOString().slice(0, 19)", ms
        )
        page.get_by_label(name, exact=True).fill(local)
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".choose summary")).to_be_focused()
    expect(page).to_have_url(re.compile(rf"level=L2.*from={re.escape(written(window[0]))}".replace(":", "(:|%3A)")))
    ms = window[0] + 10 * MINUTE_MS
    expect(page.locator(".past")).to_be_visible(timeout=SOON_MS)
    seek(page, ms)
    stays = stays_by_api(stack, crowd, *window)
    levels = {one["room"]: one["level"] for one in stays}
    assert page.evaluate(LISTED) == {who: room for who, room in where(stays, ms).items() if levels[room] == "L2"}


@pytest.mark.usefixtures("crowd")
def test_staff_are_searched_added_and_removed(page: Page, demo: Building) -> None:
    page.goto("history")
    page.get_by_role("radio", name="One or several SDAs").check()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_have_text("Choose at least one staff member")
    one, other = demo.raw["staff"][0], demo.raw["staff"][1]
    search = page.get_by_role("searchbox", name="Find staff to add")
    search.fill(one["name"].lower())
    page.get_by_role("list", name="Staff found").get_by_role("button", name=one["name"]).click()
    search.fill(other["id"])
    search.press("Enter")
    search.fill("visitor-1")
    page.get_by_role("button", name="visitor-1 not in the building file").click()
    chosen = page.get_by_role("list", name="Staff chosen").get_by_role("button")
    expect(chosen).to_have_count(3)
    page.get_by_role("button", name=f"Remove {other['id']} {other['name']}").click()
    expect(chosen).to_have_count(2)
    page.get_by_role("group", name="The last").get_by_role("button", name="30 min").click()
    page.get_by_role("button", name="Show").click()
    expect(page.locator(f'.here [data-person="{one["id"]}"]')).to_be_visible(timeout=SOON_MS)
    expect(page.locator('.here [data-missing="visitor-1"]')).to_be_visible()
    expect(page).to_have_url(re.compile(rf"staff={one['id']}(,|%2C)visitor-1"))


def test_an_invalid_time_is_refused_beside_the_field(page: Page) -> None:
    page.goto("history")
    page.get_by_label("From", exact=True).fill("2026-03-02T10:00:00")
    page.get_by_label("To", exact=True).fill("2026-03-01T10:00:00")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_have_text("From has to be before to")


def test_play_pause_speed_steps_and_keyboard(past: Callable[..., Page], window: tuple[int, int]) -> None:
    page = past(level="L1")
    assert instant(page) == window[0]
    page.get_by_role("combobox", name="Speed").select_option("60")
    expect(page).to_have_url(re.compile("speed=60"))
    page.get_by_role("button", name="Play").click()
    eventually(lambda: instant(page) > window[0] + 2000, within_s=60)
    page.get_by_role("button", name="Pause").click()
    stopped = instant(page)
    expect(page).to_have_url(re.compile("at=20"))
    page.get_by_role("button", name="On 30 s").click()
    expect(page.locator(".past")).to_have_attribute("data-at", str(stopped + 30_000))
    page.get_by_role("button", name="Back 30 s").click()
    expect(page.locator(".past")).to_have_attribute("data-at", str(stopped))
    page.get_by_role("button", name="To the start").click()
    slider = page.get_by_role("slider", name="Instant")
    for second in (0, 1, 2):
        expect(page.locator(".past")).to_have_attribute("data-at", str(window[0] + second * 1000))
        if second < 2:
            slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"\d\d:\d\d:\d\d, \d+ on Level 1"))
    page.get_by_role("combobox", name="Speed").select_option("1800")
    page.get_by_role("button", name="Play").click()
    eventually(lambda: instant(page) == window[1], within_s=60)
    page.get_by_role("combobox", name="Speed").select_option("60")
    page.get_by_role("button", name="Play").click()  # stopped at the end and starts again
    eventually(lambda: instant(page) < window[1], within_s=60)


def test_a_url_restores_the_view(
    past: Callable[..., Page], browser: Browser, stack: RunningStack, window: tuple[int, int]
) -> None:
    page = past(staff="3,4")
    seek(page, window[0] + 7 * MINUTE_MS)
    page.get_by_role("combobox", name="Speed").select_option("5")
    page.get_by_role("group", name="Level of the plan").get_by_role("button", name="L5").click()
    expect(page).to_have_url(re.compile("plan=L5"))
    shown = page.evaluate(LISTED)
    context = browser.new_context(storage_state=session_of(browser, stack, "VIEWER"), timezone_id="Asia/Singapore")
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator(".past")).to_have_attribute("data-at", str(window[0] + 7 * MINUTE_MS), timeout=SOON_MS)
    assert other.evaluate(LISTED) == shown
    expect(other.get_by_role("combobox", name="Speed")).to_have_value("5")
    expect(other.get_by_role("group", name=re.compile("^Plan of Level 5"))).to_be_visible()
    local = datetime.fromtimestamp(window[0] / 1000 + 7 * 60 + 8 * 3600, UTC).strftime("%H:%M:%S")
    expect(other.locator(".instant")).to_contain_text(local)
    context.close()


def test_the_plan_follows_a_person(
    past: Callable[..., Page], stack: RunningStack, crowd: Crowd, window: tuple[int, int]
) -> None:
    page = past(staff="8")
    stays = [one for one in stays_by_api(stack, crowd, *window) if one["staff_id"] == "8"]
    for one in stays[1:4]:
        seek(page, window[0] + (one["enter_ms"] - window[0]) // 1000 * 1000 + 1000)
        expect(page.locator(f'.plan .room[data-room="{one["room"]}"]')).to_have_class(re.compile("occupancy-1"))


def save(page: Page, name: str) -> tuple[str, bytes]:
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_presence_and_patrols_of_each_room(
    past: Callable[..., Page], stack: RunningStack, crowd: Crowd, demo: Building, window: tuple[int, int]
) -> None:
    parts = clipped(stays_by_api(stack, crowd, *window), "L3", window)
    page = past(level="L3", tab="presence")
    rooms = page.get_by_role("region", name="Table of rooms").locator("tbody tr")
    expect(rooms).to_have_count(len(next(one for one in demo.raw["levels"] if one["id"] == "L3")["rooms"]))
    spent = {room: sum(end - start for start, end in list_) for room, list_ in parts.items()}
    fullest = max(spent, key=lambda room: spent[room])
    expect(page.locator(f'.plan .room[data-room="{fullest}"]')).to_have_class(re.compile("heat-5"))
    expect(rooms.first).to_have_attribute("data-id", fullest)
    name, content = save(page, "CSV")
    assert re.fullmatch(r"presence-L3-\d{8}T\d{6}Z-\d{8}T\d{6}Z\.csv", name)
    figures = {row["room"]: row for row in csv.DictReader(content.decode("utf-8-sig").splitlines())}
    for room, list_ in parts.items():
        assert int(figures[room]["visits"]) == len(list_)
        assert abs(int(figures[room]["person_s"]) - spent[room] / 1000) <= 1
        covered = {second for start, end in list_ for second in range(start // 1000, end // 1000)}
        assert abs(int(figures[room]["covered_s"]) - len(covered)) <= len(list_)
    page.get_by_role("link", name="Patrols").click()
    expect(page).to_have_url(re.compile("tab=patrols"))
    expect(page.locator(f'.plan .room[data-room="{fullest}"]')).to_have_class(re.compile(r"patrol-[1-4]"))
    expect(page.locator(f'tr[data-id="{fullest}"] .visits')).to_have_text(str(len(parts[fullest])))
    page.get_by_role("searchbox").fill(demo.room_name(fullest))
    expect(rooms).to_have_count(1)


def test_rooms_without_visits_are_listed(past: Callable[..., Page]) -> None:
    page = past(staff="visitor-9", tab="patrols", plan="L1")
    expect(page.get_by_text("Nobody was heard in this time")).to_be_visible()
    expect(page.locator(".plan .room.patrol-5").first).to_be_visible()
    expect(page.locator(".plan .room:not(.patrol-5)")).to_have_count(0)


def test_stays_are_saved_as_csv(
    past: Callable[..., Page], stack: RunningStack, crowd: Crowd, window: tuple[int, int]
) -> None:
    name, content = save(past(staff="1,2"), "CSV")
    assert name.startswith("stays-1_2-")
    rows = [
        (row["staff_id"], row["room"], row["enter"]) for row in csv.DictReader(content.decode("utf-8-sig").splitlines())
    ]
    expected = [one for one in stays_by_api(stack, crowd, *window) if one["staff_id"] in {"1", "2"}]
    assert sorted(rows) == sorted(
        (one["staff_id"], one["room"], written(one["enter_ms"]).replace("Z", f".{one['enter_ms'] % 1000:03}Z"))
        for one in expected
    )


@pytest.mark.parametrize("tab", ["playback", "presence", "patrols"])
def test_plan_is_saved_as_png(past: Callable[..., Page], tab: str) -> None:
    page = past(level="L3", tab=tab)
    name, content = save(page, "PNG")
    assert name.endswith(".png")
    assert content.startswith(b"\x89PNG\r\n")
    saved = page.evaluate(COLOURS, list(content))
    assert saved["width"] == 2 * round(page.locator(".plan > svg").bounding_box()["width"])  # type: ignore[index]
    shown = page.locator(".plan .room path").evaluate_all("(all) => all.map((one) => getComputedStyle(one).fill)")
    assert {re.sub(r"[^\d,]", "", fill) for fill in shown} <= set(saved["colours"])


def test_picture_below_the_rooms_is_saved_too(past: Callable[..., Page]) -> None:
    page = past(level=PICTURED, tab="patrols")
    _, content = save(page, "PNG")
    colours = [tuple(map(int, one.split(","))) for one in page.evaluate(COLOURS, list(content))["colours"]]
    assert any(red > 120 and green < 140 and blue > 120 for red, green, blue in colours), (
        "magenta shines through the rooms"
    )


def test_picture_is_drawn_below_the_rooms_of_the_floor(page: Page) -> None:
    with page.expect_response("**/pages/plans/*") as reported:
        page.goto(f"floor?level={PICTURED}")
    assert reported.value.ok
    picture = page.locator(".plan image")
    expect(picture).to_have_attribute("href", f"/pages/plans/{PICTURED}", timeout=SOON_MS)
    plan = page.locator(".plan .rooms").bounding_box()
    drawn = picture.bounding_box()
    assert plan
    assert drawn
    assert drawn["width"] == pytest.approx(plan["width"], abs=10), (
        "the level, which these rooms fill; theirs is with walls"
    )


def test_a_lookup_is_in_the_audit_log(past: Callable[..., Page], stack: RunningStack) -> None:
    past(staff="21,22,23")
    with admin(stack) as caller:
        entries = caller.get("/api/v1/audit?subject=22&limit=1000").json()["entries"]
    mine = [one for one in entries if one.get("route") == "/api/v1/stays" and one["subjects"] == [["21", "23"]]]
    assert len(mine) == 1
    assert mine[0]["who"] == f"login:{stack.secrets['SDA_ADMIN_USER']}"


def test_an_outage_of_the_database_is_shown_and_retried(
    page: Page, stack: RunningStack, window: tuple[int, int]
) -> None:
    stack.stop("influxd")
    page.goto(f"history?level=L1&from={written(window[0])}&to={written(window[1])}")
    expect(page.locator(".history > .fault")).to_contain_text("history is not available", timeout=SOON_MS)
    stack.start("influxd")

    def loaded() -> bool:
        again = page.get_by_role("button", name="Try again")
        if again.count() > 0:
            again.click()
        return page.locator(".past").count() > 0

    eventually(loaded, within_s=60)


def test_staff_and_floor_pages_link_to_history(page: Page, crowd: Crowd) -> None:
    page.goto(f"staff?id={crowd.staff[5]}")
    page.get_by_role("link", name="Play back").click(timeout=SOON_MS)
    expect(page).to_have_url(re.compile(rf"history\?staff={crowd.staff[5]}&from="))
    expect(page.locator(".past")).to_be_visible(timeout=SOON_MS)
    page.goto("floor?level=L1&room=l1-cafe")
    page.get_by_role("link", name="Play back the last hour").click(timeout=SOON_MS)
    expect(page).to_have_url(re.compile(r"history\?level=L1&.*room=l1-cafe"))
    expect(page.locator('.plan .room[data-room="l1-cafe"]')).to_have_attribute("aria-pressed", "true", timeout=SOON_MS)


def test_room_is_marked_on_the_plan_and_in_the_list(past: Callable[..., Page]) -> None:
    page = past(level="L3")
    first = page.locator(".here [data-here]").first
    room = first.get_attribute("data-here")
    page.locator(f'.plan .room[data-room="{room}"]').press("Enter")
    expect(first).to_have_class(re.compile("chosen"))
    expect(page).to_have_url(re.compile(f"room={room}"))
    first.get_by_role("button").click()
    expect(page.locator(f'.plan .room[data-room="{room}"]')).to_have_attribute("aria-pressed", "false")


def test_axe_finds_no_serious_fault(past: Callable[..., Page], page: Page) -> None:
    page.goto("history")
    page.get_by_role("radio", name="One or several SDAs").check()
    page.get_by_role("searchbox", name="Find staff to add").fill("a")
    assert serious_faults(page) == []
    for tab in ("playback", "presence", "patrols"):
        for whose in ({"level": "L2"}, {"staff": "1,2,visitor-9"}):
            assert serious_faults(past(tab=tab, **whose)) == [], json.dumps([tab, whose])


def test_the_page_fits_a_phones_width(past: Callable[..., Page]) -> None:
    for tab in ("playback", "presence", "patrols"):
        page = past(tab=tab, staff="1,2,3,4,5")
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator(".choose summary").click()
        assert page.evaluate("document.querySelector('.sda').scrollWidth <= innerWidth"), tab
