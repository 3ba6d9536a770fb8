"""A private container engine: its daemon on a socket of its own, and nothing of it left behind afterwards."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from stack.wait import wait_for

from . import packages
from .cache import CACHE
from .packages import NoEngineError

STORES = ("classic", "containerd")
"""How an engine keeps images; which it does is a setting of the machine."""
START_WITHIN_S, STOP_WITHIN_S = 60.0, 90.0
RUN, NAME = Path("/run"), "sda-engine-"
"""Where an engine's socket and pid file are: a folder with the process id of who runs it."""
TRACES = tuple(map(Path, ("/run/docker", "/run/containerd", "/opt/containerd")))
"""Folders that an engine makes wherever its own lie."""
FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
MARKED = re.compile(r"\b(docker|br-)", re.IGNORECASE)
"""Rules and chains that an engine makes name one or the other."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine: how to reach it."""

    environment: dict[str, str]
    """What `docker` needs, over the caller's own environment."""
    restart: Callable[[], None]
    """The daemon ends and begins anew, as on an update of it; containers follow their policy."""
    private: bool
    """Then no registry answers, and the pinned images are stand-ins."""

    def docker(self, *arguments: object, check: bool = True) -> str:
        """What a `docker` command prints."""
        command = ["docker", *map(str, arguments)]
        done = subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True,
                              check=False)  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout


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
    """Run an engine for the length of the block; what it has built stays in the cache, its traces on the machine go.

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
    """End the daemon whose process id stands in its folder, and wait until it has ended."""
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
    """Whether somebody runs a private engine; a second one waits."""
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
    """Take away the engine's firewall rules, bridges and mounts."""
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
