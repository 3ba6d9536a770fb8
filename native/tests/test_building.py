"""The building file of a new installation."""

import subprocess
from pathlib import Path

import pytest
from stack.layout import ROOT

OWN = "building/building.json"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """As much of a clone as the script needs."""
    (tmp_path / "flows" / "building").mkdir(parents=True)
    (tmp_path / "flows" / "building" / "demo.json").write_text("demo")
    return tmp_path


def make(clone: Path, building: str = OWN) -> None:
    subprocess.run(["sh", ROOT / "native" / "building.sh", building], cwd=clone, check=True)


def test_a_new_installation_gets_a_copy_of_the_demo(clone: Path) -> None:
    make(clone)
    assert (clone / OWN).read_text() == "demo"
    assert (clone / OWN).stat().st_mode & 0o777 == 0o644


def test_an_unchanged_copy_follows_the_demo_of_a_newer_version(clone: Path) -> None:
    make(clone)
    (clone / "flows" / "building" / "demo.json").write_text("newer demo")
    make(clone)
    make(clone)
    assert (clone / OWN).read_text() == "newer demo"


def test_an_own_building_is_left_alone(clone: Path) -> None:
    make(clone)
    (clone / OWN).write_text("mine")
    (clone / "flows" / "building" / "demo.json").write_text("newer demo")
    make(clone)
    assert (clone / OWN).read_text() == "mine"


def test_a_building_file_of_another_name_is_not_made(clone: Path) -> None:
    make(clone, "houses/mine.json")
    assert not (clone / "building").exists()


def test_git_does_not_see_the_building_of_an_installation() -> None:
    assert subprocess.run(["git", "check-ignore", "-q", OWN], cwd=ROOT, check=False).returncode == 0
