"""The versions of a campus agree with versions.env, and its containers with what runs natively."""

import json
import re
import tomllib

from campus.install import ENTRY, HERE, VERSIONS
from stack.layout import ROOT
from stack.layout import VERSIONS as CORE


def test_a_campus_runs_the_pinned_images() -> None:
    for file in ("compose.site.yaml", "compose.entry.yaml"):
        found = re.findall(r"\bhaproxy:\d\S+", (HERE / file).read_text())
        assert found == [f"haproxy:{VERSIONS['HAPROXY_IMAGE_VERSION']}"], file
    lines = (HERE / "broker" / "Dockerfile").read_text().splitlines()
    assert [line.split()[1] for line in lines if line.startswith("FROM")] == [
        f"nats:{VERSIONS['NATS_VERSION']}-alpine",
        f"python:{CORE['PYTHON_IMAGE_VERSION']}",
    ]


def test_a_node_of_a_campus_has_the_locked_packages() -> None:
    locked = {one["name"]: one["version"] for one in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
    pinned = dict(re.findall(r"([\w-]+)==(\S+)", (HERE / "broker" / "Dockerfile").read_text()))
    assert pinned == {name: locked[name] for name in ("nats-py", "nkeys", "paho-mqtt")}


def test_the_entry_runs_on_the_pinned_node_and_has_the_libraries_of_the_flows() -> None:
    lines = (ENTRY / "Dockerfile").read_text().splitlines()
    (base,) = [line.split()[1] for line in lines if line.startswith("FROM")]
    assert base.startswith(f"node:{CORE['NODE_VERSION']}-")
    own, flows = (json.loads((folder / "package.json").read_text()) for folder in (ENTRY, ROOT / "flows"))
    assert own["version"] == flows["version"]
    shared = own["dependencies"].keys() & flows["dependencies"].keys()
    assert {name: own["dependencies"][name] for name in shared} == {
        name: flows["dependencies"][name] for name in shared
    }
