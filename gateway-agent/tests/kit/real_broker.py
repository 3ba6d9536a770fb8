"""A real Mosquitto with the repository's own broker configuration, in a temporary folder on free ports."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from unused_ports import unused_ports
from waiting import eventually

BROKER = Path(__file__).resolve().parents[3] / "broker"
PASSWORDS = {"telegraf": "telegraf-secret", "nodered": "nodered-secret", "simulator": "simulator-secret"}


class Broker:
    """Context manager. ``port`` is without TLS, ``tls_port`` with; ``ca`` is the file to trust."""

    def __init__(self, folder: Path) -> None:
        self.port, self.tls_port = unused_ports(2)
        self.data = folder / "mosquitto"
        self.ca = self.data / "tls" / "ca.crt"
        self._log = folder / "mosquitto.log"
        self._process: subprocess.Popen[bytes] | None = None
        environment = {**os.environ, **{f"MQTT_{name.upper()}_PASSWORD": word for name, word in PASSWORDS.items()}}
        environment["MQTT_SERVICES_OUTSIDE"] = "yes"  # tests use the flows' account several times at once
        ports = ["--port", str(self.port), "--tls-port", str(self.tls_port), "--tls-bind", "127.0.0.1"]
        self._script("provision.py", *ports, environment=environment)

    def __enter__(self) -> "Broker":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self.stop()

    def add_account(self, kind: str, account: str) -> str:
        """Make an account (or a new password) and let a running broker reload; returns the password."""
        listed = self._script("accounts.py", "list")
        verb = ["rotate", account] if re.search(rf"\b{re.escape(account)}\b", listed) else ["add", kind, account]
        password = self._script("accounts.py", *verb).split()[-1]
        if self._process is not None and self._process.poll() is None:
            self.reload()
        return password

    def start(self) -> None:
        """Start (again) with the same data folder, and wait until it listens."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["mosquitto", "-c", str(BROKER / "mosquitto.conf")], cwd=self.data, stdout=log, stderr=log
            )
        eventually(self._listens, 20, self.log)

    def stop(self) -> None:
        """Stop cleanly."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait(20)

    def kill(self) -> None:
        """SIGKILL: unsaved state is lost."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(20)

    def freeze(self) -> None:
        """SIGSTOP: connections stay open without answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Continue after `freeze`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def save(self) -> None:
        """Make the broker save its snapshot, and wait for it. It saves every 30 s otherwise."""
        assert self._process is not None
        snapshot = self.data / "mosquitto.db"
        before = snapshot.stat().st_mtime_ns if snapshot.exists() else 0
        self._process.send_signal(signal.SIGUSR1)
        eventually(lambda: snapshot.exists() and snapshot.stat().st_mtime_ns > before, 10)

    def reload(self) -> None:
        """Re-read accounts and rights."""
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)

    def log(self) -> str:
        """The broker's log."""
        return self._log.read_text()

    def _listens(self) -> bool:
        try:
            for port in (self.port, self.tls_port):
                socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True

    def _script(self, name: str, *arguments: str, environment: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            [sys.executable, str(BROKER / name), "--data", str(self.data), *arguments],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, f"{name} {arguments}: {done.stdout}{done.stderr}"
        return done.stdout
