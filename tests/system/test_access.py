"""Access: keys and trusted networks on the API, the login on all pages that show people."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from support import web
from support.metrics import figures
from support.running import RunningStack, running_stack
from support.stack_client import get

PROTECTED = ["/extractbeacon?staff_id=0&start_time=1&end_time=2", "/retrieveformonitoring",
             "/newbeacondetect?staff_id=0&beacon_address=C2A628384B08&rssi=-20"]  # fmt: skip
BEHIND_LOGIN = ["/dashboard", "/dashboard/", "/dashboard/floor", "/dashboard/staff", "/dashboard/history",
                "/dashboard/devices", "/dashboard/setup", "/dashboard/system", "/dashboard/_setup",
                "/pages/resources/sda-dashboard/page.js", "/pages/plans/L1",
                "/monitoring"]  # fmt: skip
EVERYTHING = [*PROTECTED, *BEHIND_LOGIN, "/extractbeacon?staff_id=*&start_time=1&end_time=2", "/", "/health", "/login",
              "/metrics", "/api/docs", "/api/v1/building", "/dashboard/manifest.webmanifest", "/nothing"]  # fmt: skip
ORIGINS = ("https://hacs.example.org", "https://two.example")
PROXY = "127.0.0.2"
SOCKET = "/dashboard/socket.io/?EIO=4&transport=polling"


def test_loopback_needs_no_key(stack: RunningStack) -> None:
    assert get(stack, "/retrieveformonitoring").status_code == 200


@pytest.fixture(scope="module")
def distrusting() -> Iterator[RunningStack]:
    """A stack that trusts no network, and pages of two other origins."""
    with running_stack(
        environment={
            "SDA_TRUSTED_NETS": "192.0.2.0/24",
            "SDA_CORS_ORIGINS": ", ".join(ORIGINS),
            "HTTP_NAMES": "sda.example.org",
            "SDA_TRUSTED_PROXIES": PROXY,
        }
    ) as stack:
        yield stack


@pytest.mark.parametrize("path", PROTECTED)
def test_caller_outside_the_trusted_nets_needs_the_key(distrusting: RunningStack, path: str) -> None:
    url, key = distrusting.http_url + path, distrusting.secrets["SDA_API_KEY"]
    refused = web.get(url)
    assert refused.status_code == 401
    assert "key" in refused.json()["error"]
    for headers in ({"Authorization": f"Bearer {key}"}, {"X-API-Key": key}):
        assert web.get(url, headers=headers).status_code in {200, 404}  # 404: that beacon is not in the demo
    for wrong in ({"Authorization": "Bearer wrong"}, {"X-API-Key": key[:-1]}, {"Authorization": key}):
        assert web.get(url, headers=wrong).status_code == 401


@pytest.mark.parametrize("path", EVERYTHING)
def test_dns_rebinding_is_refused(stack: RunningStack, path: str) -> None:
    """With DNS rebinding the browser takes the page for our own origin."""
    port = stack.ports.http
    for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example"):
        answer = web.get(stack.http_url + path, headers={"Host": host, "Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 421, host
        assert host in answer.json()["error"]
        assert "HTTP_NAMES" in answer.json()["error"]


def test_requests_under_a_foreign_name_are_counted(stack: RunningStack) -> None:
    before = figures(stack)["sda_http_misdirected_total"]
    web.get(stack.http_url, headers={"Host": "evil.example"})
    assert figures(stack)["sda_http_misdirected_total"] == before + 1


def test_a_socket_under_a_foreign_name_is_refused(stack: RunningStack) -> None:
    with web.Client(base_url=stack.http_url, headers={"Host": "evil.example"}) as caller:
        opened = caller.get(SOCKET)  # opens a transport, which discloses nothing yet
        session = f"{SOCKET}&sid={json.loads(opened.text[1:])['sid']}"
        caller.post(session, content="40")
        assert "HTTP_NAMES" in caller.get(session).text


@pytest.mark.parametrize("host", ["sda.example.org", "SDA.example.org:443", "localhost", "[::1]:1880", "192.0.2.7"])
def test_configured_names_addresses_and_localhost_are_answered(distrusting: RunningStack, host: str) -> None:
    assert web.get(f"{distrusting.http_url}/health", headers={"Host": host}).status_code == 200


def test_forwarded_header_earns_no_trust(distrusting: RunningStack) -> None:
    headers = {"X-Forwarded-For": "192.0.2.1", "X-Real-IP": "192.0.2.1", "Forwarded": "for=192.0.2.1"}
    assert web.get(f"{distrusting.http_url}{PROTECTED[0]}", headers=headers).status_code == 401


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"])
def test_requests_through_a_proxy_on_this_machine_are_not_trusted_as_loopback(stack: RunningStack, header: str) -> None:
    for value in ("198.51.100.7", "127.0.0.1"):
        assert web.get(f"{stack.http_url}/retrieveformonitoring", headers={header: value}).status_code == 401


def test_a_configured_proxy_provides_the_callers_address(distrusting: RunningStack) -> None:
    with _through_proxy(distrusting) as proxy:

        def status(forwarded: str, **headers: str) -> int:
            return proxy.get("/api/v1/me", headers={"X-Forwarded-For": forwarded} | headers).status_code

        trusted = proxy.get("/api/v1/me", headers={"X-Forwarded-For": "192.0.2.1"}).json()
        assert (trusted["name"], trusted["kind"]) == ("192.0.2.1", "trusted")
        for forwarded in ("198.51.100.7", "127.0.0.1", "192.0.2.1, 198.51.100.7"):
            assert status(forwarded) == 401
        assert [status("198.51.100.7", Authorization="Bearer x") for _ in range(11)] == [401] * 10 + [429]
        assert status("198.51.100.8", Authorization="Bearer x") == 401, "who has guessed nothing"


def test_the_cookie_is_secure_only_behind_a_configured_tls_proxy(distrusting: RunningStack) -> None:
    login = {"user": distrusting.secrets["SDA_ADMIN_USER"], "password": distrusting.secrets["SDA_ADMIN_PASSWORD"]}
    https = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"}
    with _through_proxy(distrusting) as proxy:
        cookies = proxy.post("/login", data=login, headers=https).headers.get_list("set-cookie")
        assert len(cookies) == 2
        assert all("; secure" in cookie.lower() for cookie in cookies)
        plain = proxy.post("/login", data=login, headers=https | {"X-Forwarded-Proto": "http"})
    direct = web.post(f"{distrusting.http_url}/login", data=login, headers=https)  # a caller that claims to be a proxy
    for answer in (plain, direct):
        assert answer.status_code == 303
        assert "secure" not in "".join(answer.headers.get_list("set-cookie")).lower()


def test_logins_and_logouts_survive_a_restart(distrusting: RunningStack) -> None:
    login = {"user": distrusting.secrets["SDA_VIEWER_USER"], "password": distrusting.secrets["SDA_VIEWER_PASSWORD"]}
    cookies = [dict(web.post(f"{distrusting.http_url}/login", data=login).cookies) for _ in range(2)]
    assert web.post(f"{distrusting.http_url}/logout", cookies=cookies[1]).status_code == 303
    distrusting.kill("node-red")
    distrusting.start("node-red")
    url = f"{distrusting.http_url}/dashboard/_setup"
    assert [web.get(url, cookies=cookie).status_code for cookie in cookies] == [200, 401]


def _through_proxy(stack: RunningStack) -> web.Client:
    """A client with the configured proxy's address: loopback, but not that of the other tests."""
    return web.Client(base_url=stack.http_url, transport=httpx.HTTPTransport(local_address=PROXY))


def test_refused_extractbeacon_still_carries_a_list(distrusting: RunningStack) -> None:
    assert web.get(f"{distrusting.http_url}{PROTECTED[0]}").json()["location"] == []


def test_health_answers_without_a_key(distrusting: RunningStack) -> None:
    assert get(distrusting, "/health").status_code == 200


def test_a_trusted_caller_sees_its_identity_and_others_see_nothing(stack: RunningStack) -> None:
    me = get(stack, "/api/v1/me").json()
    assert (me["name"], me["kind"], set(me["rights"])) == ("127.0.0.1", "trusted", {"history", "presence"})
    assert get(stack, "/api/v1/nothing").status_code == 404
    for headers in ({"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
        for path in ("/api/v1/me", "/api/v1/nothing", "/retrieveformonitoring"):
            assert web.get(stack.http_url + path, headers=headers).status_code == 401


def test_other_origins_are_refused_unless_configured(stack: RunningStack) -> None:
    answer = web.options(f"{stack.http_url}/api/v1/staff", headers=_preflight(ORIGINS[0]))
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("path", ["staff", "building"])
@pytest.mark.parametrize(("origin", "allowed"), [*((origin, True) for origin in ORIGINS), ("https://x.example", False)])
def test_configured_origins_are_accepted_with_a_key(
    distrusting: RunningStack, origin: str, allowed: bool, path: str
) -> None:
    url, key = f"{distrusting.http_url}/api/v1/{path}", distrusting.secrets["SDA_API_KEY"]
    asked = web.options(url, headers=_preflight(origin))
    answer = web.get(url, headers={"Origin": origin, "X-API-Key": key})
    refused = web.get(url, headers={"Origin": origin})
    assert (answer.status_code, refused.status_code) == (200, 401)
    for one in (asked, answer, refused):
        assert (one.headers.get("access-control-allow-origin") == origin) == allowed
    if allowed:
        assert {"PUT", "DELETE"} <= set(asked.headers["access-control-allow-methods"].split(","))
        assert "If-Match" in asked.headers["access-control-allow-headers"].split(",")


def _preflight(origin: str) -> dict[str, str]:
    wanted = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key"}
    return {"Origin": origin} | wanted


def test_after_ten_wrong_keys_only_right_keys_are_accepted(distrusting: RunningStack) -> None:
    """The last test with wrong keys on this stack: they are limited for five minutes."""
    url, right = distrusting.http_url + PROTECTED[1], {"X-API-Key": distrusting.secrets["SDA_API_KEY"]}
    statuses = [web.get(url, headers={"X-API-Key": f"guess-{n}"}).status_code for n in range(20)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert web.get(url, headers=right).status_code == 200
    refused = web.get(url, headers={"X-API-Key": "guess"})
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 300
    assert web.get(url).status_code == 401, "who sends none is not made to wait"


def test_a_right_password_works_while_others_guess_from_the_same_address(distrusting: RunningStack) -> None:
    """The last test with passwords on this stack: they are checked one per second for five minutes."""
    user, password = distrusting.secrets["SDA_ADMIN_USER"], distrusting.secrets["SDA_ADMIN_PASSWORD"]

    def attempt(word: str) -> int:
        return web.post(f"{distrusting.http_url}/login", data={"user": user, "password": word}, timeout=30).status_code

    assert [attempt(f"guess-{n}") for n in range(10)] == [401] * 10
    began = time.monotonic()
    with ThreadPoolExecutor() as others:
        guesses = [others.submit(attempt, f"another-{n}") for n in range(3)]
        assert attempt(password) == 303
        assert {guess.result() for guess in guesses} == {429}
    assert time.monotonic() - began > 3, "guesses are bounded"


@pytest.mark.parametrize("path", BEHIND_LOGIN)
def test_dashboard_gives_nothing_without_login(stack: RunningStack, path: str) -> None:
    answer = web.get(stack.http_url + path)
    assert answer.status_code in {302, 401, 403}
    assert "socketio" not in answer.text


def test_only_a_right_password_opens_the_dashboard(stack: RunningStack) -> None:
    user, password = stack.secrets["SDA_ADMIN_USER"], stack.secrets["SDA_ADMIN_PASSWORD"]
    with web.Client(base_url=stack.http_url, follow_redirects=True) as browser:
        refused = browser.post("/login", data={"user": user, "password": "wrong"})
        assert refused.status_code == 401
        assert browser.get("/dashboard/_setup").status_code != 200 or "login" in str(
            browser.get("/dashboard/_setup").url
        )
        assert browser.post("/login", data={"user": user, "password": password}).status_code == 200
        assert "socketio" in browser.get("/dashboard/_setup").text


def test_a_socket_without_login_is_refused_before_any_data(stack: RunningStack) -> None:
    """Socket.IO opens a transport first; joining, which would send the state, is refused (packet 44)."""
    with web.Client(base_url=stack.http_url) as caller:
        opened = caller.get(SOCKET)
        if opened.status_code in {401, 403}:
            return
        session = f"{SOCKET}&sid={json.loads(opened.text[1:])['sid']}"
        caller.post(session, content="40")
        said = caller.get(session).text
    assert said.startswith("44")
    assert "building" not in said


@pytest.mark.parametrize("path", ["/editor/", "/editor/flows", "/flows", "/settings", "/nodes", "/auth/login"])
def test_editor_and_admin_api_are_off(stack: RunningStack, path: str) -> None:
    assert web.get(stack.http_url + path).status_code == 404


def test_old_addresses_redirect_to_the_dashboard_and_the_login(stack: RunningStack) -> None:
    assert get(stack, "/").headers["location"].startswith("/dashboard")
    asked = web.get(f"{stack.http_url}/monitoring", headers={"Accept": "text/html"})
    assert asked.status_code == 302
    assert asked.headers["location"] == "/login?next=%2Fmonitoring"
