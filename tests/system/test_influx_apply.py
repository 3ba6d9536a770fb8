"""influx/apply.py with a real, empty InfluxDB: sets up, issues, changes; a second run changes nothing."""

import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from ingest.private_broker import run_tool
from stack.layout import ROOT, influxd_program
from support import web
from unused_ports import unused_ports

BUCKETS = ("readings", "locations", "telemetry", "health")
INGESTED = {"readings", "locations", "health"}
DAY_S = 86400


class PrivateInflux:
    """A separate influxd with its .env file and a copy of influx/ that tests may change."""

    def __init__(self, folder: Path) -> None:
        self.env_file = folder / "env"
        self.env_file.write_text("# kept\nHTTP_PORT=1880\nINFLUX_ADMIN_TOKEN='admin-token'\n")
        self.files = folder / "influx"
        shutil.copytree(ROOT / "influx", self.files, ignore=shutil.ignore_patterns("__pycache__"))
        self.port = unused_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "INFLUXD_CONFIG_PATH": str(self.files / "influxd.toml"),
            "INFLUXD_BOLT_PATH": str(folder / "influxd.bolt"),
            "INFLUXD_ENGINE_PATH": str(folder / "engine"),
            "INFLUXD_HTTP_BIND_ADDRESS": f"127.0.0.1:{self.port}",
        }
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen([influxd_program()], env=environment, stdout=log, stderr=log)

    def apply(self, **environment: str) -> subprocess.CompletedProcess[str]:
        script = self.files / "apply.py"
        return run_tool(str(script), "--url", self.url, "--env-file", self.env_file, environment=environment)

    def applied(self, **environment: str) -> str:
        done = self.apply(**environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def variables(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.env_file.read_text().splitlines() if "=" in line)

    def change(self, file: str, edit: dict[str, Any]) -> None:
        """Merge `edit` into a data file, one level deep."""
        path = self.files / file
        data = json.loads(path.read_text())
        for key, value in edit.items():
            data[key] |= value
        path.write_text(json.dumps(data))

    def ask(self, path: str, token: str, **parameters: str) -> httpx.Response:
        return web.get(f"{self.url}{path}", params=parameters, headers={"Authorization": f"Token {token}"})

    def write(self, bucket: str, token: str) -> int:
        """HTTP status of writing one point."""
        answer = web.post(
            f"{self.url}/api/v2/write",
            params={"org": "sda", "bucket": bucket},
            headers={"Authorization": f"Token {token}"},
            content=b"probe,kind=x value=1i",
        )
        return answer.status_code

    def read(self, bucket: str, token: str) -> bool:
        """Whether InfluxQL sees the bucket with this token."""
        answer = self.ask("/query", token, db=bucket, q="SELECT value FROM probe").json()
        return "series" in answer["results"][0]


@pytest.fixture
def influx(tmp_path: Path) -> Iterator[PrivateInflux]:
    private = PrivateInflux(tmp_path)
    yield private
    private.process.send_signal(signal.SIGTERM)
    private.process.wait(30)


def test_an_empty_database_is_set_up_and_a_second_run_changes_nothing(influx: PrivateInflux) -> None:
    assert "set up organisation sda" in influx.applied()
    text = influx.env_file.read_text()
    assert influx.applied() == "influx: nothing to change\n"
    assert influx.env_file.read_text() == text
    assert text.startswith("# kept\nHTTP_PORT=1880\n")
    assert stat.S_IMODE(influx.env_file.stat().st_mode) == 0o600


def test_env_file_is_written_in_place(influx: PrivateInflux) -> None:
    inode = influx.env_file.stat().st_ino
    influx.applied()
    assert influx.env_file.stat().st_ino == inode


def test_buckets_have_the_files_retention(influx: PrivateInflux) -> None:
    influx.applied()
    assert retention_days(influx) == {"readings": 7, "locations": 30, "telemetry": 400, "health": 30}
    influx.change("buckets.json", {"readings": {"retention_days": 3}})
    assert influx.applied() == "influx: changed bucket readings: kept 3 days, shards of 1\n"
    assert retention_days(influx)["readings"] == 3


def test_each_token_has_only_its_own_rights(influx: PrivateInflux) -> None:
    influx.applied()
    write, read = (influx.variables()[f"INFLUX_{name}_TOKEN"] for name in ("WRITE", "READ"))
    for bucket in BUCKETS:
        assert influx.write(bucket, write) == (204 if bucket in INGESTED else 403)
        assert influx.write(bucket, "admin-token") == 204
        assert influx.write(bucket, read) == 403
        assert influx.read(bucket, read)
        assert not influx.read(bucket, write)
    assert influx.write("_tasks", write) in {403, 404}
    for token in (write, read):
        assert influx.ask("/api/v2/authorizations", token).json().get("authorizations", []) == []


def test_task_is_created_and_changed_back(influx: PrivateInflux) -> None:
    influx.applied()
    (task,) = influx.ask("/api/v2/tasks", "admin-token").json()["tasks"]
    flux = (influx.files / "tasks" / "telemetry.flux").read_text()
    assert (task["name"], task["status"], task["flux"]) == ("telemetry", "active", flux)
    changed = flux.replace("every: 1m, offset: 10s", "every: 2m, offset: 10s")
    (influx.files / "tasks" / "telemetry.flux").write_text(changed)
    assert influx.applied() == "influx: changed task telemetry\n"
    assert influx.applied() == "influx: nothing to change\n"
    (task,) = influx.ask("/api/v2/tasks", "admin-token").json()["tasks"]
    assert task["flux"] == changed


def test_task_file_of_another_name_is_refused(influx: PrivateInflux) -> None:
    (influx.files / "tasks" / "other.flux").write_text('option task = {name: "telemetry", every: 1h}\n')
    done = influx.apply()
    assert done.returncode == 1
    assert "tasks/other.flux must say" in done.stderr


def test_token_with_other_rights_is_revoked_and_issued_anew(influx: PrivateInflux) -> None:
    influx.applied()
    old = influx.variables()["INFLUX_READ_TOKEN"]
    influx.change("tokens.json", {"INFLUX_READ_TOKEN": {"buckets": ["locations", "health"]}})
    influx.applied()
    new = influx.variables()["INFLUX_READ_TOKEN"]
    assert new != old
    assert influx.ask("/api/v2/buckets", old).status_code == 401
    names = {bucket["name"] for bucket in influx.ask("/api/v2/buckets", new).json()["buckets"]}
    assert names == {"locations", "health"}


def test_lost_env_lines_are_restored(influx: PrivateInflux) -> None:
    influx.applied()
    before = influx.variables()
    influx.env_file.write_text("INFLUX_ADMIN_TOKEN=admin-token\nINFLUX_READ_TOKEN=\n")
    assert "wrote INFLUX_WRITE_TOKEN, INFLUX_READ_TOKEN" in influx.applied()
    after = influx.variables()
    assert {after[name] for name in ("INFLUX_READ_TOKEN", "INFLUX_WRITE_TOKEN")} <= set(before.values())


def test_unknown_token_in_the_environment_is_named(influx: PrivateInflux) -> None:
    done = influx.apply(INFLUX_WRITE_TOKEN="made-up")
    assert done.returncode == 1
    assert "INFLUX_WRITE_TOKEN in the environment" in done.stderr


def test_foreign_operator_token_is_explained(influx: PrivateInflux) -> None:
    influx.applied()
    done = influx.apply(INFLUX_ADMIN_TOKEN="another")
    assert done.returncode == 1
    assert "not the one this InfluxDB was set up with" in done.stderr


def test_missing_operator_token_and_absent_database_are_explained(tmp_path: Path) -> None:
    absent = f"http://127.0.0.1:{unused_ports(1)[0]}"
    arguments = ["--url", absent, "--wait", "0.5", "--env-file", str(tmp_path / "env")]
    assert "INFLUX_ADMIN_TOKEN is neither" in run_tool("influx/apply.py", *arguments).stderr
    done = run_tool("influx/apply.py", *arguments, environment={"INFLUX_ADMIN_TOKEN": "x"})
    assert done.returncode == 1
    assert "did not become healthy" in done.stderr


def test_the_settings_file_is_used(influx: PrivateInflux) -> None:
    influx.applied()
    config = influx.ask("/api/v2/config", "admin-token").json()["config"]
    wanted = [
        line.split(" = ") for line in (ROOT / "influx" / "influxd.toml").read_text().splitlines() if " = " in line
    ]
    assert wanted
    for name, value in wanted:
        assert config[name] == json.loads(value), name


def retention_days(influx: PrivateInflux) -> dict[str, int]:
    buckets = influx.ask("/api/v2/buckets", "admin-token").json()["buckets"]
    return {
        bucket["name"]: bucket["retentionRules"][0]["everySeconds"] // DAY_S
        for bucket in buckets
        if bucket["name"] in BUCKETS
    }
