"""A full or broken disk at the start: the agent starts, logs it and holds windows in memory."""

from collections.abc import Callable
from pathlib import Path

import pytest
from beacons import ibeacon, ibeacon_id
from fake_bluez import FakeBluez
from full_disk import FullDisk
from gateway_agent.outbox import FILE
from real_broker import Broker
from running_agent import StartAgent
from subscriber import Subscriber, publish_config
from waiting import eventually

HEARD = 3


def full(folder: Path) -> tuple[dict[str, str], Callable[[], None]]:
    """A full disk."""
    disk = FullDisk(folder, folder / "state")
    return disk.environment, disk.make_room


def broken(folder: Path) -> tuple[dict[str, str], Callable[[], None]]:
    """A file that SQLite cannot open."""
    (folder / "state" / FILE).mkdir(parents=True)
    return {}, (folder / "state" / FILE).rmdir


def missing(folder: Path) -> tuple[dict[str, str], Callable[[], None]]:
    """A folder that cannot be made."""
    (folder / "mount").touch()
    return {"SDA_GATEWAY_STATE_DIR": str(folder / "mount" / "state")}, (folder / "mount").unlink


@pytest.mark.parametrize("fault", [full, broken, missing], ids=lambda fault: fault.__name__)
def test_windows_wait_in_memory_until_the_disk_works(
    fault: Callable[[Path], tuple[dict[str, str], Callable[[], None]]],
    start_agent: StartAgent,
    bluez: FakeBluez,
    broker: Broker,
    platform: Subscriber,
    tmp_path: Path,
) -> None:
    environment, repair = fault(tmp_path)
    agent = start_agent(scan={"window_ms": 200}, environment=environment)
    publish_config(broker.port, "gw-test", {"allow": [ibeacon_id(number) for number in range(HEARD)]})
    agent.wait_for_log("windows are held in memory")
    assert "the clock is synchronised" in agent.log().partition("windows are held in memory")[0]
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    agent.wait_for_log(f"{HEARD} registered beacons")
    for number in range(HEARD):
        assert bluez.advertise(ibeacon(number))
    eventually(lambda: any(message.body["adverts"] == HEARD for message in platform.messages("health")), 30, agent.log)
    assert platform.messages("health")[-1].body["outbox_failing"] == 1
    assert not platform.readings()
    repair()
    eventually(lambda: sum(platform.adverts().values()) == HEARD, 30, agent.log)
    eventually(lambda: platform.messages("health")[-1].body["outbox_failing"] == 0, 30, agent.log)
    assert platform.messages("health")[-1].body["dropped"] == 0
    second = agent.command("run")
    assert (second.returncode, "is running on" in second.stderr) == (1, True)
    assert agent.log().count("connected to") == 1
    assert len(agent.log().splitlines()) < 40, agent.log()
    assert agent.stop() == 0
    agent.start()
    agent.wait_for_log(f"{HEARD} registered beacons")
