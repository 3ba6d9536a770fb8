"""The core names no extra, imports none and installs none."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from stack.layout import ROOT

EXTRAS = sorted(folder.name for folder in (ROOT / "extras").iterdir() if (folder / "pyproject.toml").exists())
PRODUCTS = {"campus": ("NATS", "nats-server", "HAProxy", "haproxy"), "lab": ("Locust", "Toxiproxy", "toxiproxy")}
"""What is named in an extra alone, besides the extra."""
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


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_core_names_no_extra(extra: str) -> None:
    words = re.compile(rf"\b({'|'.join((extra, *PRODUCTS[extra]))})\b")
    files = _files()
    assert len(files) > 300
    naming = [name for name in files if words.search((ROOT / name).read_text(errors="replace"))]
    assert naming == []


def test_make_up_installs_no_extra() -> None:
    locked = {one["name"]: one for one in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
    wanted, seen = list(PACKAGES), set[str]()
    while wanted:
        name = wanted.pop()
        if name not in seen:
            seen.add(name)
            wanted += [one["name"] for one in locked[name].get("dependencies", [])]
    assert {"paho-mqtt", "supervisor", "sda-gateway-agent"} <= seen
    assert not seen & {f"sda-{extra}" for extra in EXTRAS}
    lines = (ROOT / "native" / "stack").read_text().splitlines()
    assert f'packages="--no-dev {" ".join(f"--package {name}" for name in PACKAGES)}"' in lines
