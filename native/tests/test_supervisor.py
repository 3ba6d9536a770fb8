"""supervisord restarts crashed processes, applies changed definitions and stops cleanly."""

import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from stack.errors import StackError
from stack.health import Health
from stack.process import Process
from stack.supervisor import Supervisor, open_files
from stack.wait import wait_for

PRINT_AND_STAY = "import os, signal; print(dict(os.environ), flush=True); signal.pause()"


def _process(directory: Path, **environment: str) -> Process:
    command = (sys.executable, "-c", PRINT_AND_STAY)
    return Process("worker", "1", command, directory, environment, healthy=lambda: Health(up=True))


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    supervisord = Supervisor(tmp_path)
    yield supervisord
    supervisord.shut_down()


def _pid(supervisor: Supervisor) -> int:
    return int(supervisor.info("worker").get("pid", 0))


def test_killed_process_is_restarted(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.apply([_process(tmp_path)])
    supervisor.start("worker")
    first = _pid(supervisor)
    supervisor.signal("worker", signal.SIGKILL)
    wait_for(lambda: _pid(supervisor) not in {0, first}, 20, "the restart")


def test_only_a_changed_definition_stops_a_process(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.apply([_process(tmp_path)])
    supervisor.start("worker")
    first = _pid(supervisor)
    supervisor.apply([_process(tmp_path)])
    supervisor.start("worker")
    assert _pid(supervisor) == first
    supervisor.apply([_process(tmp_path, NEW="1")])
    assert supervisor.info("worker")["statename"] == "STOPPED"


def test_special_characters_are_passed_and_the_operators_secrets_are_not(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMEBODYS_SECRET", "do-not-pass-on")
    supervisor.apply([_process(tmp_path, ODD="50% a\\b, c=d#1; x")])
    supervisor.start("worker")
    wait_for(lambda: "ODD" in supervisor.tail("worker"), 10, "the process's output")
    assert repr("50% a\\b, c=d#1; x") in supervisor.tail("worker")
    assert "do-not-pass-on" not in supervisor.tail("worker")


def test_configuration_with_secrets_is_private(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.apply([_process(tmp_path, PASSWORD="x")])
    assert (tmp_path / "run" / "supervisord.conf").stat().st_mode & 0o077 == 0


def test_processes_have_a_higher_limit_of_open_files_than_the_shell(supervisor: Supervisor, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        supervisor.apply([_process(tmp_path)])
        supervisor.start("worker")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    limit, _ = psutil.Process(_pid(supervisor)).rlimit(psutil.RLIMIT_NOFILE)
    assert limit == open_files() > 1024


def test_shut_down_ends_process_and_supervisord(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.apply([_process(tmp_path)])
    supervisor.start("worker")
    pid = _pid(supervisor)
    supervisor.shut_down()
    assert not supervisor.running
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("value", ['a"b', "a'b", "a\nautostart=true", "a ;b", "a #b"])
def test_unsupported_values_are_refused(supervisor: Supervisor, tmp_path: Path, value: str) -> None:
    with pytest.raises(StackError, match="does not support"):
        supervisor.apply([_process(tmp_path, BAD=value)])


def test_orphans_of_a_killed_supervisord_are_ended_before_a_start(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.apply([_process(tmp_path)])
    supervisor.start("worker")
    orphan = _pid(supervisor)
    supervisord = int((tmp_path / "run" / "supervisord.pid").read_text())
    os.kill(supervisord, signal.SIGKILL)
    wait_for(lambda: not supervisor.running, 10, "the end of supervisord")
    assert Path(f"/proc/{orphan}").exists()
    supervisor.apply([_process(tmp_path)])
    assert not psutil.pid_exists(orphan)


def test_shut_down_ends_orphans_of_a_killed_supervisord(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.apply([_process(tmp_path)])
    supervisor.start("worker")
    orphan = _pid(supervisor)
    os.kill(int((tmp_path / "run" / "supervisord.pid").read_text()), signal.SIGKILL)
    wait_for(lambda: not supervisor.running, 10, "the end of supervisord")
    supervisor.shut_down()
    assert not psutil.pid_exists(orphan)
