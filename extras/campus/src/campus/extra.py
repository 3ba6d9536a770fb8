"""What a campus adds to the core: its commands, two kinds of broker, two InfluxDBs, its checks and tests."""

import os
import subprocess
import sys
from pathlib import Path

from stack import install
from stack.extras import Check, Command, Extra, Part
from stack.layout import ROOT, compose_program, node_folder

from . import files, run, stores
from .broker import Elsewhere, OneNode
from .install import ENTRY, HERE, entry_part, haproxy_part, nats_part, nftables_part

PLACEHOLDERS = {
    "COMPOSE_PROJECT_NAME": "campus", "HTTPS_PORT": "8443", "MQTTS_PORT": "8883", "ROUTE_PORT": "6222",
    "CALLOUT_OPTIONS": "--site north=sites/north", "ENTRY_NET": "10.57.39",
}  # fmt: skip
ROLES = {
    "node": (HERE / "compose.node.yaml",),
    "site": (ROOT / "compose.yaml", ROOT / "compose.https.yaml", HERE / "compose.site.yaml"),
    "entry": (HERE / "compose.entry.yaml",),
}
"""Compose files of the parts of a campus."""
MODULES = ":".join(
    str(part)
    for part in (
        *(ROOT / one for one in ("tests", "broker", "influx", "gateway-agent/tests/kit")),
        HERE / "broker",
        HERE / "tests",
    )
)


def _campus(_: list[str]) -> int:
    chosen = run.chosen()
    sites = run.campus_up(chosen)
    url = f"http://127.0.0.1:{chosen.port}"
    broker = (
        f"""
  broker     MQTT over TLS for gateways and phones of all sites: {chosen.cluster.mqtts_port}"""
        if chosen.cluster
        else ""
    )
    pages = "".join(f"\n  site       {name}: {one.http_url}/dashboard, {one.env_file}" for name, one in sites.items())
    _print(f"""
The campus is up.
  history    {url}/extractbeacon?staff_id=0&start_time=…&end_time=…
  now        {url}/retrieveformonitoring, {url}/api/v1/staff
  health     {url}/health{broker}{pages}
Next: make campus-status, make campus-key ARGS='add hacs --right history', make campus-down; extras/campus/README.md""")
    return 0


def _status(_: list[str]) -> int:
    lines, all_up = run.campus_status(run.chosen())
    _print("\n".join(lines))
    return 0 if all_up else 1


def _down(_: list[str]) -> int:
    run.campus_down()
    _print(f"the entry, all sites and the broker are stopped; the data stay in {run.FOLDER}")
    return 0


def _key(rest: list[str]) -> int:
    done = run.key_command(run.FOLDER / "entry", rest)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def _files(_: list[str]) -> int:
    names = files.campus_files(files.chosen())
    listed = "\n".join(f"  {name}" for name in names)
    _print(f"""A folder for each host is in {files.FOLDER}; copy it there, then in it: docker compose up --detach --wait
{listed}
Never copy {files.FOLDER / files.OPERATOR}: it has the keys of the authorities. Keep a backup of it.
Next: extras/campus/docs/campus-compose.md""")
    return 0


def _chaos(rest: list[str]) -> int:
    install.install([*run.campus_parts(on_cluster=True), nftables_part()])
    path = f"{node_folder()}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{MODULES}:{HERE / 'tests'}"}
    command = (sys.executable, "-m", "campus_chaos", *rest)
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _checks(env_file: Path) -> list[Check]:
    venv = Path(sys.executable).parent
    mypy: list[str | Path] = [
        venv / "mypy",
        *(f"extras/campus/{part}" for part in ("src", "broker", "influx", "tests")),
    ]
    checks: list[Check] = [
        ("mypy campus", mypy, {"MYPYPATH": MODULES}),
        ("entry of a campus", ["npm", "run", "--silent", "--prefix", ENTRY, "check"], {}),
        ("shellcheck of a campus", ["shellcheck", "-x", HERE / "broker" / "node.sh", HERE / "broker" / "place.sh"], {}),
    ]
    for role, composed in ROLES.items():
        chosen = [part for file in composed for part in ("--file", file)]
        validate = [
            compose_program(),
            "--env-file",
            env_file,
            "--project-directory",
            ROOT,
            *chosen,
            "config",
            "--quiet",
        ]
        checks.append((f"compose config of a campus' {role}", validate, PLACEHOLDERS))
    return checks


def _lanes() -> list[list[Part]]:
    pytest = [str(Path(sys.executable).parent / "pytest"), "-q"]
    tests = HERE / "tests"
    faults = tests / "faults"
    apart = [f"--ignore={tests / name}" for name in ("faults", "containers")]
    return [
        [("campus", [*pytest, tests, *apart])],
        [("campus under faults", [*pytest, faults / "test_campus_cluster.py"])],
        [("NATS", [*pytest, faults / "test_nats.py", faults / "test_nats_stack.py"])],
        [
            ("two stores", [*pytest, faults / "test_two_stores.py"]),
            ("entry of a campus", ["npm", "test", "--silent", "--prefix", ENTRY]),
        ],
    ]


EXTRA = Extra(
    commands={
        "campus": Command(_campus, "several sites, their broker and the campus entry on this machine"),
        "campus-status": Command(_status, "health and version of each part of these"),
        "campus-down": Command(_down, "stop them, keep their data"),
        "campus-key": Command(_key, "keys for the campus entry: add, list, revoke", own_arguments=True),
        "campus-files": Command(_files, "a folder for each host of a campus in containers"),
        "campus-chaos": Command(_chaos, "kill, freeze and cut off parts of a campus under load", own_arguments=True),
        "erase": Command(
            stores.erase, "erase a person from two InfluxDBs: PERSON TAG …; without: what is owed", own_arguments=True
        ),
        "store-fill": Command(
            stores.store_fill, "copy into one of two InfluxDBs what the other has: FROM TO", own_arguments=True
        ),
    },
    brokers={"nats": OneNode(), "cluster": Elsewhere()},
    stores={"2": stores.TwoStores()},
    test_parts=lambda: [nats_part(), haproxy_part(), entry_part()],
    checks=_checks,
    lanes=_lanes,
    containers=("extras/campus/tests/containers",),
)
