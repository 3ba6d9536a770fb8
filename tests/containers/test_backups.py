"""The backup and restore commands of the operations page on a real engine; what waits in the spool comes along."""

import json
import shutil
import tarfile

from support.operations import block
from support.stack_client import eventually, now_ms

from .installation import Installation, account_in
from .test_short import READINGS_A_BATCH, batches

STORED, WAITING = 50, 150
STATUS = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8087/status').read().decode())"


def test_what_waits_on_disk_is_backed_up_and_restored(fresh: Installation) -> None:
    """Readings that came while InfluxDB was away are in InfluxDB after the restore."""
    fresh.environment["SIM"] = "0"
    fresh.make("up")
    password = account_in(fresh.make("account", ARGS="add phone saved"))
    start_ms = now_ms() - 3_600_000
    fresh.publish("saved", password, batches(STORED, start_ms))
    eventually(lambda: fresh.stored("saved") == STORED * READINGS_A_BATCH, what="the first readings")
    fresh.compose("stop", "influxdb")
    fresh.publish("saved", password, batches(WAITING, start_ms + 1000))
    eventually(lambda: _waiting(fresh) >= WAITING, what="what waits on disk")

    backed_up = fresh.command("bash", "-c", block("back up under Compose"))
    assert backed_up.returncode == 0, backed_up.stdout
    (archive,) = fresh.folder.glob("sda-*.tar.gz")
    with tarfile.open(archive) as opened:
        files = {member.name.split("/")[0] for member in opened if member.isfile()}
    assert files == {"broker", "influxdb", "spool", "node-red", ".env", "building"}, backed_up.stdout
    _become_a_new_clone(fresh)

    restored = fresh.command("bash", "-c", block("restore under Compose", archive.name))
    assert restored.returncode == 0, restored.stdout
    expected = (STORED + WAITING) * READINGS_A_BATCH
    eventually(lambda: fresh.stored("saved") == expected, what="the readings of before, and those that waited")
    fresh.publish("saved", password, batches(1, start_ms + 2000))
    eventually(lambda: fresh.stored("saved") == expected + READINGS_A_BATCH, what="one more by the account of before")


def _become_a_new_clone(clone: Installation) -> None:
    """As `make clean` does, but for the images, which an engine of these tests cannot pull again."""
    clone.compose("--profile", "demo", "--profile", "play", "down", "--volumes")
    for left in (".env", ".compose"):
        (clone.folder / left).unlink(missing_ok=True)
    shutil.rmtree(clone.folder / "building")


def _waiting(clone: Installation) -> int:
    """Lines that the spool keeps for InfluxDB."""
    return int(json.loads(clone.compose("exec", "-T", "spool", "python", "-c", STATUS))["waiting_lines"])
