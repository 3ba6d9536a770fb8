"""A private D-Bus daemon in a temporary folder, for programs that use DBUS_SYSTEM_BUS_ADDRESS."""

import subprocess
from pathlib import Path
from types import TracebackType

_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/><allow receive_type="method_return"/>
    <allow receive_type="error"/><allow receive_type="signal"/>
    <allow send_destination="*" eavesdrop="true"/>{denial}
  </policy>
</busconfig>
"""


class PrivateBus:
    """Context manager; ``address`` is for DBUS_SYSTEM_BUS_ADDRESS. Nobody may send to the name ``denied``."""

    def __init__(self, folder: Path, denied: str = "") -> None:
        denial = f'<deny send_destination="{denied}"/>' if denied else ""
        self._config = folder / "bus.conf"
        self._config.write_text(_CONFIG.format(socket=folder / "bus", denial=denial))
        self.address = f"unix:path={folder / 'bus'}"
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "PrivateBus":
        self._process = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self._config}", "--nofork", "--nosyslog", "--print-address"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline(), "dbus-daemon did not start"  # it prints once it listens
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.communicate(timeout=10)
