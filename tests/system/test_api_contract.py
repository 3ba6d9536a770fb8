"""All of `/api/v1`: its description, the documentation page, caching, and a test for every route."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect
from support import web
from support.api import Api
from support.browser import open_page
from support.running import RunningStack
from support.stack_client import eventually, get
from support.walks import Walks

HERE = Path(__file__).parent


def test_description_and_page_need_no_key(stack: RunningStack) -> None:
    headers = {"Origin": "https://elsewhere.example"}  # which is not trusted
    for path in ("/api/v1/openapi.json", "/api/docs"):
        assert web.get(f"{stack.http_url}{path}", headers=headers).status_code == 200
    assert web.get(f"{stack.http_url}/api/v1/staff", headers=headers).status_code == 401


def test_the_page_shows_every_operation_without_external_requests(
    browser: Browser, stack: RunningStack, api: Api
) -> None:
    page = browser.new_page()
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    open_page(page, f"{stack.http_url}/api/docs")
    expect(page.locator(".opblock")).to_have_count(len(api.operations), timeout=20_000)
    expect(page.get_by_role("heading", name="SDA Locator")).to_be_visible()
    page.get_by_role("button", name="GET /api/v1/staff", exact=False).first.click()
    page.get_by_role("button", name="Try it out").first.click()
    page.get_by_role("button", name="Execute").first.click()
    expect(page.locator(".live-responses-table tbody .response-col_status")).to_contain_text("200", timeout=10_000)
    page.close()
    hosts = {urlsplit(url).netloc for url in asked if not url.startswith("data:")}
    assert hosts == {urlsplit(stack.http_url).netloc}
    assert not faults


def test_the_page_cannot_be_framed_or_load_external_resources(stack: RunningStack) -> None:
    policy = get(stack, "/api/docs").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_an_unchanged_response_is_not_sent_again(api: Api, stack: RunningStack) -> None:
    first = api.ask("listBeacons", limit=3)
    again = api.http.get(first.url, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = api.http.get(f"{stack.http_url}/api/v1/beacons?limit=4", headers={"If-None-Match": first.headers["etag"]})
    assert other.status_code == 200


@pytest.mark.parametrize("operation", ["getMe", "listAlerts", "listBuildingVersions", "getBuilding", "listLevels"])
def test_a_matching_etag_gets_304(api: Api, operation: str) -> None:
    def still_holds() -> bool:
        etag = api.ask(operation).headers["etag"]
        again = api.http.get(api.operations[operation][1], headers={"If-None-Match": etag})
        return (again.status_code, again.content) == (304, b"")

    eventually(still_holds, what="it does not change in between")


@pytest.mark.parametrize("path", ["/api/v1/beacons", "/api/v1/building", "/api/v1/openapi.json"])
def test_large_responses_are_gzipped_if_accepted(api: Api, path: str) -> None:
    answer = api.http.get(path, headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    plain = api.http.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == answer.json()


def test_unknown_parameters_are_ignored_and_too_large_windows_refused(api: Api) -> None:
    assert api.http.get("/api/v1/levels?no_such=1&no_such=2").json() == api.get("listLevels")
    refused = api.http.post("/api/v1/keys", json={"name": "x" * 100_000, "rights": ["history"]})
    assert refused.status_code == 413
    api.check("createKey", refused)


def test_responses_about_people_are_not_cached(api: Api, walks: Walks) -> None:
    for operation in ("listStaff", "listRooms"):
        assert api.ask(operation).headers["cache-control"] == "no-store"
    assert api.ask("listStays", staff_id=walks.ann).headers["cache-control"] == "no-store"


def test_a_head_is_a_get_without_its_body(api: Api) -> None:
    plain = {"Accept-Encoding": "identity"}
    reported, asked = (api.http.request(method, "/api/v1/levels", headers=plain) for method in ("GET", "HEAD"))
    assert asked.status_code == 200
    assert asked.content == b""
    assert asked.headers["content-length"] == reported.headers["content-length"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_405_with_allow(api: Api, method: str) -> None:
    for path in ("/api/v1/levels", "/api/docs"):
        refused = api.http.request(method, path)
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
        assert "not possible" in refused.json()["error"]


def test_each_route_has_the_described_methods(api: Api) -> None:
    for path, item in api.description["paths"].items():
        refused = api.http.patch(re.sub(r"\{\w+\}", "x", path))
        assert refused.status_code == 405, path
        head = {"HEAD"} if "get" in item and path != "/newbeacondetect" else set()
        assert set(refused.headers["allow"].split(", ")) == {method.upper() for method in item} | head, path


def test_every_route_of_the_description_has_a_system_test(api: Api) -> None:
    """By operationId, or by its path in a request."""
    tests = "\n".join(_with_constants(path.read_text()) for path in sorted(HERE.glob("test_*.py")))

    def is_tested(operation: str, path: str) -> bool:
        written = r"(\{[^}]*\}|[\w.:-]+)".join(re.escape(part) for part in re.split(r"\{\w+\}", path))
        return f'"{operation}"' in tests or re.search(written + r"""["'?{]""", tests) is not None

    untested = [name for name, (_, path, _) in api.operations.items() if not is_tested(name, path)]
    assert not untested, untested


def _with_constants(text: str) -> str:
    """A test file with the values of its path constants inserted."""
    for name, path in re.findall(r'^([A-Z]+) = "(/[^"]*)"', text, re.MULTILINE):
        text = text.replace(f"{{{name}}}", path)
    return text
