"""A disk that is full or broken when the agent starts: it starts, says so, and holds what it hears in memory."""

from collections.abc import Callable
from pathlib import Path

import pytest
from beacons import ibeacon, ibeacon_id
from full_disk import FullDisk
from gateway_agent.outbox_view import FILE
from played_bluez import PlayedBluez
from played_broker import Broker
from running_agent import StartAgent
from subscriber import Subscriber, publish_config
from waiting import eventually

HEARD = 3


def full(folder: Path) -> tuple[dict[str, str], Callable[[], None]]:
    """No room on it."""
    disk = FullDisk(folder, folder / "state")
    return disk.environment, disk.make_room


def broken(folder: Path) -> tuple[dict[str, str], Callable[[], None]]:
    """SQLite cannot open its file."""
    (folder / "state" / FILE).mkdir(parents=True)
    return {}, (folder / "state" / FILE).rmdir


def missing(folder: Path) -> tuple[dict[str, str], Callable[[], None]]:
    """The folder cannot be made."""
    (folder / "mount").touch()
    return {"SDA_GATEWAY_STATE_DIR": str(folder / "mount" / "state")}, (folder / "mount").unlink


@pytest.mark.parametrize("fault", [full, broken, missing], ids=lambda fault: fault.__name__)
def test_it_starts_says_so_and_holds_what_it_hears_until_the_disk_takes_it(
    fault: Callable[[Path], tuple[dict[str, str], Callable[[], None]]],
    start_agent: StartAgent,
    bluez: PlayedBluez,
    broker: Broker,
    platform: Subscriber,
    tmp_path: Path,
) -> None:
    environment, mend = fault(tmp_path)
    agent = start_agent(scan={"window_ms": 200}, environment=environment)
    publish_config(broker.port, "gw-test", {"allow": [ibeacon_id(number) for number in range(HEARD)]})
    agent.wait_for_log("windows are held in memory")
    eventually(lambda: bluez.scanning and platform.status() == "online", 30, agent.log)
    agent.wait_for_log(f"{HEARD} registered beacons")
    for number in range(HEARD):
        assert bluez.advertise(ibeacon(number))
    eventually(lambda: any(heard.body["adverts"] == HEARD for heard in platform.messages("health")), 30, agent.log)
    assert platform.messages("health")[-1].body["outbox_failing"] == 1
    assert not platform.readings()
    mend()
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
