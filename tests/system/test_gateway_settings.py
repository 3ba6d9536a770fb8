"""Gateways get their settings: a real agent without its own list, and the retained `config` messages."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from fake_bluez import Advert, FakeBluez
from private_bus import PrivateBus
from running_agent import RunningAgent
from support.listening import Message, listening
from support.running import DEMO_BUILDING, RunningStack, running_stack
from support.stack_client import eventually, get, history, now_ms
from support.stored import stored_readings

DEMO: dict[str, Any] = json.loads(DEMO_BUILDING.read_text())
GATEWAY, OTHER = (
    next(one for one in DEMO["gateways"] if one["id"] == name) for name in ("gw-l1-reception", "gw-l1-cafe")
)
TAGGED = [one for one in DEMO["staff"] if one.get("tags")]
REGISTERED = sorted([one["id"] for one in DEMO["beacons"]] + [tag for one in TAGGED for tag in one["tags"]])
NEWCOMER: dict[str, Any] = {"id": "newcomer", "name": "New Comer", "tags": ["D1A628384BFF"]}


class Site:
    """A separate stack, the building file that it watches, and the gateways' passwords."""

    def __init__(self, stack: RunningStack, file: Path) -> None:
        self.stack, self.file = stack, file
        self._broker = stack.data_dir / "broker"
        self.ca = self._broker / "tls" / "ca.crt"
        self.passwords = {one["id"]: self._account(one["id"]) for one in (GATEWAY, OTHER)}

    def write(self, change: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
        """Replace the file by the demo building with `change` applied."""
        data = deepcopy(DEMO)
        change(data)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(data))
        new.replace(self.file)

    def _account(self, gateway: str) -> str:
        return self.stack.command("account", "add", "gateway", gateway).strip()


class Watched:
    """Messages on a gateway's `config` topic."""

    def __init__(self, heard: list[Message]) -> None:
        self._heard = heard

    @property
    def got(self) -> list[tuple[dict[str, Any] | None, bool]]:
        """Payload (None if empty) and retain flag of each."""
        return [(one.payload, one.retained) for one in self._heard]

    def last(self) -> dict[str, Any] | None:
        """The newest payload."""
        return self.got[-1][0] if self.got else None


@contextmanager
def watching(site: Site, gateway: str) -> Iterator[Watched]:
    """Listen with the gateway's account."""
    topic = f"gateway/{gateway}/config"
    with listening(site.stack, topic, username=gateway, password=site.passwords[gateway]) as heard:
        yield Watched(heard)


@pytest.fixture(scope="module")
def session_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    file = tmp_path_factory.mktemp("building") / "building.json"
    file.write_text(json.dumps(DEMO))
    with running_stack(building=file) as running:
        yield Site(running, file)


@pytest.fixture
def site(session_site: Site) -> Iterator[Site]:
    """With the unchanged demo building before and after."""
    yield session_site
    session_site.stack.restore()
    session_site.write()
    for gateway in (GATEWAY, OTHER):
        with watching(session_site, gateway["id"]) as watched:
            eventually(lambda: (watched.last() or {}).get("allow") == REGISTERED, what="the demo's list")


@pytest.fixture
def stack(site: Site) -> RunningStack:
    """Named `stack` for the logs in a failed test's report."""
    return site.stack


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[PrivateBus]:
    """The agent's system bus."""
    with PrivateBus(tmp_path) as bus:
        yield bus


@pytest.fixture
def bluez(bus: PrivateBus) -> Iterator[FakeBluez]:
    """The agent's bluetoothd."""
    with FakeBluez(bus.address) as bluez:
        yield bluez


@pytest.fixture
def agent(site: Site, bus: PrivateBus, bluez: FakeBluez, tmp_path: Path) -> Iterator[RunningAgent]:
    """A newly installed gateway agent: it has the broker's address and a password, but no beacon."""
    word = tmp_path / "password"
    word.write_text(site.passwords[GATEWAY["id"]])
    broker = {"host": "localhost", "port": site.stack.ports.mqtts, "password_file": word, "ca_file": site.ca}
    sections = {
        "id": GATEWAY["id"],
        "health_s": 1,
        "broker": {**broker, "retry_max_s": 1},
        "clock": {"source": "trust"},
    }
    with RunningAgent(tmp_path, sections, bus.address) as agent:
        eventually(lambda: bluez.scanning, 30, "the agent scans")
        yield agent


def of(data: dict[str, Any], gateway: dict[str, Any]) -> dict[str, Any]:
    """The gateway's entry in a building file."""
    return next(one for one in data["gateways"] if one["id"] == gateway["id"])


def device(beacon: str) -> str:
    """The Bluetooth address of a beacon id."""
    return ":".join(beacon[at : at + 2] for at in range(0, 12, 2))


def is_located(site: Site, staff: str, since_s: float) -> bool:
    """Whether history has the person in the gateway's room."""
    room = next(room for level in DEMO["levels"] for room in level["rooms"] if room["id"] == GATEWAY["room"])
    return any(one["location"] == room["name"] for one in history(site.stack, staff, since_s, now_ms() / 1000 + 1))


def test_an_agent_without_a_list_reports_tags_of_present_and_new_staff(
    site: Site, stack: RunningStack, agent: RunningAgent, bluez: FakeBluez
) -> None:
    since_s = now_ms() / 1000 - 1
    person = TAGGED[0]
    agent.wait_for_log(f"{len(REGISTERED)} registered beacons")
    bluez.start_traffic(cycle([Advert(device(person["tags"][0]), -50), Advert(device(NEWCOMER["tags"][0]), -50)]), 10)
    eventually(lambda: is_located(site, person["id"], since_s), 30, "the location of the tag's owner")
    assert not history(stack, NEWCOMER["id"], since_s, now_ms() / 1000 + 1)

    site.write(lambda data: data["staff"].append(NEWCOMER))
    agent.wait_for_log(f"{len(REGISTERED) + 1} registered beacons")
    eventually(lambda: is_located(site, NEWCOMER["id"], since_s), 30, "the location of who is new")
    eventually(lambda: stored_readings(stack, beacon=NEWCOMER["tags"][0]), 20, "the new tag's readings stored")
    assert agent.log().count("is running") == 1


def test_ten_thousand_tags_are_sent_as_a_filter(site: Site, agent: RunningAgent, bluez: FakeBluez) -> None:
    since_s = now_ms() / 1000 - 1
    tags = [f"D2{number * 7919:010X}" for number in range(10_000)]
    crowd = [{"id": f"crowd-{number}", "name": "One", "tags": [tag]} for number, tag in enumerate(tags)]
    with watching(site, OTHER["id"]) as watched:
        site.write(lambda data: data["staff"].extend(crowd))
        eventually(lambda: "allow_bloom" in (watched.last() or {}), 30, "the filter")
    agent.wait_for_log(f"{len(REGISTERED) + len(tags)} registered beacons")
    heard = [tags[number] for number in (0, 4_999, 9_999)]
    bluez.start_traffic(cycle([Advert(device(tag), -50) for tag in heard]), 15)
    for staff in ("crowd-0", "crowd-4999", "crowd-9999"):
        eventually(lambda: is_located(site, staff, since_s), 30, f"the location of {staff}")  # noqa: B023


def test_only_changes_are_published_and_nothing_after_a_restart(site: Site, stack: RunningStack) -> None:
    with watching(site, GATEWAY["id"]) as watched, watching(site, OTHER["id"]) as other:
        eventually(lambda: watched.got and other.got, what="what is held")
        assert watched.got == other.got == [({"v": 1, "allow": REGISTERED}, True)]

        def tune(data: dict[str, Any]) -> None:
            of(data, GATEWAY).update({"min_rssi": -90, "rssi_offset": 2.5, "window_ms": 2000})

        site.write(tune)
        eventually(lambda: len(watched.got) == 2, what="the changed settings")
        assert watched.last() == {"v": 1, "window_ms": 2000, "min_rssi": -92, "allow": REGISTERED}
        stack.kill("node-red")
        stack.start("node-red")
        eventually(
            lambda: get(stack, "/health").json()["uptime_s"] >= 6, what="everything is published after the start"
        )
        site.write(lambda data: data["gateways"].remove(OTHER))
        eventually(lambda: other.last() is None, 30, "the settings are taken off")
        eventually(lambda: watched.last() == {"v": 1, "allow": REGISTERED}, what="the settings of before")
        assert (len(watched.got), len(other.got)) == (3, 2)
    with watching(site, OTHER["id"]) as gone, watching(site, GATEWAY["id"]) as watched:
        eventually(lambda: watched.got, what="what is held")
        assert not gone.got


def test_settings_of_a_gateway_removed_during_an_outage_are_cleared(site: Site, stack: RunningStack) -> None:
    stack.stop("node-red")
    site.write(lambda data: data["gateways"].remove(OTHER))
    with watching(site, OTHER["id"]) as watched:
        eventually(lambda: watched.got, what="what is held")
        stack.start("node-red")
        eventually(lambda: watched.last() is None, 30, "the settings are taken off")


def test_settings_lost_by_a_killed_broker_are_published_again(site: Site, stack: RunningStack) -> None:
    def tune(data: dict[str, Any]) -> None:
        of(data, GATEWAY)["min_rssi"] = -90

    site.write(tune)
    with watching(site, GATEWAY["id"]) as watched:
        eventually(lambda: (watched.last() or {}).get("min_rssi") == -90, what="the changed settings")
    stack.kill("mosquitto")
    (stack.data_dir / "broker" / "mosquitto.db").unlink(missing_ok=True)  # like before its first snapshot
    stack.start("mosquitto")
    for gateway, expected in (
        (GATEWAY, {"v": 1, "min_rssi": -90, "allow": REGISTERED}),
        (OTHER, {"v": 1, "allow": REGISTERED}),
    ):
        with watching(site, gateway["id"]) as watched:
            eventually(lambda: watched.last() == expected, 30, "the settings again")  # noqa: B023
