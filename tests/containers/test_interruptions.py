"""The next `make up` repairs every interruption, and no acknowledged message is lost."""

import os
import signal
import subprocess
import time

import pytest
from support.stack_client import eventually, now_ms

from .installation import Installation, account_in
from .test_short import READINGS_A_BATCH, batches

SOON_S = 120.0


@pytest.mark.parametrize("after_s", [2, 9])
def test_ctrl_c_in_the_middle_of_a_start(clone: Installation, after_s: int) -> None:
    clone.make("down")
    started = subprocess.Popen(["make", "up"], cwd=clone.folder, env=clone.environment, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    with pytest.raises(subprocess.TimeoutExpired):  # it is still at work
        started.wait(after_s)
    os.killpg(started.pid, signal.SIGINT)
    assert started.wait(60) != 0
    assert "The whole pipeline is up." in clone.make("up")


def test_a_restart_of_the_engine(clone: Installation) -> None:
    password = account_in(clone.make("account", ARGS="add phone restarted"))
    clone.compose("stop", "spool")
    clone.publish("restarted", password, batches(200, now_ms() - 3_600_000))
    clone.compose("start", "spool")
    clone.engine.restart()
    eventually(clone.is_up, SOON_S, "all of it, by itself")
    eventually(lambda: clone.stored("restarted") == 200 * READINGS_A_BATCH, what="what was acknowledged before")


def test_up_saves_sessions_at_once(clone: Installation) -> None:
    """By itself the broker saves them every 30 s; until then a kill would lose what receivers send after it."""

    def saved() -> str:
        return clone.compose("exec", "-T", "mosquitto", "stat", "-c", "%Y %i", "mosquitto.db")

    before = saved()
    by_itself = eventually(lambda: (now := saved()) != before and now, what="a snapshot by itself")
    began = time.monotonic()
    clone.make("up")
    assert saved() != by_itself
    assert time.monotonic() - began < 30, "it may have been one by itself"
    clone.compose("exec", "-T", "mosquitto", "grep", "-q", "telegraf/readings", "mosquitto.db")


@pytest.mark.parametrize("service", ["telegraf", "influxdb"])
def test_a_part_that_is_away_is_reported_and_up_waits_for_it(clone: Installation, service: str) -> None:
    clone.engine.docker("pause", clone.containers()[service])
    try:
        eventually(lambda: "ingest" in clone.degraded(), what="health reports it")
        status = clone.tried("status")
        assert status.returncode
        assert "ingest is degraded: " in status.stdout
    finally:
        clone.engine.docker("unpause", clone.containers()[service])
    eventually(clone.is_up, what="all of it is up again")
