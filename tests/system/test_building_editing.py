"""Changes the building over HTTP while everything runs: used at once, each change a version, nothing lost."""

import json
import threading
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx
import pytest
from ingest.steady import SteadySender
from support.building import NEW_BEACON, add_annex
from support.keys import admin, asking, named_key
from support.running import DEMO_BUILDING, RunningStack, running_stack
from support.stack_client import accepted_readings, batch, eventually, get, history, now_ms, publish
from support.stored import stored_readings

Change = Callable[[dict[str, Any]], None]
BUILDING = "/api/v1/building"


class Editor:
    """A client that changes a stack's building, and its file."""

    def __init__(self, stack: RunningStack, file: Path) -> None:
        self.stack, self.file = stack, file
        self.first: dict[str, Any] = json.loads(file.read_text())
        self.http = admin(stack)

    def etag(self) -> str:
        return self.http.get(BUILDING).headers["etag"]

    def put(self, change: Change = lambda _: None, etag: str | None = None) -> httpx.Response:
        """Replace the building by the first one with `change` applied."""
        data = deepcopy(self.first)
        change(data)
        return self.http.put(BUILDING, json=data, headers={"If-Match": etag or self.etag()})

    def versions(self) -> list[dict[str, Any]]:
        answer = self.http.get(f"{BUILDING}/versions")
        answer.raise_for_status()
        return list(answer.json()["versions"])

    def rooms(self) -> int:
        return int(get(self.stack, "/health").json()["parts"]["building"]["rooms"])


@pytest.fixture(scope="module")
def only_editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    file = tmp_path_factory.mktemp("building") / "building.json"
    file.write_text(DEMO_BUILDING.read_text())
    with running_stack(building=file) as running:
        editor = Editor(running, file)
        yield editor
        editor.http.close()


@pytest.fixture
def editor(only_editor: Editor) -> Iterator[Editor]:
    """With the demo building before and after."""
    yield only_editor
    only_editor.stack.restore()
    only_editor.put().raise_for_status()


@pytest.fixture
def stack(editor: Editor) -> RunningStack:
    """Named `stack` for the logs in a failed test's report."""
    return editor.stack


def rename(name: str) -> Change:
    return lambda data: data.update(building=name)


def test_change_under_load_is_in_use_at_once_and_no_reading_is_lost(editor: Editor, stack: RunningStack) -> None:
    before = accepted_readings(stack)
    sender = SteadySender(stack, [one["id"] for one in editor.first["beacons"][:2]], rate=200)
    with sender.running():
        sender.seconds_pass(1)
        answer = editor.put(add_annex)
        assert answer.json()["in_use"] is True, answer.text
        assert editor.rooms() == 61
        now = now_ms()
        walk = [batch((NEW_BEACON["id"], -50), ts=now - n * 1000) for n in (2, 1, 0)]
        publish(stack, *[("phone/in-annex/readings", one) for one in walk])
        records = eventually(lambda: history(stack, "in-annex", now / 1000 - 60, now / 1000 + 1), what="history")
        assert records[0]["location"] == "Annex"
        repeats = 0
        while not stored_readings(stack, beacon=NEW_BEACON["id"]):  # Telegraf knows the beacon within about two seconds
            repeats += 1
            assert repeats < 100, "the new beacon's readings are not stored"
            publish(stack, ("phone/in-annex/readings", batch((NEW_BEACON["id"], -50))))
            sender.seconds_pass(0.2)
        located = len(walk) + repeats
        editor.put().raise_for_status()
        sender.seconds_pass(2)
    sender.all_arrive()
    sent = sender.readings() + located
    eventually(lambda: accepted_readings(stack) - before >= sent, what=f"{sent} readings taken by the flows")
    assert accepted_readings(stack) - before == sent


def test_two_editors_do_not_overwrite_each_other(editor: Editor) -> None:
    etag = editor.etag()
    editor.put(rename("First"), etag).raise_for_status()
    late = editor.put(rename("Second"), etag)
    assert late.status_code == 412
    assert "SDA_API_KEY" in late.json()["error"]
    assert late.headers["etag"] == editor.etag()
    assert json.loads(editor.file.read_text())["building"] == "First"


def test_versions_have_author_time_and_changes_and_can_be_restored(editor: Editor, stack: RunningStack) -> None:
    began = now_ms()
    with asking(stack, named_key(stack, "installer", "admin")) as installer:
        data = deepcopy(editor.first)
        add_annex(data)
        made = installer.put(BUILDING, json=data, headers={"If-Match": editor.etag()}).json()
    newest, before = editor.versions()[:2]
    assert (newest["version"], newest["by"], newest["how"]) == (made["version"], "installer", "edit")
    assert began <= newest["ts"] <= now_ms()
    assert newest["changes"]["rooms"] == {"added": 1, "removed": 0, "changed": 0}
    assert newest["changes"]["levels"]["changed"] == 1
    earlier = editor.http.get(f"{BUILDING}/versions/{before['version']}").json()
    assert earlier["building"] == editor.first
    assert earlier["restoring"]["rooms"]["removed"] == 1
    back = editor.http.post(
        f"{BUILDING}/versions/{before['version']}/restore", headers={"If-Match": editor.etag()}
    ).json()
    assert back["in_use"] is True
    assert editor.rooms() == 60
    assert (editor.versions()[0]["how"], editor.versions()[0]["of"]) == ("restore", before["version"])


def test_a_manual_change_is_a_version_too(editor: Editor) -> None:
    etag = editor.etag()
    data = deepcopy(editor.first)
    rename("By hand")(data)
    editor.file.write_text(json.dumps(data))
    assert editor.put(rename("Over it"), etag).status_code == 412, "nobody overwrites it unseen"
    eventually(lambda: editor.versions()[0]["how"] == "file", what="the version")
    assert editor.versions()[0]["by"] is None
    editor.file.write_text('{"building": "Half a')
    spoiled = eventually(
        lambda: get(editor.stack, "/health").json()["parts"]["building"].get("faults"), what="the fault in /health"
    )
    assert spoiled[0].startswith("/ is not JSON")
    corrected = editor.put(rename("Corrected"))
    assert corrected.json()["in_use"] is True
    assert Path(corrected.json()["set_aside"]).read_text() == '{"building": "Half a'
    assert get(editor.stack, "/health").json()["parts"]["building"]["status"] == "up"


def test_faults_have_pointers_and_nothing_changes(editor: Editor) -> None:
    def spoil(data: dict[str, Any]) -> None:
        data["beacons"][2]["room"] = "attic"
        data["staff"][4].pop("name")

    before = editor.versions()
    refused = editor.put(spoil)
    assert refused.status_code == 422
    assert {one["pointer"] for one in refused.json()["faults"]} == {"/beacons/2/room", "/staff/4"}
    data = deepcopy(editor.first)
    spoil(data)
    checked = editor.http.post(f"{BUILDING}/validate", json=data).json()
    assert (checked["valid"], checked["faults_count"]) == (False, 2)
    assert editor.versions() == before


def test_list_of_beacons_is_imported_and_its_readings_stored(editor: Editor, stack: RunningStack) -> None:
    room = editor.first["levels"][0]["rooms"][0]
    rows = f"mac,location,level\nA0:B1:C2:D3:E4:F7,{room['name']},L1\nA0B1C2D3E4,{room['name']},L1\n"
    answer = editor.http.post(
        f"{BUILDING}/import", content=rows, headers={"Content-Type": "text/csv", "If-Match": editor.etag()}
    ).json()
    assert (answer["added"], answer["in_use"]) == (["A0B1C2D3E4F7"], True)
    assert [(one["line"], one["kind"]) for one in answer["refused"]] == [(3, "mac_length")]
    assert editor.versions()[0]["how"] == "import"

    def stored() -> bool:
        publish(stack, ("phone/imported/readings", batch(("A0B1C2D3E4F7", -50))))
        return bool(stored_readings(stack, beacon="A0B1C2D3E4F7"))

    eventually(stored, within_s=60, what="readings of the imported beacon")


def test_the_version_list_is_right_after_a_kill(editor: Editor, stack: RunningStack) -> None:
    for after_ms in (0, 5, 10, 20, 40):
        name, etag = f"Killed after {after_ms} ms", editor.etag()
        killer = threading.Timer(after_ms / 1000, stack.kill, ["node-red"])
        killer.start()
        try:
            answered = editor.put(rename(name), etag).status_code == 200
        except httpx.HTTPError:
            answered = False
        killer.join()
        stack.start("node-red")
        on_disk = json.loads(editor.file.read_text())["building"]
        newest = editor.http.get(f"{BUILDING}/versions/{editor.versions()[0]['version']}").json()
        assert newest["building"]["building"] == on_disk, name
        assert on_disk == name or not answered, f"{name}: what was answered is kept"


def test_versions_survive_a_restart(editor: Editor, stack: RunningStack) -> None:
    editor.put(rename("Kept")).raise_for_status()
    before = editor.versions()
    stack.stop("node-red")
    stack.start("node-red")
    assert editor.versions() == before
