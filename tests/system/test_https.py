"""HTTPS of the platform itself: all routes of HTTP, with the installation's authority."""

import re
import ssl

import httpx
import pytest
from playwright.sync_api import Browser, expect
from support import web
from support.browser import log_in, open_page, watch_frames, whole
from support.running import RunningStack


@pytest.fixture
def url(stack: RunningStack) -> str:
    return f"https://localhost:{stack.ports.https}"


@pytest.fixture
def way(stack: RunningStack) -> httpx.HTTPTransport:
    """A transport that trusts only the installation's authority."""
    return httpx.HTTPTransport(verify=ssl.create_default_context(cafile=str(stack.authority)))


def test_api_and_health_work_with_the_installations_authority(url: str, way: httpx.HTTPTransport) -> None:
    with web.Client(transport=way, base_url=url) as caller:
        assert caller.get("/health").json()["parts"]["https"] == {"status": "up"}
        assert caller.get("/api/v1/me").json()["kind"] == "trusted"  # loopback is trusted over TLS too
        assert caller.get("/api/v1/me", headers={"X-API-Key": "wrong"}).status_code == 401
        assert caller.get("/health", headers={"Host": "evil.example"}).status_code == 421


def test_clients_without_the_authority_refuse_the_connection(url: str) -> None:
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{url}/health")


def test_plain_http_is_not_answered_on_its_port_nor_https_on_the_plain_one(stack: RunningStack) -> None:
    with pytest.raises(httpx.HTTPError):
        web.get(f"http://localhost:{stack.ports.https}/health")
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"https://localhost:{stack.ports.http}/health")
    assert web.get(f"{stack.http_url}/health").status_code == 200


def test_the_cookie_is_secure_over_https_and_not_without(
    stack: RunningStack, url: str, way: httpx.HTTPTransport
) -> None:
    login = {"user": stack.secrets["SDA_ADMIN_USER"], "password": stack.secrets["SDA_ADMIN_PASSWORD"]}
    with web.Client(transport=way, base_url=url) as caller:
        cookies = caller.post("/login", data=login).headers.get_list("set-cookie")
    assert cookies
    assert all("; secure" in cookie.lower() for cookie in cookies)
    plain = web.post(f"{stack.http_url}/login", data=login).headers.get_list("set-cookie")
    assert "secure" not in "".join(plain).lower()


def test_the_dashboard_is_live_by_websocket(browser: Browser, stack: RunningStack, url: str) -> None:
    with whole(browser.new_context(ignore_https_errors=True)) as context:
        page = context.new_page()
        frame_from = watch_frames(page)
        open_page(page, f"{url}/dashboard/floor?level=L1")
        log_in(page, stack)
        expect(page.locator(".live p")).to_have_text(re.compile("^Live"))

        assert frame_from().startswith(f"wss://localhost:{stack.ports.https}/dashboard/socket.io/")
