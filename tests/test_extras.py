"""The core names no extra, imports none and installs none."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from stack.layout import ROOT

PRODUCTS: dict[str, list[str]] = json.loads((ROOT / "extras" / "names.json").read_text())
"""Each extra, and what is named in it alone."""
NO_CODE = {".md", ".lock", ".svg", ".webp", ".csv"}
MAY_NAME = re.compile(
    r"extras/|Makefile$|\.ci/|\.github/|tests/test_extras\.py$|LICENSE$"
    r"|native/build/|tests/accuracy/recordings/|flows/building/demo\.json$|flows/test/|simulator/tests/test_walk\.py$"
)
"""Makefile and continuous integration; other people's module lists; buildings with a room called *Lab*."""
PACKAGES = ("sda-locator-native", "sda-simulator")
"""What `make up` installs (native/stack)."""


def _files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.splitlines()  # fmt: skip
    return [
        name
        for name in listed
        if Path(name).suffix not in NO_CODE and not MAY_NAME.match(name) and (ROOT / name).is_file()
    ]


@pytest.mark.parametrize("extra", PRODUCTS)
def test_the_core_names_no_extra(extra: str) -> None:
    words = re.compile(rf"\b({'|'.join(PRODUCTS[extra])})\b")
    files = _files()
    assert len(files) > 300
    naming = [name for name in files if words.search((ROOT / name).read_text(errors="replace"))]
    assert naming == []


def test_every_extra_has_its_names() -> None:
    folders = {folder.name for folder in (ROOT / "extras").iterdir() if (folder / "pyproject.toml").exists()}
    assert folders == set(PRODUCTS)


def test_make_up_installs_no_extra() -> None:
    locked = {one["name"]: one for one in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
    wanted, seen = list(PACKAGES), set[str]()
    while wanted:
        name = wanted.pop()
        if name not in seen:
            seen.add(name)
            wanted += [one["name"] for one in locked[name].get("dependencies", [])]
    assert {"paho-mqtt", "supervisor", "sda-gateway-agent"} <= seen
    assert not seen & {f"sda-{extra}" for extra in PRODUCTS}
    lines = (ROOT / "native" / "stack").read_text().splitlines()
    assert f'packages="--no-dev {" ".join(f"--package {name}" for name in PACKAGES)}"' in lines
