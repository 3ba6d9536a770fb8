"""STORES=2: two InfluxDBs are filled alike; the flows read from one and go over to the other at once."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pytest
from campus.install import HERE
from stack.lifecycle import up
from stack.settings import load
from stack.stores import SECOND
from support import web
from support.building import Building
from support.running import RunningStack, running_stack
from support.stack_client import batch, eventually, history, influx, now_ms, publish
from support.walks import Walks, walk

OPERATIONS = (HERE / "docs" / "one-installation.md").read_text()
MEASUREMENTS = {"readings": "batch", "locations": "location", "health": "flows_health"}


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    with running_stack(environment={"STORES": "2", "MQTT_SERVICES_OUTSIDE": ""}) as running:
        yield running


@pytest.fixture(scope="module")
def walks(stack: RunningStack, demo: Building) -> Walks:
    return walk(stack, demo, "walk-ann", "walk-ben")


def rows(stack: RunningStack, number: int, bucket: str, query: str) -> list[dict[str, Any]]:
    """The rows of an InfluxQL query to one of the two, with its own token; without what a row does not have."""
    found = influx(stack, bucket, query, stack.settings.stores[number - 1])
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def write(stack: RunningStack, number: int, bucket: str, lines: Iterable[str]) -> None:
    """Lines of the line protocol into one of the two, times in ms."""
    web.post(
        f"{stack.settings.url_of('INFLUX_PORT', stack.settings.stores[number - 1])}/api/v2/write",
        params={"org": "sda", "bucket": bucket, "precision": "ms"},
        headers={"Authorization": f"Token {stack.secrets['INFLUX_ADMIN_TOKEN']}"},
        content="\n".join(lines),
        timeout=60,
    ).raise_for_status()


def stores_part(stack: RunningStack) -> dict[str, Any]:
    """What /health says of the two."""
    part: dict[str, Any] = web.get(f"{stack.http_url}/health", timeout=10).json()["parts"]["stores"]
    return part


def test_both_are_filled_with_the_same(stack: RunningStack, walks: Walks) -> None:
    until = now_ms()
    eventually(lambda: stores_part(stack)["status"] == "up", what="both are up")
    for bucket, measurement in MEASUREMENTS.items():
        query = f"SELECT * FROM {measurement} WHERE time < {until}ms GROUP BY *"  # noqa: S608 - our own names

        def same(bucket: str = bucket, query: str = query) -> bool:
            first, second = (rows(stack, number, bucket, query) for number in (1, 2))
            return len(first) > 0 and first == second

        eventually(same, what=f"the same {measurement} in both")
    known = f"{stack.http_url}/api/v1/people/known"
    staff = eventually(lambda: web.get(known, retry_503=False).json().get("staff"), what="who has a past, of both")
    assert {walks.ann, walks.ben} <= set(staff)


def test_metrics_of_the_operations_page_exist(stack: RunningStack) -> None:
    page = OPERATIONS.split("## Two InfluxDBs")[1]
    named = set(re.findall(r"\bsda_[a-z0-9_]*[a-z0-9]\b", page))
    text = web.get(f"{stack.http_url}/metrics").text
    assert len(named) == 10
    assert named <= set(re.findall(r"^# HELP (sda_\w+)", text, re.MULTILINE))


def test_history_goes_on_while_the_one_that_is_read_from_is_down(stack: RunningStack, walks: Walks) -> None:
    start_s, end_s = walks.start_ms / 1000 - 3600, walks.end_ms / 1000  # longer than memory goes back
    before = history(stack, "walk-ann", start_s, end_s)
    part = stores_part(stack)
    reads_from, switches = part["reads_from"], part["switches"]
    name = stack.settings.stores[reads_from - 1].name("influxd")
    stack.kill(name)
    assert history(stack, "walk-ann", start_s, end_s) == before, "the first question after the kill"
    part = eventually(lambda: _degraded(stack), what="health says that one is down")
    assert part["reads_from"] == 3 - reads_from
    assert part["switches"] > switches
    stack.start(name)
    eventually(lambda: stores_part(stack)["status"] == "up", what="both are up again")
    assert stores_part(stack)["reads_from"] == 3 - reads_from


def _degraded(stack: RunningStack) -> dict[str, Any]:
    """The part, or nothing while both are up."""
    part = stores_part(stack)
    return part if part["status"] == "degraded" else {}


def test_what_was_missed_is_stored_when_it_is_back(stack: RunningStack, demo: Building) -> None:
    stack.kill(SECOND.name("influxd"))
    walk(stack, demo, "walk-cleo", "walk-dan")
    stack.start(SECOND.name("influxd"))
    query = "SELECT * FROM batch WHERE receiver = 'walk-cleo' GROUP BY *"
    eventually(lambda: len(rows(stack, 2, "readings", query)) > 0, what="its readings in the second")
    eventually(lambda: rows(stack, 1, "readings", query) == rows(stack, 2, "readings", query), what="the same in both")


def of_person(stack: RunningStack, number: int, person: str, tag: str) -> dict[str, int]:
    """Number of a person's points in one of the two."""
    places = {
        "location": ("locations", "location", f"staff_id = '{person}'"),
        "event": ("locations", "event", f"subject = '{person}'"),
        "batch": ("readings", "batch", f"receiver = '{person}'"),
        "refused": ("health", "rejected", f"receiver = '{person}'"),
        "tag": ("readings", "batch", f"readings =~ /(^|,){tag} /"),
    }
    return {
        name: len(rows(stack, number, bucket, f"SELECT * FROM {measurement} WHERE {where}"))  # noqa: S608 - our own names
        for name, (bucket, measurement, where) in places.items()
    }


def test_a_person_is_erased_from_both_also_from_one_that_was_away(stack: RunningStack, demo: Building) -> None:
    """What waited for it on disk does not come back, and a kill of who erases loses nothing."""
    tag, beacon, gateway = demo.tagged()[1], demo.beacons[0].id, demo.gateways[0].id

    def send(rssi: int) -> None:
        phones = [(f"phone/{who}/readings", batch((beacon, rssi))) for who in ("leaver", "stayer")]
        publish(stack, *phones, ("phone/leaver/readings", "no json"))
        publish(stack, (f"gateway/{gateway}/readings", batch((tag, rssi), (beacon, rssi))))

    send(-50)
    for number in (1, 2):
        eventually(partial(lambda n: all(of_person(stack, n, "leaver", tag).values()), number), what="all is stored")
    stack.kill("influxd-2")
    send(-51)
    eventually(lambda: of_person(stack, 1, "leaver", tag)["tag"] == 2, what="the second message in the first")
    assert "store 2: not erased yet" in stack.command("erase", "leaver", tag)
    assert set(of_person(stack, 1, "leaver", tag).values()) == {0}
    assert fill(stack).returncode == 2, "a person who is to be erased would be copied"
    stack.crash("erasures")
    stack.start("influxd-2")
    everything = [f"batch WHERE receiver = '{who}'" for who in ("stayer", "leaver")]
    eventually(
        lambda: [len(rows(stack, 2, "readings", f"SELECT * FROM {one}")) for one in everything] == [2, 0],  # noqa: S608
        what="what waited is stored, without the person",
    )
    eventually(lambda: set(of_person(stack, 2, "leaver", tag).values()) == {0}, what="nothing of the person")
    shared = f"SELECT readings FROM batch WHERE receiver = '{gateway}'"  # noqa: S608 - our own name
    for number in (1, 2):
        eventually(
            partial(
                lambda n: (
                    [row["readings"] for row in rows(stack, n, "readings", shared)][-2:]
                    == [f"{beacon} -50", f"{beacon} -51"]
                ),
                number,
            ),
            what="the other beacon of the same messages stays",
        )
    eventually(lambda: stack.command("erase").count("once more in five minutes") == 2, what="the last step is left")
    for order in (stack.data_dir / "erasures").glob("*.json"):
        order.unlink()  # the tests after this one fill


def fill(stack: RunningStack, kill: bool = False) -> subprocess.CompletedProcess[str]:
    """`make store-fill FROM=1 TO=2`; `kill` ends it after its first slice."""
    environment = {**os.environ, **stack.settings.environment, "STACK_ENV_FILE": str(stack.settings.env_file)}
    command = [sys.executable, "-m", "stack", "store-fill", "1", "2"]
    with subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as run:
        first = run.stderr.readline() if run.stderr and kill else ""
        if kill:
            os.killpg(run.pid, signal.SIGKILL)
        out, err = run.communicate(timeout=120)
    return subprocess.CompletedProcess(command, run.returncode, out, first + err)


def test_one_that_lost_its_disk_is_filled_from_the_other(stack: RunningStack, walks: Walks) -> None:
    """The flows do not read from it before; a run that was killed goes on; the counts are compared."""
    begin_ms = now_ms() - 3 * 3_600_000
    odd = 'rejected,kind=phone,reason=a\\ b\\,c\\=d detail="quo\\"te, back\\\\slash",count=3i'
    past = [f"flows_health uptime_s={beat}.5 {begin_ms + beat * 5000}" for beat in range(600)]
    write(stack, 1, "health", [*past, f"{odd} {begin_ms}"])
    stack.kill(SECOND.name("influxd"))
    shutil.rmtree(stack.data_dir / SECOND.name("influxdb"))
    filled = RunningStack(up(stack.settings, report=lambda _: None, leave_out=("simulator",)))
    filled.wait_until_healthy_but("stores")
    eventually(lambda: stores_part(filled)["stores"][1]["lacking_hours"] > 0, what="it lacks the past")
    part = stores_part(filled)
    assert (part["reads_from"], part["remedy"]) == (1, "fill it from the other one: make store-fill FROM=1 TO=2")

    assert "values (1 of" in fill(filled, kill=True).stderr
    until = f"time < {now_ms() // 1000}s"
    done = eventually(lambda: (run := fill(filled)).returncode == 0 and run, what="the counts to be the same")
    assert done
    assert [line.split()[:2] for line in done.stdout.splitlines() if "batch" in line] == [["readings", "batch"]]
    for bucket, measurement in (*MEASUREMENTS.items(), ("health", "rejected")):
        query = f"SELECT * FROM {measurement} WHERE {until} GROUP BY *"  # noqa: S608 - our own names
        first, second = (rows(filled, number, bucket, query) for number in (1, 2))
        assert first == second, measurement
    eventually(lambda: stores_part(filled)["status"] == "up", what="both are up")
    assert walks


def test_back_to_one_leaves_no_session_behind(stack: RunningStack) -> None:
    """The broker would keep messages for a Telegraf that does not come back."""
    environment = {**stack.settings.environment, "STORES": "1"}
    one = RunningStack(up(load(stack.settings.env_file, environment), report=lambda _: None, leave_out=("simulator",)))
    one.wait_until_healthy()
    assert "stores" not in web.get(f"{one.http_url}/health", timeout=10).json()["parts"]
    assert [one.pid(SECOND.name(part)) for part in ("influxd", "spool", "telegraf")] == [0, 0, 0]
    kept = (one.data_dir / "broker" / "mosquitto.db").read_bytes()  # written when the broker was restarted
    assert (b"telegraf/readings" in kept, b"telegraf-2/" in kept) == (True, False)
