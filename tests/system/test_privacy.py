"""The commands of docs/privacy.md delete one person's data and nobody else's."""

import os
import re
import subprocess

from stack.layout import ROOT
from support.building import Building
from support.listening import listening
from support.running import RunningStack
from support.stack_client import batch, eventually, influx, now_ms, publish
from support.stored import stored_readings

PAGE = (ROOT / "docs" / "privacy.md").read_text()
(COMMANDS,) = re.findall(r"<!-- tested -->\n```sh\n(.*?)```", PAGE, re.DOTALL)


def _stored(stack: RunningStack, person: str, tag: str) -> dict[str, int]:
    """Number of a person's points: (bucket, measurement, tag, value)."""
    places = {
        "location": ("locations", "location", "staff_id", person),
        "event": ("locations", "event", "subject", person),
        "batch": ("readings", "batch", "receiver", person),
        "heard": ("readings", "heard", "beacon", tag),
        "measured": ("readings", "measured", "receiver", person),
        "refused": ("health", "rejected", "receiver", person),
    }
    points = {
        name: len(influx(stack, bucket, f"SELECT * FROM {measurement} WHERE {key} = '{value}'"))  # noqa: S608 - our own names
        for name, (bucket, measurement, key, value) in places.items()
    }
    return points | {"tag": len(stored_readings(stack, beacon=tag))}


def _retained(stack: RunningStack) -> set[str]:
    """Staff with a retained location: retained messages arrive before a later message of our own."""
    with listening(stack, "staff/+/location") as heard:
        publish(stack, ("staff/end-of-list/location", "{}"), username="nodered-publisher")
        eventually(
            lambda: any(one.topic == "staff/end-of-list/location" for one in heard), what="the end of what is retained"
        )
        return {one.topic.split("/")[1] for one in heard}


def test_one_person_is_deleted_and_nobody_else(stack: RunningStack, demo: Building) -> None:
    owner, tag = demo.tagged()
    beacon = demo.beacons[0].id
    for person in ("leaver", "stayer"):
        body = batch((beacon, -50))
        body["readings"][0] |= {"battery_mv": 2950}
        publish(stack, (f"phone/{person}/readings", body), (f"phone/{person}/readings", "no json"))
    gateway = demo.gateways[0].id
    ts = now_ms()  # of two batches of one millisecond one reading of a beacon counts
    publish(stack, (f"gateway/{gateway}/readings", batch((tag, -50), (beacon, -61), ts=ts - 1)))
    publish(stack, (f"gateway/{gateway}/readings", batch((beacon, -63), (tag, -50), ts=ts)))
    before = eventually(
        lambda: all((found := _stored(stack, "leaver", tag)).values()) and found, 30, "all of the person is stored"
    )
    assert before
    eventually(lambda: all(_stored(stack, "stayer", tag).values()), 30, "and of the other")
    assert {"leaver", "stayer"} <= _retained(stack)
    # after a broker restart in earlier tests the last minute is published again with the next heartbeat
    heartbeats = f"SELECT late FROM flows_health WHERE time > {now_ms()}ms"  # noqa: S608 - our own number
    eventually(lambda: len(influx(stack, "health", heartbeats)) >= 2, 30, "nothing is published again")

    env_file = stack.settings.env_file
    environment = {"PATH": os.environ["PATH"], **stack.secrets, "PERSON": "leaver", "TAGS": tag}
    commands = COMMANDS.replace(". ./.env", "")  # the tests' ports come from the environment
    done = subprocess.run(
        ["sh", "-euc", commands], cwd=env_file.parent, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(_stored(stack, "leaver", tag).values()) == {0}
    left = _stored(stack, "stayer", tag)
    assert all(count for name, count in left.items() if name not in ("heard", "tag")), left
    neighbours = {row["rssi"] for row in stored_readings(stack, f"receiver = '{gateway}'", beacon)}
    assert {-61, -63} <= neighbours, "other readings of the same batches stay"
    assert _retained(stack) & {"leaver", "stayer"} == {"stayer"}
    assert owner
