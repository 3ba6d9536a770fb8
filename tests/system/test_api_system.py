"""`/api/v1` of the platform itself: keys, audit log, rebuilds, metrics, and the schemas of their responses."""

import time
import uuid
from typing import Any

import pytest
from support.api import Api
from support.building import Building
from support.stack_client import eventually
from support.walks import Walks

pytestmark = pytest.mark.usefixtures("stack")


def test_key_is_made_listed_and_revoked(api: Api) -> None:
    name = f"hacs-{uuid.uuid4().hex[:8]}"
    made = api.ask("createKey", 201, name=name, rights=["history"], expires="90d").json()
    assert made["key"].startswith(f"sda_{made['id']}_")
    api.ask("createKey", 409, name=name, rights=["history"])
    api.ask("createKey", 400, name="x y", rights=["history"])
    listed = next(one for one in api.get("listKeys")["keys"] if one["id"] == made["id"])
    assert listed == {key: value for key, value in made.items() if key != "key"}
    assert api.get("revokeKey", id=made["id"])["name"] == name
    api.ask("revokeKey", 404, id=made["id"])


def test_a_history_lookup_is_in_the_audit_log(api: Api) -> None:
    who = f"audited-{uuid.uuid4().hex[:8]}"
    api.ask("listStays", 404, staff_id=who, start=time.time() - 7200, end=time.time() - 3600)
    entries = eventually(lambda: api.pages("listAudit", "entries", subject=who, limit=5))
    assert any(one.get("route") == "/api/v1/staff/{staff_id}/stays" for one in entries)


def test_a_rebuild_is_accepted_and_listed(api: Api) -> None:
    job = api.ask("requestRebuild", 202, **{"from": time.time() - 30}).json()
    done = eventually(
        lambda: [one for one in api.get("listRebuilds")["jobs"] if one["id"] == job["id"] and one["state"] == "done"],
        within_s=30,
    )
    assert done[0]["why"] == "request"
    assert "from is missing" in api.ask("requestRebuild", 400).json()["error"]


def test_health_metrics_and_description_match_their_schemas(api: Api) -> None:
    assert set(api.get("getHealth")["parts"]) >= {"broker", "influxdb", "ingest", "building"}
    assert "# TYPE" in api.ask("getMetrics").text
    assert api.get("getDescription") == api.description
    assert set(api.get("getMe")["rights"]) == {"history", "presence", "admin", "forward"}


def test_hacs_era_routes_match_their_schemas(api: Api, walks: Walks, demo: Building) -> None:
    window = {"start_time": walks.start_ms // 1000, "end_time": walks.end_ms // 1000}
    assert api.get("extractBeacon", staff_id=walks.ann, **window)["location"]
    several = api.get("extractBeaconByPost", staff_id=f"{walks.ann},{walks.ben}", **window)["location"]
    assert {one["staff_id"] for one in several} == {walks.ann, walks.ben}
    assert api.get("retrieveForMonitoring")["data"]
    assert api.get("retrieveForMonitoringByPost")["data"]
    seen: dict[str, Any] = {"staff_id": "hand-1", "beacon_address": demo.beacons[0].id, "rssi": -50}
    for operation in ("newBeaconDetect", "newBeaconDetectByPost"):
        assert api.ask(operation, **seen).text == "New Beacon Detection Added"
    assert api.ask("extractBeacon", 400, staff_id="a b", **window).json()["location"] == []


def test_building_alerts_and_strangers_match_their_schemas(api: Api, demo: Building) -> None:
    answer = api.ask("getBuilding")
    assert answer.json() == demo.raw
    version = api.get("listBuildingVersions")["versions"][0]["version"]
    assert api.get("getBuildingVersion", version=version)["version"] == version
    kinds = api.get("listAlertKinds")
    alerts = api.pages("listAlerts", "alerts", limit=2)
    assert {one["kind"] for one in alerts} == {one["kind"] for one in kinds["groups"]}
    api.ask("listAlerts", 400, state="gone")
    assert "beacons" in api.get("listStrangers")
    api.ask("acknowledgeAlert", 404, alert="gateway_down:nobody")
    api.ask("acknowledgeAlerts", 404, kind="nonsense")
    assert api.get("acknowledgeAlerts", kind="sda_lost", state="open", until=time.time())["acknowledged"] >= 0
    assert api.get("acknowledgeAlerts", kind="sda_lost", until=0)["acknowledged"] == 0
    checked = api.http.post("/api/v1/building/validate", json=demo.raw)
    api.check("validateBuilding", checked)
    assert checked.json()["valid"]
    dry = api.http.post(
        "/api/v1/building/import?dry_run=1", content="mac,location,level\n", headers={"Content-Type": "text/csv"}
    )
    api.check("importBeacons", dry)
    listed = api.http.post(
        "/api/v1/building/from-list?dry_run=1&how=new&name=Mine", content="C2A628384B08:Lobby:G\nC2A6:Lobby:G\n"
    )
    api.check("buildingFromList", listed)
    assert [level["id"] for level in listed.json()["levels"]] == ["G"]
    for content, status in ((b"no picture", 400), (b"x" * 17_000_000, 413)):  # no file is left beside the demo building
        answer = api.http.post("/api/v1/building/pictures", content=content, headers={"Content-Type": "image/png"})
        assert answer.status_code == status
        api.check("addPlanPicture", answer)
    for operation, method, path in (
        ("replaceBuilding", "PUT", "/api/v1/building"),
        ("restoreBuildingVersion", "POST", f"/api/v1/building/versions/{version}/restore"),
    ):
        refused = api.http.request(method, path, json=demo.raw)
        assert refused.status_code == 428
        api.check(operation, refused)
