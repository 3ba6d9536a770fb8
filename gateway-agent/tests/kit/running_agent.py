"""Runs the real agent as a process."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from real_broker import Broker
from waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

GATEWAY = "gw-test"


def write_toml(path: Path, sections: dict[str, Any]) -> None:
    """A configuration file: plain values first, then the sections."""

    def text(value: object) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, list):
            return "[" + ", ".join(text(item) for item in value) + "]"
        return f'"{value}"' if isinstance(value, str | Path) else str(value)

    lines = [f"{name} = {text(value)}" for name, value in sections.items() if not isinstance(value, dict)]
    for section, values in sections.items():
        if isinstance(values, dict):
            lines += ["", f"[{section}]", *(f"{name} = {text(value)}" for name, value in values.items())]
    path.write_text("\n".join(lines) + "\n")


class RunningAgent:
    """Context manager; ``start`` again after ``kill`` or ``stop`` continues with the same folder."""

    def __init__(
        self, folder: Path, sections: dict[str, Any], bus_address: str, environment: dict[str, str] | None = None
    ) -> None:
        self.config = folder / "agent.toml"
        self.state = folder / "state"
        self.state.mkdir(exist_ok=True)
        write_toml(self.config, {"state_dir": self.state, **sections})
        self.environment = {
            **os.environ,
            "DBUS_SYSTEM_BUS_ADDRESS": bus_address,
            "PYTHONWARNINGS": "error",
            **(environment or {}),
        }
        self.scan_ended: Callable[[], bool] = lambda: True
        self._log = folder / "agent.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "RunningAgent":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.running:
            self.kill()
        if kind is not None:
            sys.stderr.write(f"--- the agent's log ---\n{self.log()}\n")

    def start(self) -> None:
        """Start in the background; returns at once.

        bluetoothd hears of the end of an agent a moment later: the old scan must not be taken for the new one.
        """
        eventually(self.scan_ended, 10, "the agent's scan outlives it")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gateway_agent", "run", "--config", str(self.config)],
                env=self.environment,
                stdout=log,
                stderr=log,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(20)

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(20)

    def log(self) -> str:
        """The agent's log."""
        return self._log.read_text() if self._log.exists() else ""

    def wait_for_log(self, text: str, within_s: float = 30) -> None:
        """Wait until the log contains the text."""
        eventually(lambda: text in self.log(), within_s, lambda: f"{text!r} in the log:\n{self.log()}")

    def interrupted(self) -> bool:
        """Send SIGINT, like Ctrl-C, if the process runs; returns whether it ran."""
        if self.running:
            os.kill(self.pid, signal.SIGINT)
        return self.running

    def state_text(self) -> str:
        """Content of the state file."""
        path = self.state / "state.json"
        return path.read_text() if path.exists() else ""

    def adverts(self) -> int:
        """Number of adverts in the state file."""
        found = re.search(r'"adverts": (\d+)', self.state_text())
        return int(found[1]) if found else 0

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run another command of the agent with the same configuration."""
        return subprocess.run(
            [sys.executable, "-m", "gateway_agent", *arguments, "--config", str(self.config)],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def cpu_s(self) -> float:
        """Processor seconds used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
        """Resident memory now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


class StartAgent(Protocol):
    """The fixture ``start_agent``: sections of the configuration override the defaults."""

    def __call__(self, environment: dict[str, str] | None = None, **sections: Any) -> RunningAgent:
        """Start an agent; it stops with the test."""


def make_agent(
    folder: Path, bus_address: str, broker: Broker, sections: dict[str, Any], environment: dict[str, str] | None = None
) -> RunningAgent:
    """An agent for the broker's TLS port, not started yet."""
    word = folder / "password"
    word.write_text(broker.add_account("gateway", GATEWAY))
    connection = {"host": "localhost", "port": broker.tls_port, "password_file": word, "ca_file": broker.ca}
    defaults: dict[str, Any] = {
        "id": GATEWAY,
        "health_s": 1,
        "broker": {**connection, "retry_max_s": 1},
        "clock": {"source": "trust"},
    }
    merged = {**defaults, **sections}
    for name, values in defaults.items():
        if isinstance(values, dict):
            merged[name] = {**values, **sections.get(name, {})}
    return RunningAgent(folder, merged, bus_address, environment)
