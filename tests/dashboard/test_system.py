"""The system page in a real browser: rates, lags, parts with memory, refused and lost messages by reason."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.browser import SAYS_WITHIN_MS, serious_faults, session_of
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, now_ms, publish

SOON_MS = 15_000
BACK_WITHIN_MS = 60_000
FLOWS_WITHIN_S = 60.0
"""Telegraf counts every ten seconds, and a rate needs two counts."""
PROGRAMS = ("broker", "ingest", "influxdb", "flows")


@pytest.fixture
def system(page: Page) -> Page:
    page.goto("system")
    expect(page.get_by_role("heading", name="System", level=1)).to_be_visible(timeout=SOON_MS)
    expect(part(page, "flows")).to_be_visible(timeout=SOON_MS)
    page.evaluate("window.neverReloaded = true")
    return page


def part(page: Page, id_: str) -> Locator:
    return page.get_by_role("region", name="Table of parts").locator(f'tr[data-id="{id_}"]')


def state(page: Page, id_: str) -> Locator:
    return part(page, id_).locator(".badge")


def figure(page: Page, card: str, line: str = "now") -> float:
    """The present value on a card, 0 if unknown."""
    text = page.get_by_role("region", name=card, exact=True).locator(f'[data-line^="{line}"] dd').inner_text()
    found = re.match(r"[\d,.]+", text)
    return float(found[0].replace(",", "")) if found else 0.0


def count(page: Page, title: str, id_: str, which: str = "total") -> int:
    cell = page.get_by_role("region", name=title, exact=True).locator(f'tr[data-id="{id_}"] .{which}')
    return int(cell.inner_text().replace(",", "")) if cell.count() else 0


def same_page(page: Page) -> None:
    assert page.evaluate("window.neverReloaded") is True


def test_metrics_change_with_messages(system: Page, stack: RunningStack, demo: Building) -> None:
    beacon = demo.beacons[0]

    def flowing() -> bool:
        publish(stack, *[("phone/flowing-1/readings", batch((beacon.id, -50), ts=now_ms() + n)) for n in range(10)])
        return all(
            figure(system, card, line) > 0
            for card, line in (
                ("Messages in", "now"),
                ("Batches stored", "now"),
                ("Live lag", "p50"),
                ("Live lag", "p99"),
                ("Store lag", "now"),
                ("Store lag", "p50"),
                ("Store lag", "p99"),
            )
        )

    eventually(flowing, FLOWS_WITHIN_S, "all figures move")
    for card in ("Messages in", "Batches stored", "Live lag", "Store lag"):
        picture = system.get_by_role("region", name=card, exact=True).get_by_role("img")
        expect(picture).to_have_attribute("aria-label", re.compile(rf"^{card} since \d\d:\d\d: .*from .* to "))
    line = system.get_by_role("region", name="Messages in", exact=True).locator("path.line")
    eventually(lambda: "L" in (line.get_attribute("d") or ""), FLOWS_WITHIN_S, "two points are joined")


def test_a_refused_message_is_counted_by_reason(system: Page, stack: RunningStack) -> None:
    before = count(system, "Refused", "refused_not_json")
    publish(stack, ("phone/noisy-9/readings", "this is no JSON"), ("phone/noisy-9/readings", "nor this"))
    eventually(lambda: count(system, "Refused", "refused_not_json") == before + 2, FLOWS_WITHIN_S, "both are counted")
    assert count(system, "Refused", "refused_not_json", "lately") >= 2
    row = system.locator('tr[data-id="refused_not_json"]')
    expect(row).to_contain_text("Readings refused")
    expect(row.locator(".why")).to_have_text("not JSON")
    publish(stack, ("phone/noisy-9/readings", {"ts": now_ms() + 3_600_000, "readings": []}))
    expect(system.locator('tr[data-id="refused_ts_ahead"]')).to_contain_text("ahead", timeout=BACK_WITHIN_MS)


def test_a_gateways_lost_readings_are_counted_by_reason(system: Page, stack: RunningStack, demo: Building) -> None:
    gateway = demo.gateways[30].id
    before = count(system, "Lost", "gateway_dropped_age")
    for lost in (5, 12):
        publish(stack, (f"gateway/{gateway}/health", {"ts": now_ms(), "dropped": lost, "dropped_age": lost}))
    eventually(lambda: count(system, "Lost", "gateway_dropped_age") >= before + 7, FLOWS_WITHIN_S, "the loss is shown")


def test_every_part_shows_its_memory(system: Page) -> None:
    for id_ in PROGRAMS:
        expect(state(system, id_)).to_have_text("up", timeout=SOON_MS)
        expect(part(system, id_).locator(".amount")).to_have_text(re.compile(r"^[\d.]+ MB$"), timeout=BACK_WITHIN_MS)


def test_influxdb_stopped(system: Page, stack: RunningStack) -> None:
    expect(state(system, "influxdb")).to_have_text("up", timeout=SOON_MS)
    stack.stop("influxd")
    expect(state(system, "influxdb")).to_have_text("degraded", timeout=SAYS_WITHIN_MS)
    expect(part(system, "influxdb")).to_contain_text("make status")
    expect(state(system, "ingest")).to_have_text("degraded")
    expect(part(system, "influxdb").locator(".amount")).to_have_text("not known", timeout=SOON_MS)
    expect(system.get_by_role("region", name="Lost", exact=True)).to_contain_text(
        re.compile(r"ingest lost is not known|Last"), timeout=SOON_MS
    )
    stack.start("influxd")
    for id_ in ("influxdb", "ingest"):
        expect(state(system, id_)).to_have_text("up", timeout=BACK_WITHIN_MS)
    expect(part(system, "influxdb").locator(".amount")).to_have_text(re.compile("MB$"), timeout=BACK_WITHIN_MS)
    same_page(system)


def test_broker_stopped(system: Page, stack: RunningStack) -> None:
    expect(state(system, "broker")).to_have_text("up", timeout=SOON_MS)
    stack.stop("mosquitto")
    expect(state(system, "broker")).to_have_text("degraded", timeout=SAYS_WITHIN_MS)
    expect(state(system, "flows")).to_have_text("up")
    stack.start("mosquitto")
    expect(state(system, "broker")).to_have_text("up", timeout=BACK_WITHIN_MS)
    same_page(system)


def test_node_red_stopped(system: Page, stack: RunningStack) -> None:
    """Parts behind Node-RED are shown as unknown."""
    stack.stop("node-red")
    expect(state(system, "flows")).to_have_text("does not answer", timeout=SAYS_WITHIN_MS)
    for id_ in ("broker", "influxdb"):
        expect(state(system, id_)).to_have_text("not known")
    stack.start("node-red")
    for id_ in PROGRAMS:
        expect(state(system, id_)).to_have_text("up", timeout=BACK_WITHIN_MS)
    same_page(system)


def test_gateways_are_counted_and_link_to_their_page(system: Page, stack: RunningStack, demo: Building) -> None:
    publish(stack, (f"gateway/{demo.gateways[31].id}/status", {"state": "online", "ts": now_ms()}))
    expect(part(system, "gateways")).to_contain_text(re.compile(r"\d+ online"), timeout=SOON_MS)
    part(system, "gateways").get_by_role("link", name="see each").click()
    expect(system).to_have_url(re.compile("devices.*tab=gateways"))


def test_viewer_sees_it(browser: Browser, stack: RunningStack) -> None:
    context = browser.new_context(
        base_url=f"{stack.http_url}/dashboard/", storage_state=session_of(browser, stack, "VIEWER")
    )
    page = context.new_page()
    page.goto("floor")
    expect(page.locator(".live p")).to_have_text(re.compile("^Live"), timeout=SOON_MS)
    expect(page.locator("svg .room").first).to_be_visible(timeout=SOON_MS)
    page.get_by_role("link", name="System").press("Enter")
    expect(state(page, "flows")).to_have_text("up", timeout=SOON_MS)
    context.close()


@pytest.fixture
def crowded(system: Page, stack: RunningStack, demo: Building) -> Page:
    """The page with rows in every table and a degraded part."""
    publish(stack, ("phone/noisy-9/readings", "this is no JSON"))
    for lost in (1, 2):
        publish(stack, (f"gateway/{demo.gateways[32].id}/health", {"ts": now_ms(), "dropped_size": lost}))
    for id_ in ("refused_not_json", "gateway_dropped_size"):
        expect(system.locator(f'tr[data-id="{id_}"]')).to_be_visible(timeout=BACK_WITHIN_MS)
    return system


def test_axe_finds_no_serious_fault(crowded: Page, stack: RunningStack) -> None:
    assert serious_faults(crowded) == []
    stack.stop("influxd")
    expect(state(crowded, "influxdb")).to_have_text("degraded", timeout=SAYS_WITHIN_MS)
    assert serious_faults(crowded) == []


def test_the_page_fits_a_phones_width(crowded: Page) -> None:
    crowded.set_viewport_size({"width": 390, "height": 844})
    assert crowded.evaluate("document.querySelector('.sda').scrollWidth <= innerWidth")


def test_keyboard_reaches_tables_and_links(crowded: Page) -> None:
    reached = set()
    for _ in range(30):
        crowded.keyboard.press("Tab")
        reached.add(crowded.evaluate("document.activeElement.ariaLabel || document.activeElement.innerText"))
    assert {"Table of parts", "see each", "Table: Lost", "Table: Refused"} <= reached
