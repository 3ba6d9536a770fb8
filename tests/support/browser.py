"""A real browser on the dashboard: logged in once, and axe-core to judge what it shows."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page, WebError, sync_playwright
from stack.layout import ROOT

from .running import RunningStack
from .stack_client import eventually

CHROMIUM = "/usr/bin/chromium-headless-shell"
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                  "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
AXE = ROOT / "flows" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
ALL_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
RULES_ABOUT_COLOUR = ("color-contrast", "link-in-text-block")
"""The others find in dark colours what they find in light ones."""
COLOURS_CHANGED = """() => Promise.all(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished.catch(() => {})))"""
"""Waits until nothing is between two colours any more."""
SAYS_WITHIN_MS = 5_000 + 2_000
"""Time until a page shows an outage: 5 s, and more on a machine that is busy with other tests."""


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def chromium_beside(browser: Browser, *flags: str) -> Iterator[Browser]:
    """A second Chromium with other flags."""
    other = browser.browser_type.launch(executable_path=CHROMIUM, args=[*CHROMIUM_FLAGS, *flags])
    try:
        yield other
    finally:
        other.close()


NETWORK_CHANGED = "ERR_NETWORK_CHANGED"
"""Chromium ends what it loads when the machine's network changes, as a container engine beside changes it."""


def open_page(page: Page, url: str) -> None:
    """Open a page; once more where the machine's network changed meanwhile."""
    try:
        page.goto(url)
    except Error as error:
        if NETWORK_CHANGED not in str(error):
            raise
        page.goto(url)


def watch_frames(page: Page) -> Callable[[], str]:
    """Call before a page is opened; the returned function waits for a WebSocket frame and returns the socket's URL."""
    addresses: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda _: addresses.append(socket.url)))

    def heard() -> list[str]:
        page.wait_for_timeout(100)  # events come while the page is waited for
        return addresses

    return lambda: eventually(heard, within_s=20, what="a frame by WebSocket")[0]


def log_in(page: Page, stack: RunningStack, role: str = "ADMIN") -> None:
    """Fill the login page that is shown."""
    page.get_by_label("Name").fill(stack.secrets[f"SDA_{role}_USER"])
    page.get_by_label("Password").fill(stack.secrets[f"SDA_{role}_PASSWORD"])
    page.get_by_role("button", name="Log in").click()


def session_of(browser: Browser, stack: RunningStack, role: str = "ADMIN") -> Any:
    """The cookies of a logged-in browser, for `new_context(storage_state=…)`."""
    context = browser.new_context()
    form: Any = {"user": stack.secrets[f"SDA_{role}_USER"], "password": stack.secrets[f"SDA_{role}_PASSWORD"]}
    answer = context.request.post(f"{stack.http_url}/login", form=form, max_redirects=0)
    assert answer.status == 303, answer.text()
    state = context.storage_state()
    context.close()
    return state


@contextmanager
def whole(context: BrowserContext) -> Iterator[BrowserContext]:
    """Closes the context afterwards; a script's error in one of its pages or beside it fails."""
    with faultless(context):
        try:
            yield context
        finally:
            context.close()


@contextmanager
def faultless(context: BrowserContext) -> Iterator[None]:
    """A script's error in one of the context's pages or beside it fails."""
    faults: list[str] = []

    def note(fault: WebError) -> None:
        faults.append(f"{fault.error}\n{fault.error.stack}")

    context.on("weberror", note)
    try:
        yield
    finally:
        context.remove_listener("weberror", note)
    assert not faults, "\n".join(faults)


def serious_faults(page: Page) -> list[str]:
    """axe-core's serious findings in the present page, in light and dark colours: rule and elements."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    faults = _faults(page, ALL_RULES)
    page.emulate_media(color_scheme="dark")
    page.evaluate(COLOURS_CHANGED)
    faults += [f"dark: {fault}" for fault in _faults(page, RULES_ABOUT_COLOUR)]
    page.emulate_media(color_scheme="light")
    return faults


def _faults(page: Page, rules: Sequence[str]) -> list[str]:
    found = page.evaluate("(rules) => axe.run(document, { resultTypes: ['violations'], runOnly: rules })", rules)
    return [
        f"{one['id']} ({one['impact']}): {json.dumps([node['target'] for node in one['nodes']][:5])}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]
