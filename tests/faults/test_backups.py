"""Runs the backup and restore commands of the operations page."""

import os
import shutil
import stat
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from stack import health
from stack.layout import ROOT
from stack.lifecycle import down, up
from support import operations
from support.building import Building
from support.running import RunningStack
from support.stack_client import batch, eventually, history, now_ms, publish

MAKE = """
from sys import argv
from stack.lifecycle import down, up
from stack.settings import load
{"down": down, "up": lambda settings: up(settings, leave_out=("simulator",))}[argv[1]](load())
"""
"""`make up` and `make down` of the installation in the folder, without the demo."""
ENGINE = """
import os, pathlib, subprocess, sys
arguments, mounts = sys.argv[1:], {}
assert arguments.pop(0) == "run"
while arguments[0].startswith("-"):
    option = arguments.pop(0)
    if option == "-v":
        source, target, *_ = arguments.pop(0).split(":")
        mounts[target] = source if "/" in source else os.environ["VOLUMES"] + "/" + source
image, *command = arguments
assert image == os.environ["IMAGE"], image
root = pathlib.Path(os.environ["VOLUMES"], "container")
for target, source in mounts.items():
    link = root / target.lstrip("/")
    link.parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(source).mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(source)
command = [str(root / part.lstrip("/")) if part.startswith("/") else part for part in command]
command[1:1] = ["--dereference"] if "-czf" in command else ["--keep-directory-symlink"]
sys.exit(subprocess.run(command).returncode)
"""
"""A fake of Docker's `run` for the page's commands: named volumes and mounts are folders."""


def run(block: str, folder: Path, environment: dict[str, str], archive: str = "") -> None:
    """Run a block of the page in the installation's folder; an archive's name replaces the example's."""
    done = subprocess.run(
        ["bash", "-ec", operations.block(block, archive)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def archive_in(folder: Path) -> Path:
    (archive,) = folder.glob("sda-*.tar.gz")
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    return archive


def test_a_native_installation_is_backed_up_and_restored(stack: RunningStack, demo: Building) -> None:
    folder = stack.settings.env_file.parent
    (folder / "Makefile").write_text(f"up down:\n\t@'{sys.executable}' make.py $@\n")
    (folder / "make.py").write_text(MAKE)
    picture = stack.building.parent / "plan-0123456789abcdef.png"
    assert picture.parent == folder / "building"
    picture.write_text("a plan")
    environment = {**stack.settings.environment, "STACK_ENV_FILE": str(stack.settings.env_file)}
    password = stack.command("account", "add", "phone", "backed-up").strip()
    beacon, ts = demo.beacons_of_two_rooms()[0], now_ms()
    publish(stack, ("phone/backed-up/readings", batch((beacon.id, -50), ts=ts)))

    def stored() -> list[dict[str, Any]]:
        return history(stack, "backed-up", ts / 1000 - 1, ts / 1000 + 1)

    eventually(stored, what="the location")
    try:
        run("back up natively", folder, environment)
        archive = archive_in(folder)
        down(stack.settings)
        shutil.rmtree(stack.data_dir)
        stack.settings.env_file.unlink()
        picture.unlink()
        run("restore natively", folder, environment, archive.name)
    finally:
        up(stack.settings, report=lambda _: None, leave_out=("simulator",))
    stack.wait_until_healthy()
    assert picture.read_text() == "a plan"
    assert health.broker("127.0.0.1", stack.ports.mqtt, "backed-up", password).up
    eventually(stored, what="the location again, from the restored database")
    stack.command("account", "remove", "backed-up")


def test_a_compose_installation_is_backed_up_and_restored(tmp_path: Path) -> None:
    """With a fake engine: checks the archive's content and mode, and that `make up` comes last."""
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    volumes, installation, programs = tmp_path / "volumes", tmp_path / "installation", tmp_path / "bin"
    made_at_each_start = ("registry", "tokens")
    kept = {f"sda-locator-2_{name}": name for name in compose["volumes"] if name not in made_at_each_start}
    for volume, name in kept.items():
        (volumes / volume).mkdir(parents=True)
        (volumes / volume / "file").write_text(f"in {name}")
    (installation / "building").mkdir(parents=True)
    (installation / "building" / "house.json").write_text("{}")
    (installation / ".env").write_text("COMPOSE_PROJECT_NAME=sda-locator-2\n")
    (installation / "Makefile").write_text("up down:\n\t@echo $@ >>steps\n")
    programs.mkdir()
    (programs / "docker").write_text(f"#!{sys.executable}\n{ENGINE}")
    (programs / "docker").chmod(0o755)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "VOLUMES": str(volumes),
        "IMAGE": compose["services"]["accounts"]["image"],
    }
    run("back up under Compose", installation, environment)
    archive = archive_in(installation)
    with tarfile.open(archive) as opened:
        files = {member.name for member in opened if member.isfile()}
    assert files == {*(f"{name}/file" for name in kept.values()), ".env", "building/house.json"}
    shutil.rmtree(volumes)
    volumes.mkdir()
    (installation / ".env").unlink()
    shutil.rmtree(installation / "building")
    run("restore under Compose", installation, environment, archive.name)
    for volume, name in kept.items():
        assert (volumes / volume / "file").read_text() == f"in {name}"
    assert (installation / ".env").read_text() == "COMPOSE_PROJECT_NAME=sda-locator-2\n"
    assert (installation / "building" / "house.json").exists()
    assert (installation / "steps").read_text().split() == ["down", "up", "up"]


@pytest.mark.parametrize("way", ["natively", "under Compose"])
def test_a_failed_backup_restarts_stopped_services(tmp_path: Path, way: str) -> None:
    """Lines run one by one; a failed line does not stop the next."""
    (tmp_path / "Makefile").write_text("up down:\n\t@echo $@ >>steps\n")
    (tmp_path / "bin").mkdir()
    for program in ("tar", "docker"):
        (tmp_path / "bin" / program).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "bin" / program).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(
        ["bash", "-c", operations.block(f"back up {way}")],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "steps").read_text().split() == ["down", "up"]
