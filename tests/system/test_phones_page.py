"""The commands of docs/phones.md, run as they stand there by a phone with an account of its own."""

import json
import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from stack.layout import ROOT
from support import web
from support.building import Building
from support.keys import make_key
from support.running import RunningStack
from support.talk import eventually

PAGE = (ROOT / "docs" / "phones.md").read_text()
COMMANDS = re.findall(r"<!-- tested -->\n```sh\n(.*?)```", PAGE, re.DOTALL)
WAYS = ("mosquitto_pub", "/newbeacondetect", "/newbeacondetect?user_address", "/retrieveformonitoring")
PHONES = [f"guard-{number}" for number in range(3)]


@pytest.fixture(scope="module")
def passwords(whole_stack: RunningStack) -> Iterator[dict[str, str]]:
    """Accounts of the phones, and their passwords."""
    made = whole_stack.command("account", "add", "phone", *PHONES)
    yield dict(line.split("\t") for line in made.splitlines())
    whole_stack.command("account", "remove", *PHONES)
    whole_stack.wait_until_whole()


@pytest.fixture(scope="module")
def key(whole_stack: RunningStack) -> Iterator[str]:
    """The key that the page has made, by the page's command."""
    (told,) = re.findall(r"make key ARGS='(add phones [^']*)'", PAGE)
    made = make_key(whole_stack, *told.split())
    assert made.returncode == 0, made.stderr
    yield made.stdout.strip()
    make_key(whole_stack, "revoke", "phones")


@pytest.fixture(params=range(3), ids=["MQTT", "form", "query string"])
def number(request: pytest.FixtureRequest) -> int:
    """Which of the ways to tell; each by a phone of its own."""
    chosen: int = request.param
    return chosen


@pytest.fixture
def phone(number: int, stack: RunningStack, passwords: dict[str, str], key: str) -> dict[str, str]:
    """What the page's commands take from the environment."""
    return {
        "PATH": os.environ["PATH"],
        "HOST": "localhost",
        "MQTTS_PORT": str(stack.ports.mqtts),
        "CA": str(stack.data_dir / "broker" / "tls" / "ca.crt"),
        "STAFF": PHONES[number],
        "PASSWORD": passwords[PHONES[number]],
        "URL": f"https://localhost:{stack.ports.https}",
        "KEY": key,
    }


def run(command: str, environment: dict[str, str]) -> str:
    """A command of the page; its output, empty while it fails."""
    done = subprocess.run(
        ["bash", "-euc", command], env=environment, capture_output=True, text=True, timeout=30, check=False
    )
    return done.stdout if done.returncode == 0 else ""


def only(word: str) -> list[str]:
    """The commands in which the word stands."""
    found = [command for command in COMMANDS if word in command]
    assert found, word
    return found


def test_what_a_phone_tells_is_there(number: int, demo: Building, phone: dict[str, str]) -> None:
    *ways, ask = COMMANDS
    tell = ways[number]
    said = eventually(lambda: run(f"{tell.rstrip()} && echo done", phone), what=tell)
    assert said == ("done\n" if "mosquitto_pub" in tell else "New Beacon Detection Addeddone\n")

    def mine() -> list[dict[str, str]]:
        listed = json.loads(run(ask, phone) or '{"data":[]}')["data"]
        return [record for record in listed if record["staff_id"] == phone["STAFF"]]

    (record,) = eventually(mine)
    beacon = next(beacon for beacon in demo.beacons if beacon.id in tell.replace(":", ""))
    assert (record["level"], record["location"]) == (beacon.level, demo.room_name(beacon.room))
    assert f'"level":"{record["level"]}","location":"{record["location"]}"' in PAGE


def test_the_phones_key_may_not_look_into_the_past(stack: RunningStack, key: str) -> None:
    past = {"staff_id": "guard-0", "start_time": "1", "end_time": "2"}
    assert web.get(f"{stack.http_url}/extractbeacon", params=past, headers={"X-API-Key": key}).status_code == 403
    assert "SDA_API_KEY`**: whoever" in PAGE


def test_every_command_of_the_page_is_run() -> None:
    assert [word in command for word, command in zip(WAYS, COMMANDS, strict=True)] == [True] * 4
