"""The building file under Compose: changes over HTTP are in the file; an invalid file stops no service."""

import json

from support import web
from support.stack_client import eventually

from .installation import Installation


def admin(clone: Installation) -> dict[str, str]:
    return {"X-API-Key": clone.secrets["SDA_API_KEY"]}


def test_an_edit_is_saved_in_the_file_of_the_clone(clone: Installation) -> None:
    url = f"{clone.http_url}/api/v1/building"
    before = web.get(url, headers=admin(clone))
    changed = before.json() | {"building": "Edited House"}
    file = clone.folder / "flows" / "building" / "demo.json"
    answer = web.request("PUT", url, headers=admin(clone) | {"If-Match": before.headers["ETag"]}, json=changed)
    assert answer.status_code == 200, answer.text
    assert json.loads(file.read_text())["building"] == "Edited House"
    assert clone.health()["parts"]["building"]["name"] == "Edited House"


def test_a_faulty_file_stops_nothing_and_is_reported(clone: Installation) -> None:
    file = clone.folder / "flows" / "building" / "demo.json"
    good, before = file.read_text(), clone.containers()
    try:
        file.write_text('{"building": "x"}')
        refused = clone.tried("up")
        assert refused.returncode
        assert "levels" in refused.stdout
        assert "nothing was changed; running services continue" in refused.stdout
        assert clone.containers() == before
        assert web.get(f"{clone.http_url}/retrieveformonitoring", headers=admin(clone)).status_code == 200

        eventually(lambda: clone.degraded() == {"building"}, what="health reports it")
        status = clone.tried("status")
        assert status.returncode
        assert "building is degraded: the building file was changed and is refused" in status.stdout
        assert "-> correct the file" in status.stdout

        clone.engine.docker("restart", before["node-red"])  # as with the machine
        eventually(lambda: clone.degraded() == {"building"}, what="the building of before")
    finally:
        file.write_text(good)
    eventually(clone.is_up, what="all of it is up again")


def test_an_installers_list_becomes_the_building(clone: Installation) -> None:
    file = clone.folder / "flows" / "building" / "demo.json"
    before = file.read_text()
    rows = [f"C2A62838{n:04X}:Room {n % 12}:{('B1', 'G', '1')[n % 3]}" for n in range(40)]
    listed = clone.folder / "installer's list.csv"
    listed.write_text("\n".join([*rows, "C2A6283804G1:Car Park:B1"]) + "\n")
    try:
        printed = clone.make("building", ARGS=f'from-list "{listed}" --new --name Listed --yes')
        assert ":41: " in printed
        eventually(lambda: clone.health()["parts"]["building"].get("name") == "Listed", what="the building of the list")
        levels = web.get(f"{clone.http_url}/api/v1/levels", headers=admin(clone)).json()["levels"]
        assert [level["name"] for level in levels] == ["B1", "G", "1"]
    finally:
        file.write_text(before)
        listed.unlink()
    eventually(clone.is_up, what="all of it is up again")
