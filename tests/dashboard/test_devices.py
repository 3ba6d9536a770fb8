"""The devices page in a real browser: alerts, gateways, beacons, and unregistered devices."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.browser import serious_faults, session_of
from support.building import Building
from support.doubles import ADDRESSES, doubles
from support.keys import admin
from support.running import RunningStack
from support.stack_client import batch, eventually, now_ms, publish

SOON_MS = 15_000
RAISED_MS = 40_000
RAISED_S = RAISED_MS / 1000
LOST_S = RAISED_S + 60  # who was here is lost after a minute
AFTER_A_MINUTE_MS = 120_000
TO_BE_LOOKED_AT = "To be looked at"
ENDED = "Ended, and not seen by anybody"
STRANGER = "ABCDEF012345"
MANY = 21
"""From 20 on a group says what to do about so many."""
RECEIVED_S = 900


@pytest.fixture
def devices(page: Page) -> Callable[..., Page]:
    def opened(tab: str = "alerts", **query: str) -> Page:
        page.goto(f"devices?tab={tab}" + "".join(f"&{key}={value}" for key, value in query.items()))
        expect(page.get_by_role("heading", name="Devices", level=1)).to_be_visible(timeout=SOON_MS)
        return page

    return opened


@pytest.fixture(scope="module", autouse=True)
def amiss(session_stack: RunningStack, demo: Building) -> dict[str, str]:
    """Slow alerts: started before the first test, so that the test for them hardly waits.

    Returns:
        ids of alerts, and what they are about.
    """
    gateway = demo.gateways[40]
    person = next(one for one in demo.raw["staff"][5:] if one.get("tags"))
    low = {"beacon": person["tags"][0], "rssi": -60, "battery_mv": 2210}
    publish(
        session_stack,
        (f"gateway/{gateway.id}/status", {"state": "offline", "ts": now_ms(), "version": "1"}),
        (f"gateway/{demo.gateways[41].id}/readings", {"v": 1, "ts": now_ms(), "readings": [low]}),
    )
    return {f"gateway_down:{gateway.id}": demo.room_name(gateway.room), f"battery_low:{low['beacon']}": person["name"]}


def row(page: Page, id_: str) -> Locator:
    return page.locator(f'tr[data-id="{id_}"]')


def alert(page: Page, id_: str, part: str = TO_BE_LOOKED_AT, within_s: float = RAISED_S) -> Locator:
    """An alert in one of the lists, as a card or in the list of a group, which is unfolded for it."""
    region = page.get_by_role("region", name=part)
    found = region.locator(f'[data-alert="{id_}"]')

    def shown() -> bool:
        for button in region.get_by_role("button", name="Show the list").all():
            button.click()
        return found.count() == 1

    eventually(shown, within_s, f"the alert {id_} under {part}")
    return found


def refused(stack: RunningStack, phone: str) -> str:
    """Raise an alert with invalid messages of a phone; returns its id."""
    publish(stack, (f"phone/{phone}/readings", "this is no JSON"))
    return f"messages_refused:{phone}"


def test_an_alert_has_a_remedy_and_is_acknowledged(devices: Callable[..., Page], stack: RunningStack) -> None:
    id_ = refused(stack, "noisy-1")
    page = devices()
    reported = alert(page, id_)
    expect(reported).to_contain_text("phone noisy-1")
    expect(page.get_by_role("region", name=TO_BE_LOOKED_AT)).to_contain_text("correct its program")
    expect(page.get_by_role("link", name=re.compile(r"^Devices\s*, waiting: [1-9]"))).to_be_visible()
    reported.get_by_role("button", name="Acknowledge").click()
    seen = alert(page, id_, "Acknowledged")
    expect(seen).to_contain_text(f"Seen by login:{stack.secrets['SDA_ADMIN_USER']}", timeout=SOON_MS)
    expect(seen.get_by_role("button")).to_have_count(0)


def test_an_alert_links_to_its_room_on_the_floor(
    devices: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    limited = next(room for level in demo.raw["levels"] for room in level["rooms"] if "limit" in room)
    inside = next(one for one in demo.beacons if one.room == limited["id"])
    crowd = [(f"phone/alert-{n}/readings", batch((inside.id, -40))) for n in range(limited["limit"] + 1)]
    publish(stack, *crowd)
    page = devices()
    reported = alert(page, f"room_crowded:{limited['id']}")
    reported.get_by_role("link", name="Show on the floor").click()
    expect(page).to_have_url(re.compile(f"floor.*room={limited['id']}"))


def test_ended_alerts_are_acknowledged_together(
    devices: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    at = demo.beacons[10].id
    gone = ("gone-1", "gone-2")
    publish(stack, *((f"phone/{one}/readings", batch((at, -40), ts=now_ms() - 25_000)) for one in gone))
    page = devices()
    for one in gone:
        expect(alert(page, f"sda_lost:{one}", within_s=LOST_S)).to_contain_text("is not heard any more")
    publish(stack, *((f"phone/{one}/readings", batch((at, -40))) for one in gone))
    over = page.get_by_role("region", name=ENDED)
    for one in gone:
        expect(alert(page, f"sda_lost:{one}", ENDED, AFTER_A_MINUTE_MS / 1000)).to_contain_text("ended")
    over.get_by_role("button", name="All seen").first.click()
    for one in gone:
        expect(page.locator(f'[data-alert="sda_lost:{one}"]')).to_have_count(0, timeout=RAISED_MS)


def test_many_of_a_kind_are_one_and_acknowledged_as_far_as_they_were_seen(
    devices: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    def lose(*phones: str) -> None:
        at = demo.beacons[10].id
        publish(stack, *((f"phone/{one}/readings", batch((at, -40), ts=now_ms() - 25_000)) for one in phones))

    many = [f"many-{n}" for n in range(MANY)]
    lose(*many)
    page = devices()
    group = page.get_by_role("region", name=TO_BE_LOOKED_AT).locator('[data-group="sda_lost"]')
    for one in many:
        alert(page, f"sda_lost:{one}", within_s=LOST_S)
    expect(group.get_by_role("heading")).to_have_text(re.compile(r"^\s*SDA lost\s+[\d,]+\s*$"), timeout=RAISED_MS)
    expect(group).to_contain_text("So many at once")
    assert serious_faults(page) == []
    posted: list[str] = []
    page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)
    group.get_by_role("button", name="Acknowledge all").click()
    expect(group).to_have_count(0, timeout=RAISED_MS)
    assert ["/alerts/kinds/sda_lost/acknowledge?state=open&until=" in one for one in posted] == [True]
    lose("many-late")
    expect(alert(page, "sda_lost:many-late", within_s=LOST_S).get_by_role("button", name="Acknowledge")).to_be_visible()
    expect(alert(page, f"sda_lost:{many[0]}", "Acknowledged")).to_contain_text("Seen by")
    with admin(stack) as caller:
        entries = caller.get("/api/v1/audit", params={"limit": 1000}).json()["entries"]
    assert len([one for one in entries if one["kind"] == "alerts_acknowledged" and "of sda_lost" in one["about"]]) >= 1


def test_viewer_sees_everything_and_may_change_nothing(browser: Browser, stack: RunningStack) -> None:
    id_ = refused(stack, "noisy-2")
    context = browser.new_context(
        base_url=f"{stack.http_url}/dashboard/", storage_state=session_of(browser, stack, "VIEWER")
    )
    page = context.new_page()
    page.goto("devices")
    expect(alert(page, id_)).to_be_visible()
    expect(page.get_by_role("button", name="Acknowledge")).to_have_count(0)
    answer = page.request.post(f"{stack.http_url}/api/v1/alerts/{id_}/acknowledge")
    assert answer.status == 403
    context.close()


def test_gateway_shows_its_state_and_figures(devices: Callable[..., Page], stack: RunningStack, demo: Building) -> None:
    gateway, other = demo.gateways[20], demo.gateways[21]
    health = {
        "ts": now_ms(),
        "version": "9.8.7",
        "queued": 41,
        "dropped": 5,
        "scan_restarts": 2,
        "clock_synchronised": 0,
    }
    publish(
        stack,
        (f"gateway/{gateway.id}/status", {"state": "online", "ts": now_ms(), "version": "9.8.7"}),
        (f"gateway/{gateway.id}/health", health),
        (f"gateway/{gateway.id}/readings", batch((demo.beacons[0].id, -60))),
        (f"gateway/{other.id}/status", {"state": "offline", "ts": now_ms(), "version": "9.8.7"}),
    )
    page = devices("gateways")
    expect(row(page, gateway.id)).to_contain_text("online", timeout=SOON_MS)
    for text in (demo.room_name(gateway.room), "9.8.7", "not set"):
        expect(row(page, gateway.id)).to_contain_text(text)
    for column, figure in {"queued": "41", "dropped": "5", "restarts": "2"}.items():
        expect(row(page, gateway.id).locator(f".{column}")).to_have_text(figure)
    expect(row(page, gateway.id).locator(".reading")).to_have_text(re.compile(r"^\d+ s ago$"))
    expect(row(page, gateway.id).locator(".rate")).to_have_text(re.compile(r"^\d+\.\d$"))
    expect(row(page, gateway.id).locator(".state")).to_have_text(re.compile(r"online\s*for \d+ "))
    expect(row(page, other.id)).to_contain_text("offline")
    page.get_by_role("searchbox").fill("9.8.7")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Queue").click()
    expect(page).to_have_url(re.compile("sort=-queued"))
    expect(page.locator("tbody tr").first).to_have_attribute("data-id", gateway.id)


def test_a_beacon_shows_its_last_reading_and_receiver(
    devices: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    beacon = demo.beacons[30]
    reading = {"beacon": beacon.id, "rssi": -63, "battery_mv": 2950}
    publish(stack, ("phone/hearer-1/readings", {"v": 1, "ts": now_ms(), "readings": [reading]}))
    page = devices("beacons", q=beacon.id)
    found = row(page, beacon.id)
    expect(found.locator(".receiver")).to_have_text("hearer-1", timeout=SOON_MS)
    for text in (demo.room_name(beacon.room), "-63 dBm", "2.95 V"):
        expect(found).to_contain_text(text)
    expect(found.locator(".heard")).to_have_text(re.compile(r"^\d+ s ago$"))


def test_learned_strengths_of_tags_and_receivers_are_shown(
    devices: Callable[..., Page], stack: RunningStack, demo: Building
) -> None:
    """A tag 20 dB too strong, received for 15 minutes by three gateways in one place, one of them 15 dB too weak.

    A strength takes 300 readings; of readings that come in one burst it samples 200 a second.
    """
    level = demo.gateways[0].level
    near, other, deaf = [one for one in demo.gateways if one.level == level][:3]
    person, tag = next((one["id"], one["tags"][0]) for one in reversed(demo.raw["staff"]) if one.get("tags"))
    begin = now_ms() - RECEIVED_S * 1000
    publish(
        stack,
        *(
            (f"gateway/{gateway.id}/readings", batch((tag, rssi), ts=begin + second * 1000))
            for second in range(RECEIVED_S)
            for gateway, rssi in ((near, -45), (other, -60), (deaf, -80))
        ),
    )
    page = devices("people", q=person)
    expect(row(page, person).locator(".carries")).to_contain_text(tag, timeout=SOON_MS)
    expect(row(page, person).locator(".strength")).to_have_text(re.compile(r"calibrated \(±\d+\)"), timeout=SOON_MS)
    page = devices("gateways", q=near.id)
    expect(row(page, near.id).locator(".bias")).to_have_text(re.compile("expected"), timeout=SOON_MS)


def test_an_unregistered_beacon_can_be_placed_or_assigned(devices: Callable[..., Page], stack: RunningStack) -> None:
    publish(stack, ("phone/finder-1/readings", batch((STRANGER, -55))))
    page = devices("strangers", q=STRANGER)
    expect(row(page, STRANGER)).to_contain_text("phone finder-1", timeout=SOON_MS)
    row(page, STRANGER).get_by_role("button", name=re.compile("Place on the plan")).click()
    expect(page.get_by_role("heading", name=f"Beacon {STRANGER}")).to_be_visible(timeout=SOON_MS)


def test_two_devices_with_one_account_are_shown_with_both_addresses(
    devices: Callable[..., Page], stack: RunningStack
) -> None:
    password = stack.command("account", "add", "gateway", "shown-twice").strip()
    with doubles(stack.authority, stack.ports.mqtts, "shown-twice", password):
        reported = alert(devices(), "account_shared:shown-twice")
        for address in ADDRESSES:
            expect(reported).to_contain_text(address)
        page = devices("accounts")
        for address in ADDRESSES:
            expect(row(page, "shown-twice")).to_contain_text(address, timeout=SOON_MS)
        expect(row(page, "shown-twice").locator(".shared")).to_have_text("used by two devices", timeout=SOON_MS)
        assert serious_faults(page) == []
    stack.command("account", "remove", "shown-twice")


def test_axe_finds_no_serious_fault(devices: Callable[..., Page], stack: RunningStack) -> None:
    id_ = refused(stack, "axe")
    publish(stack, ("gateway/gw-unlisted/readings", batch((STRANGER, -55))))
    for tab in ("alerts", "gateways", "beacons", "people", "accounts", "strangers"):
        page = devices(tab)
        shown = alert(page, id_) if tab == "alerts" else page.locator("tbody tr, p.wait").first
        expect(shown).to_be_visible(timeout=SOON_MS)
        assert serious_faults(page) == [], tab


def test_the_page_fits_a_phones_width(devices: Callable[..., Page], stack: RunningStack) -> None:
    publish(stack, ("gateway/gw-unlisted/readings", json.dumps(batch((STRANGER, -55)))))
    for tab in ("alerts", "gateways", "beacons", "people", "accounts", "strangers"):
        page = devices(tab)
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.querySelector('.sda').scrollWidth <= innerWidth"), tab


def test_alerts_for_a_gateway_down_and_a_low_battery(devices: Callable[..., Page], amiss: dict[str, str]) -> None:
    page = devices()
    for (id_, about), title in zip(amiss.items(), ("Gateway down", "Battery low"), strict=True):
        expect(alert(page, id_, within_s=AFTER_A_MINUTE_MS / 1000)).to_contain_text(about)
        expect(page.get_by_role("heading", name=re.compile(f"^{title}"))).not_to_have_count(0)
