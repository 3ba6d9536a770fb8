"""Receivers whose clocks are wrong: their people are where they are, live, after a kill and after a rebuild."""

import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import paho.mqtt.client as mqtt
from support import web
from support.building import Building, Placed
from support.keys import admin
from support.running import RunningStack
from support.stack_client import at_least, batch, connect, end, eventually, influx, now_ms, rebuild_by_hand

KNOWN_WITHIN_S = 60
"""A clock behind is recognised after twenty seconds."""
SHORT, AROUND = 9, 25
"""Batches, one a second."""


@dataclass
class Walker:
    """A phone, and what it sends."""

    who: str
    ahead_ms: int
    stamps: list[int] = field(default_factory=list)

    def send(self, client: mqtt.Client, room: Placed, other: Placed) -> None:
        ts = now_ms() + self.ahead_ms
        self.stamps.append(ts)
        readings = batch((room.id, -50), (other.id, -75), ts=ts)
        client.publish(f"sda/v1/phone/{self.who}/readings", json.dumps(readings), qos=1)


class Crowd:
    """Phones that walk together, a batch a second."""

    def __init__(self, walkers: list[Walker], first: Placed, second: Placed) -> None:
        self.walkers = walkers
        self._rooms = (first, second)
        self._goes_on = True

    def move(self) -> int:
        """Into the other room; returns when."""
        self._rooms = self._rooms[::-1]
        return now_ms()

    def stay(self, batches: int) -> None:
        """Until they have sent so many more."""
        sent = self.walkers[-1].stamps
        enough = len(sent) + batches
        eventually(lambda: len(sent) >= enough, 2 * batches + 10, "their batches")

    @contextmanager
    def walking(self, stack: RunningStack) -> Iterator[None]:
        client = connect(stack)
        thread = threading.Thread(target=self._walk, args=(client,))
        thread.start()
        try:
            yield
        finally:
            self._goes_on = False
            thread.join()
            end(client)

    def _walk(self, client: mqtt.Client) -> None:
        due = time.monotonic()
        while self._goes_on:
            for walker in self.walkers:
                walker.send(client, *self._rooms)
            due += 1
            time.sleep(max(0.0, due - time.monotonic()))


def test_short_stay_is_there_once_however_the_clock_is(stack: RunningStack, demo: Building) -> None:
    first, second = demo.beacons_of_two_rooms()
    name = uuid.uuid4().hex[:8]
    walkers = [Walker(f"clock-{name}-{at}", 1000 * ahead) for at, ahead in enumerate((0, 120, -120))]
    crowd = Crowd(walkers, first, second)
    start_ms = now_ms()
    with crowd.walking(stack):
        wrong = {one.who for one in walkers[1:]}
        eventually(lambda: {clock["receiver"] for clock in _wrong(stack)} >= wrong, KNOWN_WITHIN_S, "the clocks")
        crowd.stay(AROUND)
        entered_ms = crowd.move()
        crowd.stay(SHORT)
        left_ms = crowd.move()
        crowd.stay(3)
        stack.kill("node-red")
        crowd.stay(3)
        stack.start("node-red")
        eventually(stack.is_caught_up, within_s=90, what="the rebuild after the kill")
        crowd.stay(AROUND)
        crowd.move()
        _see_alerts(stack, walkers)
        crowd.stay(AROUND)
    expected = [first.room, second.room, first.room, second.room]
    found = {}
    for walker in walkers:
        stays = eventually(partial(_all_stays, stack, walker.who, len(expected)), 120, f"stays of {walker.who}")
        assert [one["room"] for one in stays] == expected, walker
        short = stays[1]
        assert abs(short["enter_ms"] - entered_ms) < 4000, walker
        assert abs(short["leave_ms"] - left_ms) < 4000, walker
        assert all(after["enter_ms"] >= before["leave_ms"] for before, after in pairwise(stays)), walker
        found[walker.who] = [(one["room"], one["enter_ms"], one["leave_ms"]) for one in stays]
        located = f"SELECT room FROM location WHERE staff_id = '{walker.who}'"  # noqa: S608 - our own name
        seconds = influx(stack, "locations", located)
        assert all(start_ms - 2000 <= one["time"] <= now_ms() for one in seconds), "nothing is of another time"
        points = f"SELECT readings FROM batch WHERE receiver = '{walker.who}'"  # noqa: S608
        stored = influx(stack, "readings", points)
        assert {one["time"] for one in stored} == set(walker.stamps), "points keep the receiver's own time"
    eventually(lambda: stack.is_settled(now_ms() - 60_000), 180, "history of the time")
    told = rebuild_by_hand(stack, _iso(start_ms), _iso(now_ms() - 20_000))
    assert "done" in told or "locations" in told, told
    for who, before in found.items():
        again = [(one["room"], one["enter_ms"], one["leave_ms"]) for one in _stays(stack, who)]
        assert again == before, who


def _see_alerts(stack: RunningStack, walkers: list[Walker]) -> None:
    with admin(stack) as caller:
        answer = caller.get("/api/v1/alerts", params={"kind": "clock_wrong", "state": "open"}).json()
    texts = {alert["subject"]: alert["text"] for alert in answer["alerts"]}
    for walker in walkers[1:]:
        assert "120 s" in texts[walker.who] or "2 min" in texts[walker.who]
        assert ("ahead" if walker.ahead_ms > 0 else "behind") in texts[walker.who]
    assert walkers[0].who not in texts


def _wrong(stack: RunningStack) -> list[dict[str, Any]]:
    headers = {"X-API-Key": stack.secrets["SDA_API_KEY"]}
    part = web.get(f"{stack.http_url}/health", headers=headers).json()["parts"]["building"]
    assert part["status"] == "up"
    wrong: list[dict[str, Any]] = part.get("wrong_clocks", [])
    return wrong


def _stays(stack: RunningStack, who: str) -> list[dict[str, Any]]:
    question = f"SELECT room, enter_ms, leave_ms FROM stay WHERE staff_id = '{who}' AND duration_s > 0"  # noqa: S608
    return influx(stack, "locations", question)


def _all_stays(stack: RunningStack, who: str, count: int) -> list[dict[str, Any]]:
    return at_least(count, _stays(stack, who))


def _iso(ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ms // 1000))
