"""Calibration by walking, on a phone: a stored walk is evaluated, previewed and applied once."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.api import Api
from support.browser import serious_faults, session_of, whole
from support.calibration_walk import ID, NAME, WRONG_DB, KnownWalk, wrong_building
from support.running import RunningStack, running_stack
from support.stack_client import now_ms

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A stack with wrong offsets in the building, and a recorded walk."""
    file = tmp_path_factory.mktemp("building") / "building.json"
    building = wrong_building()
    file.write_text(json.dumps(building))
    with running_stack(building=file) as stack:
        stack.stop("node-red")
        KnownWalk(building, now_ms() - 60_000).keep(stack.data_dir / "node-red" / "recordings")
        stack.start("node-red")
        yield stack


@pytest.fixture
def phone(browser: Browser, calibrated: RunningStack) -> Iterator[Page]:
    session = session_of(browser, calibrated)
    base = f"{calibrated.http_url}/dashboard/"
    with whole(
        browser.new_context(base_url=base, storage_state=session, viewport=PHONE, has_touch=True)  # type: ignore[arg-type]
    ) as context:
        page = context.new_page()
        page.goto("record")
        yield page


def offsets(file: Path) -> dict[str, float]:
    return {one["id"]: one.get("rssi_offset", 0) for one in json.loads(file.read_text())["gateways"]}


def shot(what: Locator, file: Path) -> None:
    """Take a screenshot; pytest --basetemp=FOLDER keeps it."""
    what.screenshot(path=file)


def test_a_walk_corrects_the_building_once(phone: Page, calibrated: RunningStack, tmp_path: Path) -> None:
    before = offsets(calibrated.building)
    kept = phone.locator(f'[data-recording="{NAME}"]')
    kept.get_by_role("button", name=f"Calibrate the devices with {NAME}").tap()
    teaches = kept.get_by_role("region", name="What the walk teaches")
    expect(teaches).to_be_visible()
    expect(teaches.get_by_role("list", name="Changes")).to_contain_text(f"offset {WRONG_DB} →")
    shot(teaches, tmp_path / "calibration.png")
    assert serious_faults(phone) == []
    rights = "(all) => all.map((one) => one.getBoundingClientRect().right)"
    assert max(phone.locator(".record *").evaluate_all(rights)) <= PHONE["width"] - 12
    assert offsets(calibrated.building) == before, "to look changes nothing"
    teaches.get_by_role("button", name="Take").tap()
    teaches.get_by_role("button", name="Really take over").tap()
    expect(teaches.get_by_role("status")).to_contain_text("Taken over as version")
    shot(teaches, tmp_path / "taken.png")
    after = offsets(calibrated.building)
    changed = {gateway for gateway in before if before[gateway] != after[gateway]}
    assert changed
    wrong = [after[gateway] for gateway in changed if before[gateway] == WRONG_DB]
    right = [after[gateway] for gateway in changed if before[gateway] == 0]
    # a common error may be the tag's
    assert mean(wrong) - mean(right or [0]) < WRONG_DB / 2

    api = Api(calibrated)
    calibration = api.get("getCalibration", recording=ID)
    assert calibration["verdict"] == "better"
    assert calibration["left_out"] > calibration["before"]
    assert calibration["is_as_walked"] is False
    newest = api.get("listBuildingVersions")["versions"][0]
    assert (newest["how"], newest["by"]) == ("calibration", f"login:{calibrated.secrets['SDA_ADMIN_USER']}")
    assert newest["changes"]["gateways"]["changed"] == len(changed)
    assert "walk again" in api.ask("applyCalibration", 409, recording=ID).json()["error"]
    assert offsets(calibrated.building) == after
    looked = api.get("listAudit", subject="33")["entries"]
    assert any(one.get("route", "").endswith("/calibration") for one in looked)
    api.close()

    phone.goto("setup?tab=versions")
    expect(phone.get_by_text("calibrated by walking").first).to_be_visible()
