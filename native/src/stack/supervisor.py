"""Runs supervisord: its configuration, its start, its XML-RPC interface."""

import hashlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import xmlrpc.client
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from supervisor.xmlrpc import SupervisorTransport

from .errors import StackError
from .orphans import MARK, end_orphans, mark
from .process import Process
from .wait import wait_for

INHERITED = ("PATH", "HOME", "LANG", "TZ", "SSL_CERT_FILE")
"""The only variables of the operator's environment that processes get; each has only its own secrets."""
MAX_OPEN_FILES = 20_000
"""Per process: enough for 8,000 receivers at the broker and more simulated ones."""
BAD_NAME, NOT_RUNNING, ALREADY_STARTED, SPAWN_ERROR = 10, 70, 60, 50
"""Fault codes of supervisord's XML-RPC interface."""


class Supervisor:
    """The supervisord of one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._run, self._logs, self._mark = data_dir / "run", data_dir / "logs", mark(data_dir)
        self._conf = self._run / "supervisord.conf"
        # A Unix socket's path is limited to 107 characters; a data folder's path may be longer.
        name = f"sda-{os.getuid()}-{hashlib.sha256(str(data_dir.resolve()).encode()).hexdigest()[:12]}.sock"
        self._socket = Path(tempfile.gettempdir()) / name

    @property
    def running(self) -> bool:
        try:
            self._call("getState")
        except (OSError, xmlrpc.client.ProtocolError):
            return False
        return True

    def log_file(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def apply(self, processes: Iterable[Process]) -> None:
        """Configure exactly these processes; changed and removed ones are stopped."""
        for folder in (self._run, self._logs):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._conf.touch(mode=0o600)
        self._conf.write_text(self._render(list(processes)))
        if not self.running:
            self._launch()
            return
        added, changed, removed = cast("tuple[list[str], list[str], list[str]]", self._call("reloadConfig")[0])
        for name in [*changed, *removed]:
            with suppress(xmlrpc.client.Fault):
                self._call("stopProcessGroup", name)
            self._call("removeProcessGroup", name)
        for name in [*added, *changed]:
            self._call("addProcessGroup", name)

    def start(self, name: str, *, wait: bool = True) -> None:
        """Start a process; no effect if it runs. `wait`: until it has run for a second."""
        try:
            self._call("startProcess", name, wait)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode != ALREADY_STARTED:
                raise StackError(f"{name} does not start; its last log lines:\n{self.tail(name)}") from None

    def stop(self, name: str) -> None:
        """Stop a process cleanly and wait for its end; no effect if it does not run."""
        try:
            self._call("stopProcess", name)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode != NOT_RUNNING:
                raise

    def signal(self, name: str, number: signal.Signals) -> None:
        self._call("signalProcess", name, str(int(number)))

    def info(self, name: str) -> dict[str, Any]:
        """supervisord's state, pid and start time of a process; empty if unknown."""
        try:
            return cast("dict[str, Any]", self._call("getProcessInfo", name))
        except (xmlrpc.client.Fault, OSError):
            return {}

    def pids(self) -> set[int]:
        """Process ids of all that it runs."""
        try:
            infos = cast("list[dict[str, Any]]", self._call("getAllProcessInfo"))
        except (xmlrpc.client.Fault, OSError):
            return set()
        return {int(info["pid"]) for info in infos if info.get("pid")}

    def tail(self, name: str, lines: int = 20) -> str:
        log = self.log_file(name)
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else "(no log yet)"

    def shut_down(self) -> None:
        """Stop everything, last started first, and wait until supervisord has ended."""
        if not self.running:
            end_orphans(self._run.parent)
            return
        pid = cast("int", self._call("getPID"))
        self._call("shutdown")
        wait_for(lambda: not Path(f"/proc/{pid}").exists() if Path("/proc").exists() else not self.running,
                 within_s=90, what="the end of supervisord")  # fmt: skip

    def _launch(self) -> None:
        end_orphans(self._run.parent)
        environment = {key: os.environ[key] for key in INHERITED if key in os.environ}
        command = [sys.executable, "-m", "supervisor.supervisord", "-c", str(self._conf)]
        started = subprocess.run(command, env=environment, cwd=self._run, capture_output=True, text=True, check=False)
        if started.returncode:
            raise StackError(f"supervisord does not start: {started.stdout}{started.stderr}".strip())
        wait_for(lambda: self.running, within_s=15, what="supervisord")

    def _call(self, method: str, *arguments: str | bool) -> Any:
        transport = SupervisorTransport(None, None, f"unix://{self._socket}")
        try:
            proxy = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)
            return getattr(proxy.supervisor, method)(*arguments)
        finally:
            transport.close()

    def _render(self, processes: list[Process]) -> str:
        sections = [
            "[unix_http_server]", f"file={_escaped(self._socket)}", "chmod=0700",
            "[supervisord]", f"logfile={_escaped(self._logs / 'supervisord.log')}",
            f"pidfile={_escaped(self._run / 'supervisord.pid')}", f"childlogdir={_escaped(self._logs)}", "umask=077",
            *(["user=root"] if os.geteuid() == 0 else []),
            f"minfds={open_files()}",
            "[rpcinterface:supervisor]",
            "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface",
        ]  # fmt: skip
        for number, process in enumerate(processes):
            process.directory.mkdir(parents=True, exist_ok=True)
            environment = {**process.environment, "SDA_CONFIGURATION": process.configuration, MARK: self._mark}
            sections += [
                f"[program:{process.name}]",
                f"command={' '.join(_quoted(part) for part in process.command)}",
                f"directory={_escaped(process.directory)}",
                f"environment={','.join(_assignment(key, value) for key, value in environment.items())}",
                f"priority={number}",
                "autostart=false",  # `up` starts them one by one, each when the previous one is healthy
                f"stopsignal={process.stop_signal}",
                "autorestart=true", "startsecs=1", "startretries=1000000",
                "stopasgroup=true", "killasgroup=true", f"stopwaitsecs={process.stop_within_s}",
                f"stdout_logfile={_escaped(self.log_file(process.name))}", "redirect_stderr=true",
                "stdout_logfile_maxbytes=10MB", "stdout_logfile_backups=3",
            ]  # fmt: skip
        return "\n".join(sections) + "\n"


def open_files() -> int:
    """Limit of open files, connections included, for each process; a shell's usual 1,024 is too low."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)


def _escaped(value: object, what: str = "a path") -> str:
    text = str(value)
    if any(bad in text for bad in ("\n", " ;", " #")):  # these end the line or start a comment
        raise StackError(f"{what} has a line break, ' ;' or ' #', which supervisord does not support; choose another")
    return text.replace("%", "%%")


def _quoted(value: object) -> str:
    return '"' + _escaped(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _assignment(key: str, value: str) -> str:
    """KEY="value" for supervisord's `environment`, whose parser has no escapes.

    Raises:
        StackError: for a value with a quotation mark.
    """
    if '"' in value or "'" in value:
        raise StackError(f"{key} has a quotation mark, which supervisord does not support; choose another")
    return f'{key}="{_escaped(value, key)}"'
