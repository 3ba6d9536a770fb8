"""Installation on a Pi: the wheel in a new environment, and the systemd unit."""

import configparser
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from gateway_agent import config

HERE = Path(__file__).resolve().parents[1]
UNIT = HERE / "systemd" / "sda-gateway-agent.service"


def run(*command: str | Path) -> str:
    """Output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_wheel_installs_with_pip_and_shows_help(tmp_path: Path) -> None:
    source, environment = tmp_path / "source", tmp_path / "venv"
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("tests", "bench", "dist", "__pycache__"))
    run(getattr(sys, "_base_executable", sys.executable), "-m", "venv", environment)
    pip = (environment / "bin" / "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, source)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    run(*pip, "install", wheel)
    assert "examples:" in run(environment / "bin" / "gateway-agent", "--help")
    run(
        environment / "bin" / "python",
        "-c",
        "import gateway_agent.agent, gateway_agent.doctor, gateway_agent.scan_table",
    )
    shared = environment / "share" / "sda-gateway-agent"
    assert {path.name for path in shared.iterdir()} == {UNIT.name, "config.example.toml", "README.md"}
    with zipfile.ZipFile(wheel) as content:
        assert not [name for name in content.namelist() if "test" in name]


def test_the_example_configuration_is_complete_but_for_the_password_file() -> None:
    settings = config.load(HERE / "systemd" / "config.example.toml", {})
    assert settings.broker.password_file == "/etc/sda-gateway-agent/password"


def test_the_unit_fits_the_agent() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(UNIT.read_text())
    service = unit["Service"]
    assert service["Type"] == "notify"
    assert service["ExecStart"].endswith("gateway-agent run")
    assert int(service["WatchdogSec"]) >= 90  # half of it exceeds the minute after which the agent counts as hung
    assert service["Restart"] == "always"
    assert service["RestartPreventExitStatus"] == "2"  # invalid configuration, see test_commands.py
    assert "adjtimex" in service["SystemCallFilter"]
    assert "ProtectClock" not in service


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/sda-gateway-agent/bin/gateway-agent", "/bin/true"))
    run("systemd-analyze", "verify", unit)
    run("systemd-analyze", "security", "--offline=true", "--threshold=35", unit)
