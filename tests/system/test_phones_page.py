"""Runs the commands of docs/phones.md, each as a phone with its own account."""

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
from support.stack_client import eventually

PAGE = (ROOT / "docs" / "phones.md").read_text()
COMMANDS = re.findall(r"<!-- tested -->\n```sh\n(.*?)```", PAGE, re.DOTALL)
WAYS = ("mosquitto_pub", "/newbeacondetect", "/newbeacondetect?user_address", "/retrieveformonitoring")
PHONES = [f"guard-{number}" for number in range(3)]


@pytest.fixture(scope="module")
def passwords(session_stack: RunningStack) -> Iterator[dict[str, str]]:
    """Accounts of the phones, and their passwords."""
    made = session_stack.command("account", "add", "phone", *PHONES)
    yield dict(line.split("\t") for line in made.splitlines())
    session_stack.command("account", "remove", *PHONES)
    session_stack.wait_until_healthy()


@pytest.fixture(scope="module")
def key(session_stack: RunningStack) -> Iterator[str]:
    """A key made with the page's command."""
    (reported,) = re.findall(r"make key ARGS='(add phones [^']*)'", PAGE)
    made = make_key(session_stack, *reported.split())
    assert made.returncode == 0, made.stderr
    yield made.stdout.strip()
    make_key(session_stack, "revoke", "phones")


@pytest.fixture(params=range(3), ids=["MQTT", "form", "query string"])
def number(request: pytest.FixtureRequest) -> int:
    """Number of the page's method, each with its own phone."""
    chosen: int = request.param
    return chosen


@pytest.fixture
def phone(number: int, stack: RunningStack, passwords: dict[str, str], key: str) -> dict[str, str]:
    """Environment variables of the page's commands."""
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
    """Run a command of the page; returns its output, empty if it fails."""
    done = subprocess.run(
        ["bash", "-euc", command], env=environment, capture_output=True, text=True, timeout=30, check=False
    )
    return done.stdout if done.returncode == 0 else ""


def only(word: str) -> list[str]:
    """The commands that contain the word."""
    found = [command for command in COMMANDS if word in command]
    assert found, word
    return found


def test_a_phones_message_locates_it(number: int, demo: Building, phone: dict[str, str]) -> None:
    *ways, ask = COMMANDS
    command = ways[number]
    said = eventually(lambda: run(f"{command.rstrip()} && echo done", phone), what=command)
    assert said == ("done\n" if "mosquitto_pub" in command else "New Beacon Detection Addeddone\n")

    def mine() -> list[dict[str, str]]:
        listed = json.loads(run(ask, phone) or '{"data":[]}')["data"]
        return [record for record in listed if record["staff_id"] == phone["STAFF"]]

    (record,) = eventually(mine)
    beacon = next(beacon for beacon in demo.beacons if beacon.id in command.replace(":", ""))
    assert (record["level"], record["location"]) == (beacon.level, demo.room_name(beacon.room))
    assert f'"level":"{record["level"]}","location":"{record["location"]}"' in PAGE


def test_the_phones_key_cannot_read_history(stack: RunningStack, key: str) -> None:
    past = {"staff_id": "guard-0", "start_time": "1", "end_time": "2"}
    assert web.get(f"{stack.http_url}/extractbeacon", params=past, headers={"X-API-Key": key}).status_code == 403
    assert "SDA_API_KEY`**: whoever" in PAGE


def test_every_command_of_the_page_is_run() -> None:
    assert [word in command for word, command in zip(WAYS, COMMANDS, strict=True)] == [True] * 4
