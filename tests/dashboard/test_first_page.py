"""The dashboard's client reaches a browser compressed, and once."""

from typing import Any

from playwright.sync_api import Browser, Page, expect
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
