"""Fixtures of the system tests, the core's and those of extras; a failed test's report shows the services' logs."""

import signal
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

import pytest
from ingest.private_broker import PrivateBroker
from playwright.sync_api import Browser, Page, expect

from .api import Api
from .browser import chromium, session_of
from .building import Building
from .running import DEMO_BUILDING, RunningStack, running_stack
from .tabs import Tabs
from .walks import Walks, keep_present, walk

__all__ = [
    "admin_session",
    "api",
    "broker_kind",
    "browser",
    "demo",
    "no_recordings",
    "page",
    "pytest_runtest_makereport",
    "pytest_sessionstart",
    "session_stack",
    "stack",
    "tabs",
    "walked",
    "walks",
]

expect.set_options(timeout=60_000)  # a busy machine is slow; tests of timing set their own limit


@pytest.fixture(scope="session")
def broker_kind() -> type[PrivateBroker]:
    """The broker whose tests run; an extra with another one has a fixture of this name."""
    return PrivateBroker


@pytest.fixture(scope="session")
def session_stack() -> Iterator[RunningStack]:
    """Real Mosquitto, InfluxDB, Telegraf and Node-RED with the demo building, for the whole run."""
    with running_stack() as stack:
        yield stack


@pytest.fixture
def stack(session_stack: RunningStack) -> Iterator[RunningStack]:
    """The shared stack; services that a test stops are restarted before the next test."""
    yield session_stack
    session_stack.restore()


@pytest.fixture(scope="session")
def demo() -> Building:
    """The demo building of the shared stack."""
    return Building(DEMO_BUILDING)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def admin_session(browser: Browser, session_stack: RunningStack) -> Any:
    return session_of(browser, session_stack)


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Tabs:
    """The browser's tabs, for one test after the other."""
    return Tabs(browser)


@pytest.fixture
def page(tabs: Tabs, stack: RunningStack, admin_session: Any) -> Iterator[Page]:
    """An empty page, logged in as admin, with paths below the dashboard; any script error fails the test."""
    with tabs.lent(
        base_url=f"{stack.http_url}/dashboard/", storage_state=admin_session, viewport={"width": 1280, "height": 800}
    ) as page:
        yield page


@pytest.fixture(scope="session")
def walked(session_stack: RunningStack, demo: Building) -> Walks:
    return walk(session_stack, demo, "walk-ann", "walk-ben")


@pytest.fixture(scope="module")
def walks(session_stack: RunningStack, walked: Walks) -> Iterator[Walks]:
    """Two people with a known history on the shared stack; they stay present during the module's tests."""
    with keep_present(session_stack, walked):
        yield walked


@pytest.fixture(scope="session")
def api(session_stack: RunningStack) -> Iterator[Api]:
    """`/api/v1` of the shared stack; every response is checked against the description."""
    with closing(Api(session_stack)) as opened:
        yield opened


@pytest.fixture
def no_recordings(api: Api) -> Iterator[None]:
    """The shared stack has no recordings after the test."""
    yield
    for one in api.get("listRecordings")["recordings"]:
        api.ask("deleteRecording", recording=one["id"])


def pytest_sessionstart() -> None:
    """Who is terminated cleans up, like who is interrupted. A second signal does not interrupt that: `make` and its
    programs may all get the first one, and pass it on."""

    def interrupt(_number: int, _frame: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the services' logs to the report of a failed system test."""
    report = yield
    stack = getattr(item, "funcargs", {}).get("stack")
    if report.failed and isinstance(stack, RunningStack):
        report.sections += [(f"log of {name}", text) for name, text in stack.logs().items()]
    return report
