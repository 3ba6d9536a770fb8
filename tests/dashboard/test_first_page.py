"""The dashboard's client reaches a browser compressed, and once; what a failing network keeps back is loaded again."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from support.browser import whole
from support.running import RunningStack

LINE_BITS_PER_S = 10_000_000
FIRST_PAGE_BYTES = 2_500_000
"""Two seconds on a line of 10 Mbit/s; uncompressed it is 5.6 MB."""
NEXT_PAGE_BYTES = 100_000


def test_the_client_is_compressed_and_kept(browser: Browser, stack: RunningStack, admin_session: Any) -> None:
    with whole(browser.new_context(storage_state=admin_session)) as context:
        page = context.new_page()
        first = _bytes_of_a_visit(page, stack)
        again = _bytes_of_a_visit(page, stack)
    assert first < FIRST_PAGE_BYTES
    assert again < NEXT_PAGE_BYTES


@pytest.mark.parametrize(
    "file", ["/assets/index-*.js", "/assets/vue-vendor-*.js", "/dashboard/_setup", "/page.js", "/parts/floor-*.js"]
)
def test_what_the_network_kept_back_is_loaded_again(
    browser: Browser, stack: RunningStack, admin_session: Any, file: str
) -> None:
    kept_back: list[str] = []

    def first_fails(route: Route) -> None:
        if kept_back:
            route.continue_()
        else:
            kept_back.append(route.request.url)
            route.abort("internetdisconnected")

    with whole(browser.new_context(storage_state=admin_session)) as context:
        page = context.new_page()
        page.route(f"**{file}", first_fails)
        page.goto(f"{stack.http_url}/dashboard/floor?level=L2")
        expect(page.locator(".live p")).to_contain_text("Live")
        expect(page.get_by_role("heading", name="Level 2")).to_be_visible()
    assert kept_back


def _bytes_of_a_visit(page: Page, stack: RunningStack) -> float:
    """What opening the floor page takes from the network, headers included, on a line of `LINE_BITS_PER_S`."""
    received: list[float] = []
    devtools = page.context.new_cdp_session(page)
    devtools.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    devtools.send("Network.enable")
    per_s = LINE_BITS_PER_S / 8
    line = {"offline": False, "latency": 20, "downloadThroughput": per_s, "uploadThroughput": per_s}
    devtools.send("Network.emulateNetworkConditions", line)
    page.goto(f"{stack.http_url}/dashboard/floor?level=L2")
    expect(page.locator(".live p")).to_contain_text("Live")
    page.wait_for_load_state("networkidle")  # the icons' font may come after the words; cut off, it is not kept
    devtools.detach()
    return sum(received)
