"""Behind a real reverse proxy from docs/network.md: addresses and sockets pass, trust does not."""

import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect
from support import proxies, web
from support.browser import chromium_beside, log_in, open_page, watch_frames
from support.keys import admin, named_key
from support.proxies import NAME, Proxy
from support.running import RunningStack, running_stack

CALLER = "127.0.0.5"


@pytest.fixture(scope="module")
def behind() -> Iterator[RunningStack]:
    """A stack with a configured proxy on this machine."""
    with running_stack(environment={"SDA_TRUSTED_PROXIES": "127.0.0.1", "HTTP_NAMES": NAME}) as stack:
        yield stack


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(
    request: pytest.FixtureRequest, behind: RunningStack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    with getattr(proxies, request.param)(behind, tmp_path_factory.mktemp(request.param)) as running:
        yield running


def ask(proxy: Proxy, path: str, method: str = "GET", *, name: str = NAME, **options: Any) -> httpx.Response:
    """One request through the proxy, from an address of loopback that is not the proxy's."""
    headers = {"Host": f"{name}:{proxy.port}", **options.pop("headers", {})}
    way = httpx.HTTPTransport(verify=False, local_address=CALLER)
    with web.Client(transport=way, base_url=f"https://127.0.0.1:{proxy.port}") as caller:
        return caller.request(method, path, headers=headers, extensions={"sni_hostname": NAME}, **options)


def test_loopback_is_not_trusted_through_a_proxy(behind: RunningStack, proxy: Proxy) -> None:
    assert web.get(f"{behind.http_url}/api/v1/me").json()["kind"] == "trusted"
    for headers in ({}, {"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}):
        assert ask(proxy, "/retrieveformonitoring", headers=headers).status_code == 401
    key = named_key(behind, "proxied", "history")
    assert ask(proxy, "/api/v1/me", headers={"X-API-Key": key}).json()["name"] == "proxied"


@pytest.mark.parametrize(
    "claimed", [{}, {"X-Forwarded-For": "198.51.100.7"}, {"X-Forwarded-For": "198.51.100.7, 127.0.0.1"}]
)
def test_the_audit_log_has_the_callers_own_address(behind: RunningStack, proxy: Proxy, claimed: dict[str, str]) -> None:
    key = named_key(behind, "proxied", "history")
    end, who = int(time.time()) - 3600, f"subject-{time.time_ns()}"
    window = {"staff_id": who, "start_time": str(end - 60), "end_time": str(end)}
    answer = ask(proxy, "/extractbeacon", params=window, headers={"X-API-Key": key, **claimed})
    assert answer.status_code == 200, answer.text
    with admin(behind) as caller:
        entries = caller.get("/api/v1/audit", params={"subject": who, "who": "proxied"}).json()["entries"]
    assert [entry["address"] for entry in entries] == [CALLER]


def test_the_cookie_of_a_login_is_secure(behind: RunningStack, proxy: Proxy) -> None:
    login = {"user": behind.secrets["SDA_ADMIN_USER"], "password": behind.secrets["SDA_ADMIN_PASSWORD"]}
    answer = ask(proxy, "/login", "POST", data=login)
    assert answer.status_code == 303
    cookies = answer.headers.get_list("set-cookie")
    assert cookies
    assert all("; secure" in cookie.lower() for cookie in cookies)


def test_another_host_name_is_refused(behind: RunningStack, proxy: Proxy) -> None:
    answer = ask(proxy, "/health", name="evil.example")
    assert answer.status_code == 421 or answer.content == b""  # Caddy has no site for that name
    assert ask(proxy, "/health").json()["version"] == web.get(f"{behind.http_url}/health").json()["version"]


def test_the_dashboard_is_live_by_websocket_after_a_login(browser: Browser, behind: RunningStack, proxy: Proxy) -> None:
    with chromium_beside(browser, f"--host-resolver-rules=MAP {NAME} 127.0.0.1") as resolving:
        page = resolving.new_context(ignore_https_errors=True).new_page()
        frame_from = watch_frames(page)
        open_page(page, f"{proxy.url}/dashboard/floor?level=L1")
        log_in(page, behind)
        expect(page).to_have_url(re.compile("/dashboard/floor.*level=L1"))
        expect(page.locator(".live p")).to_have_text(re.compile("^Live"))

        assert frame_from().startswith(f"wss://{NAME}:{proxy.port}/dashboard/socket.io/")
        assert page.evaluate("fetch('/api/v1/me').then((answer) => answer.json())")["kind"] == "login"
