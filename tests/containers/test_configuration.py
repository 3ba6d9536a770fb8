"""`make up` applies every changed file and restarts only the services that read it."""

from pathlib import Path

from .installation import Installation

CHANGES = {  # file -> (service, where it is inside)
    "broker/mosquitto.conf": ("mosquitto", "/mosquitto/config/mosquitto.conf"),
    "broker/renew.py": ("certificates", "/broker/renew.py"),
    "influx/influxd.toml": ("influxdb", "/influxd.toml"),
    "ingest/telegraf.d/input-readings.conf": ("telegraf", "/ingest/telegraf.d/input-readings.conf"),
    "ingest/spool/serve.py": ("spool", "/spool/serve.py"),
    "flows/settings.js": ("node-red", "/flows/settings.js"),
}


def replace(file: Path, line: str) -> None:
    """Replace the file like `git pull` does."""
    comment = "//" if file.suffix == ".js" else "#"
    fresh = file.with_name(file.name + ".pulled")
    fresh.write_text(f"{file.read_text()}\n{comment} {line}\n")
    fresh.chmod(file.stat().st_mode)
    fresh.rename(file)


def test_each_changed_file_is_taken_over_and_nothing_else_is_made_anew(clone: Installation) -> None:
    before = clone.containers()
    for file in CHANGES:
        replace(clone.folder / file, "changed by a test")
    clone.make("up")
    after = clone.containers()
    for service, inside in CHANGES.values():
        assert after[service] != before[service], f"{service} goes on with what it read before"
        assert "changed by a test" in clone.engine.docker("exec", after[service], "cat", inside), inside

    replace(clone.folder / "influx" / "influxd.toml", "and once more")
    clone.make("up")
    last = clone.containers()
    assert {name for name in last if last[name] != after[name]} == {"influxdb"}


def test_a_setting_reaches_the_services_that_read_it(clone: Installation) -> None:
    before = clone.containers()
    clone.environment["SDA_CORS_ORIGINS"] = "https://hacs.example.org"
    clone.make("up")
    after = clone.containers()
    assert {name for name in after if after[name] != before[name]} == {"node-red"}


def test_limits_sum_to_a_gibibyte_and_heaps_stay_below_theirs(clone: Installation) -> None:
    limits = {name: int(clone.inspect(name, "{{.HostConfig.Memory}}")) for name in clone.containers()}
    assert sum(limits.values()) <= 2**30
    for service, variable in (("influxdb", "GOMEMLIMIT="), ("telegraf", "GOMEMLIMIT="), ("node-red", "-size=")):
        environment = clone.inspect(service, '{{join .Config.Env "\\n"}}')
        heap_mib = int(environment.split(variable)[1].split("MiB")[0].split("\n")[0])
        assert heap_mib * 2**20 < limits[service], service
    clone.environment["MEMORY_MIB"] = "512"
    refused = clone.tried("up")
    clone.environment["MEMORY_MIB"] = ""
    assert refused.returncode
    assert "MEMORY_MIB=512 is too little: 1024 are needed" in refused.stdout


def test_every_lasting_service_has_a_root_that_nobody_writes(clone: Installation) -> None:
    lasting = [name for name in clone.containers() if clone.inspect(name, "{{.State.Status}}") == "running"]
    assert sorted(lasting) == ["certificates", "influxdb", "mosquitto", "node-red", "spool", "telegraf"]
    for service in lasting:
        assert clone.inspect(service, "{{.HostConfig.ReadonlyRootfs}}") == "true", service
        assert clone.inspect(service, "{{.HostConfig.CapDrop}}") == "[ALL]", service
        assert clone.inspect(service, "{{.HostConfig.CapAdd}}") == "[]", service
        assert int(clone.inspect(service, "{{.Config.StopTimeout}}")) >= 20, service
        assert "nofile=20000:20000" in clone.inspect(service, "{{.HostConfig.Ulimits}}"), service


def test_a_token_is_read_by_nobody_else(clone: Installation) -> None:
    for service, other in (("telegraf", "INFLUX_READ_TOKEN"), ("node-red", "INFLUX_WRITE_TOKEN")):
        own = other.replace("READ", "?").replace("WRITE", "READ").replace("?", "WRITE")
        container = clone.containers()[service]
        assert clone.engine.docker("exec", container, "cat", f"/tokens/{own}").strip()
        assert clone.engine.docker("exec", container, "sh", "-c", f"cat /tokens/{other} || true") == ""
