"""Two people with a known walk and history."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event, Thread

from .building import Building, Placed
from .running import RunningStack
from .stack_client import batch, connect, end, eventually, get, influx, now_ms, publish

LENGTH_S = 180
TURN_S = 90
"""Both change rooms at this time after the start."""
LATER_S = 30
"""Ben arrives this long after Ann."""
SLACK_S = 15
"""The locator may take this long to notice a change of room."""


@dataclass(frozen=True, slots=True)
class Walks:
    """Ann was in `first`, then in `second`; Ben came to `first` later, then went to `third`. Both are still there."""

    ann: str
    ben: str
    first: Placed
    second: Placed
    third: Placed
    start_ms: int

    @property
    def turn_ms(self) -> int:
        return self.start_ms + TURN_S * 1000

    @property
    def end_ms(self) -> int:
        return self.start_ms + LENGTH_S * 1000

    @property
    def window(self) -> dict[str, float]:
        """A window that contains the whole walk."""
        return {"start": self.start_ms / 1000 - 60, "end": self.end_ms / 1000 + 60}


def walk(stack: RunningStack, demo: Building, ann: str, ben: str) -> Walks:
    """Publish the walks, a message a second, and wait until both first stays are stored."""
    first, second, third = _three_rooms(demo)
    walks = Walks(ann, ben, first, second, third, now_ms() // 1000 * 1000 - LENGTH_S * 1000)
    messages = []
    for second_s in range(LENGTH_S + 1):
        ts = walks.start_ms + second_s * 1000
        there = [(ann, first if second_s < TURN_S else second)]
        if second_s >= LATER_S:
            there.append((ben, first if second_s < TURN_S else third))
        messages += [(f"phone/{who}/readings", batch((room.id, -45), ts=ts)) for who, room in there]
    publish(stack, *messages)
    for who in (ann, ben):
        stays = f"SELECT room, leave_ms FROM stay WHERE staff_id = '{who}'"  # noqa: S608 - our own names
        eventually(partial(influx, stack, "locations", stays), within_s=60, what=f"the first stay of {who}")
        eventually(partial(_is_there, stack, who, walks), within_s=60, what=f"{who} in the last room")
    return walks


@contextmanager
def keep_present(stack: RunningStack, walks: Walks) -> Iterator[None]:
    """Publish readings of both in their last rooms every second during the block, so that nobody gets lost."""
    over = Event()
    client = connect(stack)

    def go_on() -> None:
        while not over.wait(1):
            for who, room in ((walks.ann, walks.second), (walks.ben, walks.third)):
                client.publish(f"sda/v1/phone/{who}/readings", json.dumps(batch((room.id, -45))), qos=1)

    thread = Thread(target=go_on, name="still there")
    thread.start()
    try:
        for who in (walks.ann, walks.ben):
            eventually(partial(_is_present, stack, who), within_s=60, what=f"{who} present")
        yield
    finally:
        over.set()
        thread.join()
        end(client)


def _is_present(stack: RunningStack, who: str) -> bool:
    return bool(get(stack, f"/api/v1/staff/{who}").json()["presence"]["state"] == "present")


def _is_there(stack: RunningStack, who: str, walks: Walks) -> bool:
    last = walks.second if who == walks.ann else walks.third
    presence = get(stack, f"/api/v1/staff/{who}").json().get("presence")
    return presence is not None and presence["room"] == last.room


def _three_rooms(demo: Building) -> tuple[Placed, Placed, Placed]:
    """Beacons of three rooms of one level."""
    level = demo.beacons[0].level
    rooms = list({one.room: one for one in demo.beacons if one.level == level}.values())
    return rooms[0], rooms[1], rooms[2]
