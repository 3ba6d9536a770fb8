"""The other commands need only the engine, and the pages are served."""

import re
from pathlib import Path

from playwright.sync_api import Browser, expect
from support import web
from support.doubles import doubles
from support.stack_client import eventually

from .installation import Installation, account_in


def test_the_floor_page_shows_itself_after_a_login(clone: Installation, browser: Browser) -> None:
    page = browser.new_page(base_url=clone.http_url)
    page.goto("/dashboard/floor")
    page.get_by_label("Name").fill(clone.secrets["SDA_ADMIN_USER"])
    page.get_by_label("Password").fill(clone.secrets["SDA_ADMIN_PASSWORD"])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("Level 1").first).to_be_visible()
    page.close()


def test_simulator_plays_and_asks_beside_node_red(clone: Installation) -> None:
    clone.environment["SIM"] = "1"  # for its account at the broker
    try:
        clone.make("up")
        clone.compose("stop", "simulator")
        played = clone.make("simulator", ARGS="phones -n 3 --first 70 --duration 4")
        assert re.search(r"failed +0\n", played), played
        asked = clone.make("simulator", ARGS="hacs --staff 70 --duration 2")
        assert re.search(r"failed +0\n", asked), asked
        recording = clone.folder / "walk.csv"
        recording.write_text("ts_ms,gateway,beacon,rssi\n1700000000000,gw-1,C2A628384B08,-60\n")
        recording.chmod(0o600)
        assert "1 readings" in clone.make("simulator", ARGS="replay walk.csv")
    finally:
        clone.environment["SIM"] = "0"
        clone.make("up")
    assert "simulator" not in clone.containers()


def test_account_says_what_is_true(clone: Installation) -> None:
    printed = clone.make("account", ARGS="add gateway pi-1")
    assert account_in(printed)
    assert "Mosquitto has applied the change" in printed
    assert "gateway\tpi-1" in clone.make("account", ARGS="list")
    refused = clone.tried("account", ARGS="add gateway pi-1")
    assert refused.returncode
    assert "pi-1 exists already, as a gateway" in refused.stdout
    assert "applied the change" not in refused.stdout
    clone.make("account", ARGS="remove pi-1")
    eventually(clone.is_up, what="all of it is up again")


def test_two_devices_with_one_account_raise_an_alert(clone: Installation) -> None:
    password = account_in(clone.make("account", ARGS="add gateway twice"))

    def reported() -> str:
        headers = {"X-API-Key": clone.secrets["SDA_API_KEY"]}
        alerts = web.get(f"{clone.http_url}/api/v1/alerts", headers=headers).json()["alerts"]
        return next((str(one["text"]) for one in alerts if one["id"] == "account_shared:twice"), "")

    with doubles(clone.authority(), clone.ports.mqtts, "twice", password):
        assert "Two devices" in eventually(reported, what="the alert")
    clone.make("account", ARGS="remove twice")


def test_no_program_of_this_machine_is_needed(clone: Installation, tmp_path: Path) -> None:
    """A PATH without Python and Node.js: only the shell, git and the engine's client."""
    for program in ("python3", "python", "node", "npm", "uv"):
        (tmp_path / program).write_text("#!/bin/sh\necho this machine has none >&2; exit 127\n")
        (tmp_path / program).chmod(0o755)
    path = f"{tmp_path}:{clone.environment['PATH']}"
    for target, arguments in (("status", ""), ("account", "list"), ("key", "list"), ("simulator", "--help")):
        done = clone.tried(target, ARGS=arguments, PATH=path)
        assert done.returncode == 0, done.stdout
        assert "this machine has none" not in done.stdout
