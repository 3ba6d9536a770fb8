"""Other users of the engine and machine: networks, clones and rights."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import images
from .daemon import Engine
from .installation import Installation, installation

NOBODY = 65534


def which(program: str, clone: Installation) -> str:
    """Path of a program in the clone's PATH."""
    return clone.command("sh", "-c", f"command -v {program}").stdout.strip()


def test_another_network_is_found_where_the_first_is_taken(engine: Engine, fresh: Installation) -> None:
    printed = fresh.make("env")
    assert "docker compose up" in printed
    first = fresh.secrets["BRIDGE_NET"]
    other = f"{fresh.project}-somebody-else"
    engine.docker("network", "create", "--subnet", f"{first}.0/25", other)
    try:
        fresh.make("env")
        assert fresh.secrets["BRIDGE_NET"] != first

        fresh.environment["BRIDGE_NET"] = first
        refused = fresh.tried("up")
        assert refused.returncode
        assert f"BRIDGE_NET={first} overlaps with {other} ({first}.0/25)" in refused.stdout

        fresh.environment["BRIDGE_NET"] = "10.57"
        assert "BRIDGE_NET=10.57 is not three numbers like 10.99.7" in fresh.tried("up").stdout
    finally:
        engine.docker("network", "rm", other)


def test_by_hand_after_make_env(fresh: Installation) -> None:
    fresh.make("env")
    fresh.compose("up", "--detach", "--wait")
    assert "all parts are up" in fresh.compose("exec", "-T", "node-red", "node", "bin/health.js", "--wait", "60")
    before = fresh.containers()
    fresh.make("up")
    after = fresh.containers()
    built = {"node-red", "registry", "simulator"}  # by hand with attestations, which make another image of them
    assert {name for name in after if after[name] != before[name]} <= built


def test_a_second_clone_takes_another_name_and_neither_deletes_the_other(engine: Engine) -> None:
    with installation(engine) as first, installation(engine) as second:
        for clone in (first, second):
            clone.environment.pop("COMPOSE_PROJECT_NAME")
            clone.environment["SIM"] = "0"
        first.make("env")
        first.project = first.secrets["COMPOSE_PROJECT_NAME"]
        first.compose("up", "--detach", "accounts")
        printed = second.make("env")
        second.project = second.secrets["COMPOSE_PROJECT_NAME"]
        assert second.project != first.project
        assert f"this one is {second.project}" in printed

        second.make("clean", YES="1")
        assert first.containers()
        volume = f"{first.project}_broker"
        assert volume in engine.docker("volume", "ls", "--format", "{{.Name}}").split()

        env_file = second.folder / ".env"
        env_file.write_text((first.folder / ".env").read_text())
        refused = second.tried("clean", YES="1")
        assert refused.returncode
        assert f"{first.project} runs from {first.folder}" in refused.stdout
        assert volume in engine.docker("volume", "ls", "--format", "{{.Name}}").split()
        env_file.unlink()


def test_clean_takes_all_that_is_of_the_clone(engine: Engine, fresh: Installation) -> None:
    fresh.environment["SIM"] = "0"
    fresh.make("up")
    try:
        fresh.make("clean", YES="1")
    finally:
        images.provide(engine)
    of_project = ("--filter", f"label=com.docker.compose.project={fresh.project}", "--quiet")
    assert fresh.containers() == {}
    assert engine.docker("volume", "ls", *of_project) == ""
    assert engine.docker("network", "ls", *of_project) == ""
    assert fresh.project not in engine.docker("images", "--format", "{{.Repository}}")
    assert not {".env", ".compose"} & {path.name for path in fresh.folder.iterdir()}


def test_without_the_right_to_use_the_engine_nothing_is_begun(fresh: Installation) -> None:
    os.chown(fresh.folder, NOBODY, NOBODY)
    readable = fresh.folder / "client"
    (readable / "cli-plugins").mkdir(parents=True)
    shutil.copy(which("docker", fresh), readable / "docker")
    plugin = fresh.engine.docker("info", "--format", "{{range .ClientInfo.Plugins}}{{.Name}} {{.Path}}\n{{end}}")
    path = next(line.split()[1] for line in plugin.splitlines() if line.startswith("compose "))
    shutil.copy(path, readable / "cli-plugins" / "docker-compose")
    environment = fresh.environment | {"HOME": str(fresh.folder), "DOCKER_CONFIG": str(readable),
                                       "PATH": f"{readable}:/usr/bin:/bin"}  # fmt: skip
    done = subprocess.run(["setpriv", f"--reuid={NOBODY}", "--clear-groups", "native/stack", "up"], cwd=fresh.folder,
                          env=environment, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 2
    assert "Docker is installed, but" in done.stderr
    assert "may not use it: sudo usermod -aG docker" in done.stderr
    assert not {".native", ".compose", ".env"} & {path.name for path in fresh.folder.iterdir()}


def test_what_runs_in_containers_is_known_by_them_not_by_a_marker(clone: Installation) -> None:
    marker = clone.folder / ".native"
    marker.touch()  # as an earlier version left it after a native start that failed
    try:
        assert "all parts are up" in clone.make("status")
    finally:
        marker.unlink()
    without = Path(sys.executable).parent  # neither docker nor anything of it
    lost = clone.tried("status", PATH=f"{without}:/usr/bin:/bin", DOCKER_HOST="unix:///nowhere.sock")
    assert lost.returncode
    assert "this installation runs under Docker Compose, and the engine cannot be asked" in lost.stdout


def test_a_folder_that_nobody_may_write_is_reported_with_the_remedy(clone: Installation) -> None:
    folder = clone.folder / "flows" / "building"
    owner = folder.stat()
    os.chown(folder, 0, 0)
    try:
        printed = clone.make("status")
        assert "The page Set-up cannot save: flows/building belongs to root" in printed
        assert "sudo chown -R 1000:1000 'flows/building'" in printed
    finally:
        os.chown(folder, owner.st_uid, owner.st_gid)


def test_a_folder_of_another_user_is_written_as_that_user(fresh: Installation) -> None:
    folder = fresh.folder / "flows" / "building"
    for path in (folder, *folder.iterdir()):
        os.chown(path, 1234, 1234)
    fresh.environment["SIM"] = "0"
    fresh.make("up")
    assert fresh.compose("exec", "-T", "node-red", "id", "-u").strip() == "1234"
    fresh.compose("exec", "-T", "node-red", "sh", "-c", "touch /building/written /data/written /registry/written")
    assert (folder / "written").stat().st_uid == 1234
