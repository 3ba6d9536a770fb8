"""The commands of `make check` and `make test`."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .extras import Check, Part, extras
from .install import mosquitto_folder, print_line, telegraf_program
from .layout import ROOT, cache_dir, compose_program, node_folder

SHELL_SCRIPTS = (
    "native/stack",
    "native/env.sh",
    "native/demo.sh",
    "native/bridge.sh",
    "native/building.sh",
    "native/compose",
    "native/derived.sh",
    "native/mode.sh",
    "native/value.sh",
    "influx/tokens.sh",
    "broker/run.sh",
    "native/build/influxd/rustc-cap-lints",
    "ingest/start",
    ".ci/run",
    "native/network.sh",
)
PLACEHOLDERS = {
    "INFLUX_WRITE_TOKEN": "x", "INFLUX_READ_TOKEN": "x", "SPOOL_URL": "http://127.0.0.1:8087",
    "MQTT_URL": "tcp://127.0.0.1:1883", "MQTT_TELEGRAF_PASSWORD": "x", "TELEGRAF_HEALTH_URL": "http://127.0.0.1:8088",
    "READINGS_ADDRESS": "tcp://127.0.0.1:8089",
}  # fmt: skip
"""Values for validating a configuration without an installation."""
SERVER = "gateway-agent/tests/kit/http_server.py"
"""What tests of several folders answer HTTP with."""
NOT_WITH_SYSTEM = (
    "accuracy",
    "containers",
    "dashboard",
    "faults",
    "system/test_api_schemathesis.py",
)
WITH_SETUP_PAGE = "test_alerts.py"
WITH_DASHBOARD = "test_dropped_by_broker.py"
NOT_WITH_FAULTS = ("test_chaos.py", WITH_DASHBOARD, WITH_SETUP_PAGE)
"""Parts of `tests` that run apart from the rest, so that all lanes take about the same time."""
TEST_PATHS = ("tests", "gateway-agent/tests/kit", "ingest/spool")
FIRST_TEST_PORT, PORTS_OF_A_LANE = 20_000, 2000
_running: "set[subprocess.Popen[bytes]]" = set()
"""What runs now."""
_stopped = threading.Event()
"""Whether the lanes are to begin nothing more."""


def check() -> int:
    """Run linters, type checkers and configuration validation. After a failure the others run too."""
    venv = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        env_file = Path(folder) / ".env"
        subprocess.run(["sh", ROOT / "native" / "env.sh", env_file], check=True)
        registry = Path(folder) / "registry"
        write = [node_folder() / "node", ROOT / "flows/bin/registry.js", ROOT / "flows/building/demo.json", registry]
        subprocess.run(write, check=True, stdout=subprocess.DEVNULL)
        telegraf = {**PLACEHOLDERS, "SDA_INGEST_DIR": str(ROOT / "ingest"), "SDA_REGISTRY_DIR": str(registry)}
        compose = {**PLACEHOLDERS, "COMPOSE_PROFILES": "demo"}
        commands: list[Check] = [
            ("ruff", [venv / "ruff", "check", "--quiet", "."], {}),
            ("ruff format", [venv / "ruff", "format", "--check", "--quiet", "."], {}),
            ("mypy native", [venv / "mypy", "native/src", "native/tests", SERVER], {}),
            ("mypy simulator", [venv / "mypy", "simulator/src", "simulator/tests", SERVER], {}),
            ("mypy gateway-agent", [venv / "mypy", "gateway-agent/src", "gateway-agent/tests"], {}),
            ("mypy broker, influx, ingest, tests", [venv / "mypy", "broker", "influx", "ingest/spool", "tests",
                                            "gateway-agent/tests/kit"], {}),
            ("patterns of Python and schemas", [venv / "python", "-m", "stack.patterns"], {}),
            ("flows", ["npm", "run", "--silent", "--prefix", "flows", "check"], {}),
            ("shellcheck", ["shellcheck", "-x", *SHELL_SCRIPTS], {}),
            ("telegraf config", [telegraf_program(), "config", "check", "--config", "ingest/telegraf.conf",
                                 "--config-directory", "ingest/telegraf.d",
                                 "--config", registry / "registry.conf"], telegraf),
            ("compose config", [compose_program(), "--env-file", env_file, "config", "--quiet"], compose),
        ]  # fmt: skip
        commands += [one for extra in extras().values() for one in extra.checks(env_file)]
        return _run_all(commands, quiet=True)


def test(arguments: list[str]) -> int:
    """Run unit, property and system tests of every folder, in parallel lanes, since many of them wait.

    Args:
        arguments: if there are any, pytest runs with them instead of the lanes.
    """
    pytest = str(Path(sys.executable).parent / "pytest")
    if arguments:
        return _wait(subprocess.Popen([pytest, *arguments], cwd=ROOT, env=_environment({})))
    engines, no_engine = _engines()
    lanes: list[list[Part]] = [
        [
            ("dashboard", [pytest, "-q", "tests/dashboard", "--ignore=tests/dashboard/test_setup.py"]),
            ("a full queue of the flows", [pytest, "-q", f"tests/faults/{WITH_DASHBOARD}"]),
        ],
        [
            ("system", [pytest, "-q", "tests", *(f"--ignore=tests/{part}" for part in NOT_WITH_SYSTEM)]),
        ],
        [
            ("faults", [pytest, "-q", "tests/faults", *(f"--ignore=tests/faults/{part}" for part in NOT_WITH_FAULTS)]),
        ],
        [
            ("gateway-agent", [pytest, "-q", "gateway-agent/tests"]),
            ("simulator", [pytest, "-q", "simulator/tests"]),
            *([("containers", [pytest, "-q", "tests/containers/test_short.py"])] if engines else []),
        ],
        [
            ("accuracy", [pytest, "-q", "tests/accuracy"]),
            ("flows", ["npm", "test", "--silent", "--prefix", "flows"]),
            ("chaos", [pytest, "-q", "tests/faults/test_chaos.py"]),
        ],
        [
            ("generated requests", [pytest, "-q", "tests/system/test_api_schemathesis.py"]),
            ("set-up page", [pytest, "-q", "tests/dashboard/test_setup.py"]),
            ("alerts", [pytest, "-q", f"tests/faults/{WITH_SETUP_PAGE}"]),
            ("native", [pytest, "-q", "native/tests"]),
        ],
    ]

    failed = _run_lanes(lanes)
    if no_engine:
        print_line(f"NOT RUN: containers ({no_engine}); with an engine, make test-compose runs them")
    return _verdict(failed)


def test_extras(arguments: list[str]) -> int:
    """Run the tests of all extras, in parallel lanes.

    Args:
        arguments: if there are any, pytest runs with them instead of the lanes.
    """
    if arguments:
        return test(arguments)
    return _verdict(_run_lanes([lane for extra in extras().values() for lane in extra.lanes()]))


def _run_lanes(lanes: Sequence[Sequence[Part]]) -> list[str]:
    """Run lanes side by side, the parts of a lane one after the other; returns the titles of failed parts."""

    def run(lane: int) -> list[str]:
        first = FIRST_TEST_PORT + lane * PORTS_OF_A_LANE
        ports = {"SDA_TEST_PORTS": f"{first}-{first + PORTS_OF_A_LANE}"}
        return [_run((title, command, ports)) for title, command in lanes[lane] if not _stopped.is_set()]

    print_line("each part shows its output when it ends; the longest take some minutes")
    with ThreadPoolExecutor(len(lanes)) as pool:
        try:
            return [title for ran in pool.map(run, range(len(lanes))) for title in ran if title]
        except BaseException:
            _stopped.set()
            _end_all()
            raise


def test_compose(arguments: list[str]) -> int:
    """Test the core's containers on this machine's own engine, else on private ones, one for each kind of image store.

    Args:
        arguments: more arguments for pytest.
    """
    return _test_containers(["tests/containers"], arguments)


def test_compose_extras(arguments: list[str]) -> int:
    """The same for the containers of the extras, on one kind of image store."""
    folders = [folder for extra in extras().values() for folder in extra.containers]
    return _test_containers(folders, arguments, most=1)


def _test_containers(folders: Sequence[str], arguments: Sequence[str], most: int | None = None) -> int:
    stores, no_engine = _engines()
    if no_engine:
        print_line(f"error: {no_engine}")
        return 2
    pytest = str(Path(sys.executable).parent / "pytest")
    command = [pytest, "-q", *folders, *arguments]
    return _run_all([(f"containers, {store}", command, {"SDA_ENGINE_STORE": store}) for store in stores[:most]])


def has_engine() -> bool:
    """Whether this machine runs a container engine."""
    docker = shutil.which("docker")
    return bool(docker) and subprocess.run([str(docker), "info"], capture_output=True, check=False).returncode == 0


def _engines() -> tuple[list[str], str]:
    """The kinds of image store to test on, and the reason if there is none."""
    command = (sys.executable, "-m", "containers", "stores")
    found = subprocess.run(command, cwd=ROOT, env=_test_environment(), capture_output=True, text=True, check=False)
    return found.stdout.split(), found.stderr.strip() if found.returncode else ""


def yardsticks() -> int:
    """Print files and lines by room, arrows between rooms and the like."""
    return subprocess.run([node_folder() / "node", ROOT / "flows/bin/rooms.js"], check=False).returncode


def page_figures(arguments: list[str]) -> int:
    """Measure the dashboard's page in a browser under load, with `arguments`."""
    return _run_package("page_figures", arguments)


def chaos(arguments: list[str]) -> int:
    """Kill services at random under load, with `arguments`."""
    return _run_package("chaos", arguments)


def accuracy(arguments: list[str]) -> int:
    """Measure how often the room is right, with `arguments`."""
    return _run_package("accuracy", arguments)


def fuzz(arguments: list[str]) -> int:
    """Compare the parsers of ingest and of the flows on mutated messages, with `arguments`."""
    return _run_package("fuzz", arguments)


def _run_package(name: str, arguments: list[str]) -> int:
    command = (sys.executable, "-m", name, *arguments)
    return _wait(subprocess.Popen(command, cwd=ROOT, env=_test_environment()))


def _test_environment() -> dict[str, str]:
    return _environment({"PYTHONPATH": f"{':'.join(str(ROOT / one) for one in TEST_PATHS)}"})


def _run_all(commands: Sequence[Check], *, quiet: bool = False) -> int:
    """Run all, even after a failure; with `quiet` only failed ones show their output."""
    return _verdict([title for one in commands if (title := _run(one, quiet=quiet))])


def _run(one: Check, *, quiet: bool = False) -> str:
    """Run one command and show its output at the end; returns its title if it failed."""
    title, command, environment = one
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=_environment(environment), stdout=output, stderr=subprocess.STDOUT
        )
        code = _wait(process)
        output.seek(0)
        shown = output.read().rstrip() if code or not quiet else ""
    verdict = f"{'FAILED' if code else 'ok    '} {title} ({time.monotonic() - started:.1f} s)"
    print_line(f"{shown}\n{verdict}" if shown else verdict)
    return title if code else ""


def _wait(process: "subprocess.Popen[bytes]") -> int:
    """The exit code. Who is interrupted ends the process and waits until it has cleaned up.

    `subprocess.run` would kill it after a quarter of a second, and leave over what it has started."""
    _running.add(process)
    try:
        return process.wait()
    except BaseException:
        _end_all()
        raise
    finally:
        _running.discard(process)


def _end_all() -> None:
    """End what runs, in all lanes, and wait for it."""
    for process in list(_running):
        process.terminate()
    for process in list(_running):
        process.wait()


def _environment(additional: Mapping[str, str]) -> dict[str, str]:
    path = f"{node_folder()}:{mosquitto_folder()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    own = {
        "PATH": path,
        "PYTHONDONTWRITEBYTECODE": "",
        "NODE_COMPILE_CACHE": str(cache_dir() / "node-compile-cache"),
    }  # the tests start hundreds of Pythons and Nodes, which their caches make faster
    return {**os.environ, **own, **additional}


def _verdict(failed: Sequence[str]) -> int:
    if failed:
        print_line(f"failed: {', '.join(failed)}")
    return 1 if failed else 0
