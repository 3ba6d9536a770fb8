"""The command line behind the Makefile."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from . import checks, extras, install
from .errors import StackError
from .extras import Command
from .layout import ROOT, node_folder
from .lifecycle import down, status, up
from .pipeline import wait_until_healthy, wait_until_located
from .settings import Settings, keep_broker, load


def main() -> int:
    """Run one command; a StackError becomes a message and exit code 2."""
    parser = argparse.ArgumentParser(prog="native/stack", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    known = {**COMMANDS, **extras.commands()}
    for name, one in known.items():
        commands.add_parser(name, help=one.help)
    command, rest = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if command not in known or not known[command].own_arguments:
        command, rest = parser.parse_args().command, []
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: what it has started ends with it
    try:
        return known[command].run(rest)
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `make status | head`
        return 1


def _up(_: list[str]) -> int:
    settings = load()
    install.install([*settings.broker.parts(), *install.wanted_parts()])
    keep_broker(settings)
    settings = up(settings)
    wait_until_healthy(settings)
    settings.broker.save(settings)
    located = wait_until_located(settings)
    if settings.env_file == ROOT / ".env":
        (ROOT / ".native").touch()  # stay native, even if an engine is installed later
    print(f"""
The whole pipeline is up.
  dashboard  {settings.http_url}/dashboard   user {settings["SDA_ADMIN_USER"]}, password: SDA_ADMIN_PASSWORD in .env
{_https_line(settings)}  history    {settings.http_url}/extractbeacon?staff_id=0&start_time=…&end_time=…
  health     {settings.http_url}/health
  broker     MQTT on 127.0.0.1:{settings["MQTT_PORT"]}; over TLS for gateways and phones: {settings["MQTTS_PORT"]}
Next: your own building: make building ARGS='from-list beacons.csv', or the dashboard's first steps
      make status, make logs, make down""")
    if not located:
        print("Readings of the past are still being located; until then questions about them are answered 503.")
    if not settings.demo:
        print("The demo is off: SIM=0, or the building is your own. SIM=1 in .env turns it on.")
    return 0


def _https_line(settings: Settings) -> str:
    """The output line about HTTPS, empty without HTTPS."""
    if not settings["HTTPS_PORT"]:
        return ""
    authority = settings.data_dir / "broker" / "tls" / "ca.crt"
    trust = "" if settings["HTTPS_CERT"] else f", with the authority {authority}"
    return f"  HTTPS      port {settings['HTTPS_PORT']}, for callers from elsewhere{trust}\n"


def _down(_: list[str]) -> int:
    settings = load()
    down(settings)
    print(f"everything is stopped; the data stay in {settings['DATA_DIR']}")
    return 0


def _status(_: list[str]) -> int:
    lines, all_up = status(load())
    print("\n".join(lines))
    return 0 if all_up else 1


def _logs(_: list[str]) -> int:
    logs = sorted((load().data_dir / "logs").glob("*.log"))
    if not logs:
        raise StackError("there are no logs yet; start the services with make up")
    os.execvp("tail", ["tail", "-n", "20", "-F", *map(str, logs)])


def _clean(rest: list[str]) -> int:
    settings = load()
    folders = [settings.data_dir / name for name in DATA_FOLDERS]
    size = sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
    print(
        f"This stops everything and deletes {settings.data_dir} ({size / 2**20:.0f} MiB: history, accounts) and .env."
    )
    if "--yes" not in rest and (not sys.stdin.isatty() or input("Type yes to continue: ") != "yes"):
        print("nothing was deleted (without a terminal: make clean YES=1)")
        return 1
    down(settings)
    for folder in folders:  # only our own folders
        shutil.rmtree(folder, ignore_errors=True)
    if not any(settings.data_dir.iterdir()):
        settings.data_dir.rmdir()
    settings.env_file.unlink(missing_ok=True)
    if settings.env_file == ROOT / ".env":
        (ROOT / ".native").unlink(missing_ok=True)
    print("deleted")
    return 0


def _install(_: list[str]) -> int:
    install.install([*install.run_parts(), *install.test_parts()])
    return 0


def _install_all() -> None:
    _install([])
    install.install(part for one in extras.extras().values() for part in one.test_parts())


def _account(rest: list[str]) -> int:
    settings = load()
    broker = settings.data_dir / "broker"
    command: list[str | Path] = [sys.executable, ROOT / "broker" / "accounts.py", "--data", broker, *rest]
    return subprocess.run(command, check=False).returncode


def _check(_: list[str]) -> int:
    _install_all()
    return checks.check()


def _yardsticks(_: list[str]) -> int:
    _install([])
    return checks.yardsticks()


def _test(rest: list[str]) -> int:
    _install([])
    return checks.test(rest)


def _test_extras(rest: list[str]) -> int:
    _install_all()
    return checks.test_extras(rest)


def _test_compose(rest: list[str]) -> int:
    if not checks.has_engine():
        _install([])  # a private engine uses the native programs
    return checks.test_compose(rest)


def _test_compose_extras(rest: list[str]) -> int:
    _install_all()
    return checks.test_compose_extras(rest)


def _page_figures(rest: list[str]) -> int:
    _install([])
    return checks.page_figures(rest)


def _chaos(rest: list[str]) -> int:
    install.install(install.run_parts())
    return checks.chaos(rest)


def _fuzz(rest: list[str]) -> int:
    install.install(install.run_parts())
    return checks.fuzz(rest)


def _accuracy(rest: list[str]) -> int:
    install.install(install.flows_parts())
    return checks.accuracy(rest)


def _rebuild(rest: list[str]) -> int:
    settings = load()
    command: list[str | Path] = [node_folder() / "node", ROOT / "flows" / "bin" / "rebuild.js", *rest]
    environment = {**os.environ, **{key: settings[key] for key in ("HTTP_PORT", "SDA_API_KEY")}}
    return subprocess.run(command, env=environment, check=False).returncode


def _building(rest: list[str]) -> int:
    command: list[str | Path] = [node_folder() / "node", ROOT / "flows" / "bin" / "building.js", *rest]
    environment = {**os.environ, "SDA_BUILDING": str(load().building)}
    return subprocess.run(command, env=environment, check=False).returncode


def _key(rest: list[str]) -> int:
    command: list[str | Path] = [node_folder() / "node", ROOT / "flows" / "bin" / "key.js", *rest]
    environment = {**os.environ, "SDA_USER_DIR": str(load().data_dir / "node-red")}
    return subprocess.run(command, env=environment, check=False).returncode


def _simulator(rest: list[str]) -> int:
    program = Path(sys.executable).with_name("simulator")
    settings = load()
    environment = {**os.environ, **{key: value for key, value in settings.values.items() if key in SIMULATOR_KEYS}}
    os.execve(program, [str(program), *rest], environment)


DATA_FOLDERS = ("broker", "erasures", "influxdb", "influxdb-2", "ingest", "logs", "node-red", "run", "spool", "spool-2")
"""Folders that `up` makes below the data folder."""
SIMULATOR_KEYS = {"MQTT_PORT", "MQTT_SIMULATOR_PASSWORD", "HTTP_PORT", "SDA_API_KEY"}
COMMANDS: dict[str, Command] = {
    "up": Command(_up, "install what is missing, start everything, wait until it is healthy"),
    "down": Command(_down, "stop everything, keep the data"),
    "status": Command(_status, "health and version of each part, one line each"),
    "logs": Command(_logs, "follow all logs"),
    "clean": Command(_clean, "delete data and secrets (asks first)", own_arguments=True),
    "install": Command(_install, "install everything for running and testing"),
    "account": Command(
        _account, "add, list, rotate or remove a gateway's or phone's broker account", own_arguments=True
    ),
    "building": Command(
        _building, "make a building of an installer's list of beacons, or check it", own_arguments=True
    ),
    "key": Command(_key, "add, list or revoke a key for the HTTP API", own_arguments=True),
    "rebuild": Command(_rebuild, "locate a time again from the stored readings: FROM [TO]", own_arguments=True),
    "simulator": Command(
        _simulator, "simulate SDAs, a recorded walk or HACS against the running stack", own_arguments=True
    ),
    "check": Command(_check, "linters, type checkers, validation of the configuration"),
    "yardsticks": Command(_yardsticks, "what there is of everything that this repository wants less of"),
    "page-figures": Command(
        _page_figures, "how soon a marker moves in a browser, and the page's memory", own_arguments=True
    ),
    "chaos": Command(_chaos, "kill services at random under load, prove that nothing is lost", own_arguments=True),
    "fuzz": Command(_fuzz, "almost valid messages through both parsers, which must take the same", own_arguments=True),
    "accuracy": Command(_accuracy, "how often the room is right, on recorded and simulated walks", own_arguments=True),
    "test-compose": Command(
        _test_compose, "the containers on a real engine, its own or a private one", own_arguments=True
    ),
    "test-compose-extras": Command(
        _test_compose_extras, "the same for the containers of the extras", own_arguments=True
    ),
    "test": Command(_test, "all tests of the core, against real services on free ports", own_arguments=True),
    "test-extras": Command(_test_extras, "all tests of the extras", own_arguments=True),
}

if __name__ == "__main__":
    sys.exit(main())
