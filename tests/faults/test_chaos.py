"""Short `make chaos`: all services are killed under load; afterwards nothing is lost, and by hand nothing doubles."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from chaos.faults import Fault
from chaos.history import History, stored_history
from chaos.run import Scenario, run
from support.running import RunningStack
from support.stack_client import eventually, now_ms, rebuild_by_hand

SEED, PHONES, FIRST, SECONDS = 5, 24, 7000, 34.0
"""Their ids begin after those of the building's staff and of other tests."""
FAULTS = [Fault(10, "telegraf", 5.0), Fault(12, "mosquitto"), Fault(16, "node-red"), Fault(20, "influxd")]


@pytest.mark.timeout(300)
def test_after_kills_under_load_all_is_stored_and_history_is_that_of_an_undisturbed_run(
    stack: RunningStack, tmp_path: Path
) -> None:
    staff = [str(number) for number in range(FIRST, FIRST + PHONES)]
    simulator = ["phones", "-n", str(PHONES), "--first", str(FIRST), "--seed", str(SEED)]
    since_ms = now_ms()
    scenario = Scenario(SEED, simulator, SECONDS, FAULTS, staff, alone=False)
    result = run(stack, scenario, tmp_path, print)
    assert result.problems == {}, f"seed {SEED}: {result.figures}"
    assert int(result.figures["answers with 200 that were compared"]) > 10
    assert result.figures["complete again after any fault"].startswith("4 times")

    # By hand over the same time, twice: the same again.
    until_ms = now_ms()
    before = _settled(stack, since_ms, until_ms, staff)
    assert len(before.locations) > PHONES * SECONDS / 4
    for _ in range(2):
        output = rebuild_by_hand(stack, str(since_ms / 1000), str(until_ms / 1000))
        assert output.splitlines()[-1].startswith("done in "), output
        eventually(lambda: stored_history(stack, since_ms, until_ms, staff) == before, what="the same history")


def _settled(stack: RunningStack, since_ms: int, until_ms: int, staff: Sequence[str]) -> History:
    """The stored history when all of it is there."""
    eventually(stack.is_caught_up, what="all to be located")
    return stored_history(stack, since_ms, until_ms, staff)
