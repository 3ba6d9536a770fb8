"""Starts, stops and reports one installation's processes."""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from . import health, ports
from .errors import StackError
from .install import print_line
from .layout import ROOT, node_folder
from .orphans import end_orphans
from .pipeline import problems
from .process import Process
from .processes import first_processes, processes
from .settings import Settings, load
from .stores import SECOND
from .supervisor import Supervisor
from .tool import run_tool
from .wait import wait_for

START_WITHIN_S = 60.0
DATA_SPACE_BYTES = 2**29
"""Space for a day of the demo and InfluxDB's compactions. With less, InfluxDB stops in the middle of a write."""


def up(settings: Settings, report: Callable[[str], None] = print_line, leave_out: Collection[str] = ()) -> Settings:
    """Start stopped processes, restart changed ones, and wait until all are healthy.

    Args:
        settings: the installation.
        report: gets a line of progress for each process.
        leave_out: names of processes not to run.

    Returns:
        The settings with the tokens that InfluxDB has issued.

    Raises:
        StackError: naming the problem and the remedy.
    """
    _check_space(settings)
    with lifecycle_lock(settings.data_dir):
        return _up(settings, report, leave_out)


def _up(settings: Settings, report: Callable[[str], None], leave_out: Collection[str]) -> Settings:
    supervisor = Supervisor(settings.data_dir)
    _check_ports(settings, supervisor)
    check_building(settings)
    _end_second_sessions(settings, supervisor)
    settings.broker.render(settings)
    wanted = _wanted(settings, leave_out)
    supervisor.apply(wanted)
    first = [process.name for process in first_processes(settings)]
    for process in wanted[: len(first)]:
        start(process, supervisor, report)
    settings = _apply_influx(settings)
    _write_registry(settings)
    wanted = _wanted(settings, leave_out)  # now with InfluxDB's tokens
    supervisor.apply(wanted)
    for process in wanted[len(first) :]:
        start(process, supervisor, report)
    return settings


def _end_second_sessions(settings: Settings, supervisor: Supervisor) -> None:
    """End the sessions of the second Telegraf and of its spool when there is only one InfluxDB again. The broker would
    keep messages for them."""
    passwords, prefix = settings.data_dir / "broker" / "passwords", f"{SECOND.name('telegraf')}-"
    if len(settings.stores) > 1 or not passwords.exists() or not supervisor.running:
        return
    users = [line.partition(":")[0] for line in passwords.read_text().splitlines() if line.startswith(prefix)]
    for part in ("telegraf", "spool") if users else ():
        supervisor.stop(SECOND.name(part))
    for user in users:  # a clean session replaces the kept one
        reach = (settings.mqtt_host, settings.port("MQTT_PORT"))
        client_id = user.replace(prefix, f"{SECOND.name('telegraf')}/")
        health.broker(*reach, user, settings["MQTT_TELEGRAF_PASSWORD"], client_id)


def down(settings: Settings) -> None:
    """Stop all processes of this installation, including those of a killed supervisord."""
    with lifecycle_lock(settings.data_dir):
        Supervisor(settings.data_dir).shut_down()


def status(settings: Settings) -> tuple[list[str], bool]:
    """One line for each part, and whether all parts are up."""
    supervisor = Supervisor(settings.data_dir)
    lines, all_up = process_lines(supervisor, processes(settings))
    if supervisor.running:
        lines += (found_problems := problems(settings)) or ["all parts are up"]
        all_up &= not found_problems
    return lines, all_up


def process_lines(supervisor: Supervisor, listed: Sequence[Process]) -> tuple[list[str], bool]:
    """One line for each process, and whether all of them are up."""
    running = supervisor.running
    lines, all_up = [], True
    for process in listed:
        info = supervisor.info(process.name) if running else {}
        if running and not info:
            continue  # not started: the demo after SIM=0 make up
        state = str(info.get("statename", "STOPPED")).lower()
        detail = ""
        if state == "running":
            answer = process.healthy()
            state, detail = ("up", _usage(int(info["pid"]))) if answer.up else ("unhealthy", answer.detail)
        all_up &= state == "up"
        lines.append(f"{process.name:<12}  {process.version:<8}  {state:<9}  {detail}".rstrip())
    return lines, all_up


def _wanted(settings: Settings, leave_out: Collection[str]) -> list[Process]:
    return [process for process in processes(settings) if process.name not in leave_out]


def _apply_influx(settings: Settings) -> Settings:
    environment = {"INFLUX_ADMIN_TOKEN": settings["INFLUX_ADMIN_TOKEN"]}
    for store in settings.stores:
        arguments: list[object] = ["--url", settings.url_of("INFLUX_PORT", store), "--env-file", settings.env_file]
        arguments += ["--store", store.number] if len(settings.stores) > 1 else []
        arguments += ["--more-tokens", settings.stores_kind.tokens] if settings.stores_kind.tokens else []
        what = f"buckets and tokens of {store.name('influxd')}"
        run_tool(what, [sys.executable, ROOT / "influx" / "apply.py", *arguments], environment)
    return load(settings.env_file, settings.environment)


def _write_registry(settings: Settings) -> None:
    folder = settings.data_dir / "ingest"
    folder.mkdir(parents=True, exist_ok=True)
    environment = {"SDA_BUILDING": str(settings.building), "SDA_REGISTRY_DIR": str(folder)}
    command = [node_folder() / "node", ROOT / "flows" / "bin" / "registry.js"]
    run_tool("the registry of beacons", command, environment)


def start(process: Process, supervisor: Supervisor, report: Callable[[str], None]) -> None:
    """Start a process and wait until it is healthy. If it does not become so, a StackError has its last log lines."""
    supervisor.start(process.name)
    try:
        wait_for(lambda: process.healthy().up, START_WITHIN_S, process.name)
    except StackError:
        reason = process.healthy().detail
        log_tail = supervisor.tail(process.name)
        raise StackError(f"{process.name} is not healthy ({reason}); its last log lines:\n{log_tail}") from None
    report(f"  {process.name} {process.version} is up")


@contextmanager
def lifecycle_lock(data_dir: Path) -> Iterator[None]:
    """Allow one `up` or `down` of a data folder at a time; a second one waits."""
    (data_dir / "run").mkdir(parents=True, exist_ok=True, mode=0o700)
    with (data_dir / "run" / "lifecycle.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _check_ports(settings: Settings, supervisor: Supervisor) -> None:
    """Refuse a taken port before anything is started."""
    if not supervisor.running:
        end_orphans(settings.data_dir)
    ours = supervisor.pids()  # also of what is to be replaced, such as another broker
    for process in processes(settings):
        for key in process.ports:
            ports.check_free(key, settings.port(key), ours)


def check_building(settings: Settings) -> None:
    """Refuse an invalid building file before anything is changed; running processes continue."""
    check = [node_folder() / "node", ROOT / "flows" / "bin" / "building.js", "check", "--in-use", settings.building]
    done = subprocess.run([str(part) for part in check], capture_output=True, text=True, check=False)
    if done.returncode:
        raise StackError(f"{(done.stderr or done.stdout).strip()}\nNothing was changed; running processes continue")


def _check_space(settings: Settings) -> None:
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    free = shutil.disk_usage(settings.data_dir).free
    if free < DATA_SPACE_BYTES:
        room = f"{free / 2**20:.0f} MiB"
        raise StackError(f"{settings.data_dir} has only {room} free; free some space or set DATA_DIR in .env")


def _usage(pid: int) -> str:
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        memory, cpu = (sum(p.memory_info().rss for p in family), sum(sum(p.cpu_times()[:2]) for p in family))
    except psutil.Error:
        return f"pid {pid}"
    return f"pid {pid}, {memory / 2**20:.0f} MiB, {cpu:.1f} s of CPU"
