"""The command line behind the Makefile."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from . import campus, campus_files, checks, install, scratch
from .errors import StackError
from .layout import ROOT, node_folder
from .lifecycle import down, save_broker, status, up
from .pipeline import wait_until_healthy, wait_until_located
from .retained import clear_location
from .settings import Settings, keep_broker, load


def main() -> int:
    """Run one command; a StackError becomes a message and exit code 2."""
    parser = argparse.ArgumentParser(prog="native/stack", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (_, text) in COMMANDS.items():
        commands.add_parser(name, help=text)
    command, rest = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if command not in OWN_ARGUMENTS:  # these parse their own arguments
        command, rest = parser.parse_args().command, []
    try:
        return COMMANDS[command][0](rest)
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `make status | head`
        return 1


def _up(_: list[str]) -> int:
    settings = load()
    install.install(install.wanted_parts(settings["BROKER"]))
    keep_broker(settings)
    settings = up(settings)
    wait_until_healthy(settings)
    save_broker(settings)
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


def _account(rest: list[str]) -> int:
    settings = load()
    broker = settings.data_dir / "broker"
    command: list[str | Path] = [sys.executable, ROOT / "broker" / "accounts.py", "--data", broker, *rest]
    return subprocess.run(command, check=False).returncode


def _check(_: list[str]) -> int:
    _install([])
    return checks.check()


def _yardsticks(_: list[str]) -> int:
    _install([])
    return checks.yardsticks()


def _test(rest: list[str]) -> int:
    _install([])
    return checks.test(rest)


def _test_compose(rest: list[str]) -> int:
    if not checks.has_engine():
        _install([])  # a private engine uses the native programs
    return checks.test_compose(rest)


def _page_figures(rest: list[str]) -> int:
    _install([])
    return checks.page_figures(rest)


def _chaos(rest: list[str]) -> int:
    on_campus = rest[:1] == ["campus"]
    parts = [*install.campus_parts(on_cluster=True), *install.partition_parts()] if on_campus else install.run_parts()
    install.install(parts)
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


def _store_fill(rest: list[str]) -> int:
    settings = load()
    stores = {str(store.number): store for store in settings.stores}
    if len(stores) == 1:
        raise StackError("there is one InfluxDB only; a second one: STORES=2 make up")
    if sorted(rest) != sorted(stores):
        raise StackError("say which InfluxDB to fill from which: make store-fill FROM=1 TO=2")
    if owed := list((settings.data_dir / "erasures").glob("*.json")):
        raise StackError(
            f"{len(owed)} people are still to be erased from an InfluxDB, and would be copied: make erase lists them; "
            "run this again when nothing is owed"
        )
    source, target = (stores[number] for number in rest)
    urls = [settings.url_of("INFLUX_PORT", store) for store in (source, target)]
    tokens = {
        "FILL_FROM_TOKEN": settings[source.key("INFLUX_READ_TOKEN")],
        "FILL_TO_TOKEN": settings["INFLUX_ADMIN_TOKEN"],
    }
    command = ["nice", "-n", "19", sys.executable, str(ROOT / "influx" / "fill.py"), "--from", urls[0], "--to", urls[1]]
    return subprocess.run(command, env={**os.environ, **tokens}, check=False).returncode


def _erase(rest: list[str]) -> int:
    settings = load()
    if len(settings.stores) == 1:
        raise StackError("with one InfluxDB the commands of docs/privacy.md erase a person")
    person, *tags = " ".join(rest).split() or [""]
    what = ["ask", person, *tags] if person else ["list"]
    command: list[str | Path] = [sys.executable, ROOT / "influx" / "erase.py", "--data", settings.data_dir / "erasures"]
    code = subprocess.run([*command, *what], check=False).returncode
    if code == 0 and person:
        clear_location(settings, person)
    return code


def _building(rest: list[str]) -> int:
    command: list[str | Path] = [node_folder() / "node", ROOT / "flows" / "bin" / "building.js", *rest]
    environment = {**os.environ, "SDA_BUILDING": str(load().building)}
    return subprocess.run(command, env=environment, check=False).returncode


def _key(rest: list[str]) -> int:
    command: list[str | Path] = [node_folder() / "node", ROOT / "flows" / "bin" / "key.js", *rest]
    environment = {**os.environ, "SDA_USER_DIR": str(load().data_dir / "node-red")}
    return subprocess.run(command, env=environment, check=False).returncode


def _campus(_: list[str]) -> int:
    chosen = campus.chosen()
    sites = campus.campus_up(chosen)
    url = f"http://127.0.0.1:{chosen.port}"
    broker = (
        f"""
  broker     MQTT over TLS for gateways and phones of all sites: {chosen.cluster.mqtts_port}"""
        if chosen.cluster
        else ""
    )
    pages = "".join(f"\n  site       {name}: {one.http_url}/dashboard, {one.env_file}" for name, one in sites.items())
    print(f"""
The campus is up.
  history    {url}/extractbeacon?staff_id=0&start_time=…&end_time=…
  now        {url}/retrieveformonitoring, {url}/api/v1/staff
  health     {url}/health{broker}{pages}
Next: docs/campus.md; make campus-status; make campus-key ARGS='add hacs --right history'; make campus-down""")
    return 0


def _campus_status(_: list[str]) -> int:
    lines, all_up = campus.campus_status(campus.chosen())
    print("\n".join(lines))
    return 0 if all_up else 1


def _campus_down(_: list[str]) -> int:
    campus.campus_down()
    print(f"the entry, all sites and the broker are stopped; the data stay in {campus.FOLDER}")
    return 0


def _campus_key(rest: list[str]) -> int:
    done = campus.key_command(campus.FOLDER / "entry", rest)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def _campus_files(_: list[str]) -> int:
    names = campus_files.campus_files(campus_files.chosen())
    folder, listed = campus_files.FOLDER, "\n".join(f"  {name}" for name in names)
    print(f"""A folder for each host is in {folder}; copy it there, then in it: docker compose up --detach --wait
{listed}
Never copy {folder / campus_files.OPERATOR}: it has the keys of the authorities. Keep a backup of it.
Next: docs/campus-compose.md""")
    return 0


def _simulator(rest: list[str]) -> int:
    program = Path(sys.executable).with_name("simulator")
    settings = load()
    environment = {**os.environ, **{key: value for key, value in settings.values.items() if key in SIMULATOR_KEYS}}
    os.execve(program, [str(program), *rest], environment)


def _lab(rest: list[str]) -> int:
    install.install(install.run_parts())
    program = Path(sys.executable).with_name("simulator")
    os.execv(program, [str(program), "lab", *(rest or ["list"])])


DATA_FOLDERS = ("broker", "erasures", "influxdb", "influxdb-2", "ingest", "logs", "node-red", "run", "spool", "spool-2")
"""Folders that `up` makes below the data folder."""
SIMULATOR_KEYS = {"MQTT_PORT", "MQTT_SIMULATOR_PASSWORD", "HTTP_PORT", "SDA_API_KEY"}
OWN_ARGUMENTS = {
    "account",
    "building",
    "key",
    "rebuild",
    "store-fill",
    "erase",
    "simulator",
    "clean",
    "test",
    "test-compose",
    "page-figures",
    "chaos",
    "fuzz",
    "accuracy",
    "lab",
    "scratch",
    "campus-key",
}
COMMANDS: dict[str, tuple[Callable[[list[str]], int], str]] = {
    "up": (_up, "install what is missing, start everything, wait until it is healthy"),
    "down": (_down, "stop everything, keep the data"),
    "status": (_status, "health and version of each part, one line each"),
    "logs": (_logs, "follow all logs"),
    "clean": (_clean, "delete data and secrets (asks first)"),
    "install": (_install, "install everything for running and testing"),
    "account": (_account, "add, list, rotate or remove a gateway's or phone's broker account"),
    "building": (_building, "make a building of an installer's list of beacons, or check it"),
    "key": (_key, "add, list or revoke a key for the HTTP API"),
    "rebuild": (_rebuild, "locate a time again from the stored readings: FROM [TO]"),
    "erase": (_erase, "erase a person from two InfluxDBs: PERSON TAG …; without: what is owed"),
    "store-fill": (_store_fill, "copy into one of two InfluxDBs what the other has: FROM TO"),
    "simulator": (_simulator, "simulate SDAs, a recorded walk or HACS against the running stack"),
    "campus": (_campus, "several sites, their broker and the campus entry on this machine"),
    "campus-status": (_campus_status, "health and version of each part of these"),
    "campus-down": (_campus_down, "stop them, keep their data"),
    "campus-key": (_campus_key, "keys for the campus entry: add, list, revoke"),
    "campus-files": (_campus_files, "a folder for each host of a campus in containers"),
    "lab": (_lab, "the load laboratory: list, run, compare, report, page"),
    "scratch": (scratch.main, "a stack of its own in a new folder, until standard input ends"),
    "check": (_check, "linters, type checkers, validation of the configuration"),
    "yardsticks": (_yardsticks, "what there is of everything that this repository wants less of"),
    "page-figures": (_page_figures, "how soon a marker moves in a browser, and the page's memory"),
    "chaos": (_chaos, "kill services at random under load, prove that nothing is lost"),
    "fuzz": (_fuzz, "almost valid messages through both parsers, which must take the same"),
    "accuracy": (_accuracy, "how often the room is right, on recorded and simulated walks"),
    "test-compose": (_test_compose, "the containers on a real engine, its own or a private one"),
    "test": (_test, "all tests, against real services on free ports"),
}

if __name__ == "__main__":
    sys.exit(main())
