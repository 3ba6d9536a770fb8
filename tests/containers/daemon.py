"""A private container engine: a daemon on its own socket, with complete clean-up."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from stack.wait import wait_for

from . import packages
from .cache import CACHE
from .packages import NoEngineError

STORES = ("classic", "containerd")
"""Kinds of image store of an engine; the machine's configuration decides."""
START_WITHIN_S, STOP_WITHIN_S = 60.0, 90.0
RUN, NAME = Path("/run"), "sda-engine-"
"""Folder of an engine's socket and pid file, named by the process id of its runner."""
TRACES = tuple(map(Path, ("/run/docker", "/run/containerd", "/opt/containerd")))
"""Folders that an engine always makes at fixed places."""
FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
MARKED = re.compile(r"\b(docker|br-)", re.IGNORECASE)
"""Markers in the firewall rules and chains of an engine."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine and its address."""

    environment: dict[str, str]
    """Environment variables for `docker`."""
    restart: Callable[[], None]
    """Restart the daemon, as an update does; containers follow their restart policy."""
    private: bool
    """A private engine: no registry, and substitutes for the pinned images."""

    def docker(self, *arguments: object, check: bool = True) -> str:
        """Run a `docker` command; returns its output."""
        command = ["docker", *map(str, arguments)]
        done = subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True,
                              check=False)  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def unhealthy_logs(self, project: str) -> str:
        """The last lines of each container of a Compose project that is not healthy, or has failed, with its name."""
        label = f"label=com.docker.compose.project={project}"
        listed = self.docker("ps", "--all", "--filter", label, "--format", "{{.Names}}\t{{.Status}}", check=False)
        found = [line.partition("\t") for line in listed.splitlines()]
        return "\n".join(
            f"--- {name}: {status}\n{self.docker_log(name)}"
            for name, _, status in found
            if not re.search(r"\(healthy\)|^Exited \(0\)|^Up [^(]*$", status)
        )

    def docker_log(self, container: str) -> str:
        """The last lines of a container."""
        command = ["docker", "logs", "--tail", "40", container]
        return subprocess.run(command, env={**os.environ, **self.environment}, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout  # fmt: skip


def run_in_group(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    within_s: float,
    stderr: int = subprocess.STDOUT,
) -> subprocess.CompletedProcess[str]:
    """Run a command; `stdout` has all output, as on a screen, unless `stderr` is PIPE.

    Who is interrupted ends all that the command has started.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
    ) as process:
        try:
            printed, errors = process.communicate(timeout=within_s)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(list(command), process.returncode, printed, errors)


def own_of_machine() -> Engine | None:
    """The engine that this machine runs, if one answers."""
    if shutil.which("docker") is None:
        return None
    answers = subprocess.run(["docker", "version"], capture_output=True, check=False).returncode == 0
    return Engine({}, _restart_of_machine, private=False) if answers else None


def _restart_of_machine() -> None:
    subprocess.run(["sudo", "-n", "systemctl", "restart", "docker"], check=True)


@contextmanager
def private_engine(store: str) -> Iterator[Engine]:
    """Run an engine during the block; built images stay in the cache, everything else is cleaned up.

    Args:
        store: one of STORES.

    Raises:
        NoEngineError: where none can be had.
    """
    if own_of_machine():
        raise NoEngineError("this machine runs an engine; a second one would share its firewall rules")
    environment = packages.environment(programs := packages.fetch())
    root, run = CACHE / f"data-{store}", RUN / f"{NAME}{os.getpid()}"
    log = CACHE / f"dockerd-{store}.log"
    environment |= {"DOCKER_HOST": f"unix://{run}/docker.sock", "DOCKER_CONFIG": str(programs), "DOCKER_BUILDKIT": "1"}
    with _only_one(), log.open("w") as output:
        forwarding = FORWARDING.read_text()
        for left in RUN.glob(f"{NAME}*"):  # by a run that was killed
            _end_left(left)
            _clean(environment, left, forwarding)
        run.mkdir(mode=0o700)
        traces = [folder for folder in TRACES if not folder.exists()]
        daemons: list[subprocess.Popen[bytes]] = []

        def start() -> None:
            daemon = subprocess.Popen(_command(store, root, run), env={**os.environ, **environment}, stdout=output,
                                      stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
            daemons[:] = [daemon]
            wait_for(lambda: daemon.poll() is not None or _answers(engine), START_WITHIN_S, "the engine")
            if daemon.poll() is not None:
                raise NoEngineError(f"dockerd does not start: {log.read_text()[-1500:]}")

        def restart() -> None:
            _stop(daemons[0])
            start()

        engine = Engine(environment, restart, private=True)
        try:
            start()
            _remove_containers(engine)  # of a run that was killed
            yield engine
        finally:
            _remove_containers(engine)
            _stop(daemons[0])
            _clean(environment, run, forwarding)
            for folder in traces:
                shutil.rmtree(folder, ignore_errors=True)


def _end_left(run: Path) -> None:
    """Stop the daemon of the folder's process id and wait for its end."""
    with suppress(OSError, ValueError, psutil.Error):
        daemon = psutil.Process(int((run / "docker.pid").read_text()))
        if str(run) in " ".join(daemon.cmdline()):
            daemon.terminate()
            daemon.wait(STOP_WITHIN_S)


def _command(store: str, root: Path, run: Path) -> list[str]:
    kept = {"builder": {"gc": {"enabled": True, "defaultKeepStorage": "4GB"}}}
    (run / "daemon.json").write_text(json.dumps(kept))
    options = {
        "config-file": run / "daemon.json", "host": f"unix://{run}/docker.sock", "data-root": root,
        "exec-root": run / "exec", "pidfile": run / "docker.pid", "mtu": 1400,
        "default-address-pool": "base=172.17.0.0/16,size=24",
    }  # fmt: skip
    command = ["dockerd", *(part for key, value in options.items() for part in (f"--{key}", str(value)))]
    if store == "containerd":
        return [*command, "--feature", "containerd-snapshotter=true"]
    return [*command, "--storage-driver", "overlay2"]


def busy() -> bool:
    """Lock for a private engine; a second one waits."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "engine.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextmanager
def _only_one() -> Iterator[None]:
    """One private engine at a time: its bridge and rules are the machine's."""
    with (CACHE / "engine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _answers(engine: Engine) -> bool:
    return subprocess.run(["docker", "info"], env={**os.environ, **engine.environment}, capture_output=True,
                          check=False).returncode == 0  # fmt: skip


def _remove_containers(engine: Engine) -> None:
    with suppress(AssertionError):
        if found := engine.docker("ps", "--all", "--quiet").split():
            engine.docker("rm", "--force", "--volumes", *found)
        engine.docker("volume", "prune", "--all", "--force")
        engine.docker("network", "prune", "--force")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _clean(environment: dict[str, str], run: Path, forwarding: str) -> None:
    """Remove the engine's firewall rules, bridges and mounts."""
    whole = {**os.environ, **environment}
    for family in ("iptables", "ip6tables"):
        saved = subprocess.run([f"{family}-save"], env=whole, capture_output=True, text=True, check=False).stdout
        kept = [line for line in saved.splitlines() if not MARKED.search(line)]
        policy = [line.replace(":FORWARD DROP", ":FORWARD ACCEPT") for line in kept]
        subprocess.run([f"{family}-restore"], env=whole, input="\n".join(policy) + "\n", text=True, check=False,
                       capture_output=True)  # fmt: skip
    for link in Path("/sys/class/net").iterdir():
        if link.name == "docker0" or re.fullmatch(r"br-[0-9a-f]{12}", link.name):
            subprocess.run(["ip", "link", "delete", link.name], check=False, capture_output=True)
    FORWARDING.write_text(forwarding)
    deadline = time.monotonic() + 10
    while (mounts := _mounts_below(run)) and time.monotonic() < deadline:
        for mount in mounts:
            subprocess.run(["umount", "--lazy", mount], check=False, capture_output=True)
    shutil.rmtree(run, ignore_errors=True)


def _mounts_below(folder: Path) -> list[str]:
    points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    return sorted((point for point in points if point.startswith(f"{folder}/")), reverse=True)
