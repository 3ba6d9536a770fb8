"""The stack that the system tests share, and its logs wherever one of them fails."""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from support.api import Api
from support.browser import chromium, session_of, whole
from support.building import Building
from support.running import DEMO_BUILDING, RunningStack, running_stack
from support.walks import Walks, still_there, walk

expect.set_options(timeout=60_000)  # a busy machine is slow; a test that holds a page to a time says so


@pytest.fixture(scope="session")
def whole_stack() -> Iterator[RunningStack]:
    """Real Mosquitto, InfluxDB, Telegraf and Node-RED with the demo building, once for the whole run."""
    with running_stack() as stack:
        yield stack


@pytest.fixture
def stack(whole_stack: RunningStack) -> Iterator[RunningStack]:
    """The shared stack; what a test stops or kills runs again before the next one begins."""
    yield whole_stack
    whole_stack.mend()


@pytest.fixture(scope="session")
def demo() -> Building:
    """The demo building, which the shared stack runs."""
    return Building(DEMO_BUILDING)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def admin_session(browser: Browser, whole_stack: RunningStack) -> Any:
    return session_of(browser, whole_stack)


@pytest.fixture
def page(browser: Browser, stack: RunningStack, admin_session: Any) -> Iterator[Page]:
    """A page of its own, logged in as admin, paths below the dashboard; a script's error in it or beside it fails."""
    with whole(
        browser.new_context(
            base_url=f"{stack.http_url}/dashboard/",
            storage_state=admin_session,
            viewport={"width": 1280, "height": 800},
        )
    ) as context:
        yield context.new_page()


@pytest.fixture(scope="session")
def walked(whole_stack: RunningStack, demo: Building) -> Walks:
    return walk(whole_stack, demo, "walk-ann", "walk-ben")


@pytest.fixture(scope="module")
def walks(whole_stack: RunningStack, walked: Walks) -> Iterator[Walks]:
    """Two people whose history is known, on the shared stack; they are there as long as the module's tests run."""
    with still_there(whole_stack, walked):
        yield walked


@pytest.fixture(scope="session")
def api(whole_stack: RunningStack) -> Iterator[Api]:
    """`/api/v1` of the shared stack; every answer is held to its description."""
    with closing(Api(whole_stack)) as opened:
        yield opened


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the services' last words under the report of a failed system test."""
    report = yield
    stack = getattr(item, "funcargs", {}).get("stack")
    if report.failed and isinstance(stack, RunningStack):
        report.sections += [(f"log of {name}", text) for name, text in stack.logs().items()]
    return report
