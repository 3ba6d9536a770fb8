"""A page that a user adds in the editor, with the dashboard's own widgets, is in the menu and leads back to ours."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from support import web
from support.browser import session_of, whole
from support.running import RunningStack, running_stack
from support.stack_client import eventually

OWN: list[dict[str, Any]] = [
    {"id": "own-tab", "type": "tab", "label": "My own", "disabled": False, "info": ""},
    {"id": "own-page", "type": "ui-page", "name": "Cleaning", "ui": "base", "path": "/cleaning", "icon": "broom",
     "layout": "grid", "theme": "look", "order": 20, "className": "", "visible": True, "disabled": False,
     "breakpoints": [{"name": "Default", "px": "0", "cols": "3"}]},
    {"id": "own-group", "type": "ui-group", "name": "Rooms", "page": "own-page", "width": "6", "height": "1",
     "order": 1, "showTitle": True, "className": "", "visible": "true", "disabled": "false", "groupType": "default"},
    {"id": "own-inject", "type": "inject", "z": "own-tab", "name": "", "props": [{"p": "payload"}], "repeat": "1",
     "crontab": "", "once": True, "onceDelay": 0.1, "topic": "", "payload": "Lobby is clean", "payloadType": "str",
     "x": 120, "y": 80, "wires": [["own-text"]]},
    {"id": "own-text", "type": "ui-text", "z": "own-tab", "group": "own-group", "order": 1, "width": 0, "height": 0,
     "name": "", "label": "Now", "format": "{{msg.payload}}", "layout": "row-left", "style": False, "font": "",
     "fontSize": 16, "color": "#717171", "wrapText": False, "className": "", "x": 300, "y": 80, "wires": []},
]  # fmt: skip


@pytest.fixture(scope="module")
def editable() -> Iterator[RunningStack]:
    """A stack of its own, with the editor switched on."""
    with running_stack(environment={"SDA_EDITOR": "1"}) as stack:
        yield stack


@pytest.fixture
def page(browser: Browser, editable: RunningStack) -> Iterator[Page]:
    deploy(editable)
    with whole(browser.new_context(storage_state=session_of(browser, editable))) as context:
        yield context.new_page()


def deploy(stack: RunningStack) -> None:
    """Add the page as the editor does: only what was changed starts anew."""
    form = {"client_id": "node-red-admin", "grant_type": "password", "scope": "*",
            "username": stack.secrets["SDA_ADMIN_USER"], "password": stack.secrets["SDA_ADMIN_PASSWORD"]}  # fmt: skip
    editor = f"{stack.http_url}/editor"
    token = web.post(f"{editor}/auth/token", data=form).json()["access_token"]
    headers = {"authorization": f"Bearer {token}", "node-red-api-version": "v2"}
    now = web.get(f"{editor}/flows", headers=headers).json()
    flows = [node for node in now["flows"] if not node["id"].startswith("own-")] + OWN
    answer = web.post(f"{editor}/flows", json={"flows": flows, "rev": now["rev"]},
                      headers=headers | {"node-red-deployment-type": "nodes"})  # fmt: skip
    assert answer.status_code == 200, answer.text
    eventually(lambda: web.get(f"{stack.http_url}/health").status_code == 200, what="the flows to go on")


def test_a_page_of_a_user_is_in_the_menu_and_leads_back(page: Page, editable: RunningStack) -> None:
    page.goto(f"{editable.http_url}/dashboard/floor")
    menu = page.get_by_role("navigation", name="Pages")
    expect(page.get_by_role("heading", name=re.compile("Level"), level=1).first).to_be_visible()
    covered = "document.elementFromPoint(innerWidth / 2, 20).closest('.sda') === null"
    assert not page.evaluate(covered), "the dashboard's own bar covers our menu"
    menu.get_by_role("link", name="Cleaning").click()
    expect(page).to_have_url(f"{editable.http_url}/dashboard/cleaning")
    expect(page.get_by_text("Lobby is clean")).to_be_visible()

    page.locator(".v-app-bar-nav-icon, .v-toolbar .mdi-menu").first.click()
    page.locator(".v-navigation-drawer").get_by_text("Staff", exact=True).click()
    expect(page.get_by_role("heading", name="Staff", level=1)).to_be_visible()

    menu.get_by_role("link", name="Cleaning").click()
    expect(page.get_by_text("Lobby is clean")).to_be_visible()
    expect(menu).to_be_hidden()
