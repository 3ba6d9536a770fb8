"""A run of gateways as data: the batches that they make of tags' adverts, as a function of building and seed. Pure.

The adverts do not depend on the gateways' settings; the batches do."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simulator.building import Building
from simulator.gateway import PlayedGateway
from simulator.plan import Plan
from simulator.radio import TagRadio
from simulator.rng import SplitMix64
from simulator.scenario import ScheduledBatch, walk_of
from simulator.walk import Spot

# A tag sends twice a second, a rhythm with which a coin cell lasts a year, and each time up to 10 ms late by chance
# (advDelay; Bluetooth Core Specification, volume 6, part B, 4.4.2.2.1).
ADVERT_S, ADVERT_DELAY_S = 0.5, 0.01
_ADVERT, _WINDOW = 0, 1  # an advert at the end of a window belongs to it


@dataclass(frozen=True, slots=True)
class Tags:
    """Staff who walk with tags; `duration_s` None: without end. The tags of `forgotten` staff lie where they begin."""

    staff: tuple[str, ...]
    seed: int = 1
    duration_s: float | None = None
    forgotten: frozenset[str] = frozenset()

    def scheduled_batches(self, building: Building, gateways: Sequence[PlayedGateway]) -> Iterator[ScheduledBatch]:
        """All windows of all gateways, by their ends. A window without adverts has no readings. The length of a window
        follows the gateway's settings at its start."""
        plan = Plan(building)
        radio = TagRadio(plan, self.seed)
        by_id = {gateway.id: gateway for gateway in gateways}
        tags = [_Tag(self, plan, staff_id, tag) for staff_id in self.staff for tag in building.tags.get(staff_id, ())]
        due = [(tag.rng.uniform(0, ADVERT_S), _ADVERT, number) for number, tag in enumerate(tags)]
        for number, gateway in enumerate(gateways):
            phase = SplitMix64(f"{self.seed}/window/{gateway.id}").random()
            due.append((phase * gateway.settings.window_ms / 1000, _WINDOW, number))
        heapq.heapify(due)
        while due and (self.duration_s is None or due[0][0] < self.duration_s):
            now_s, what, number = due[0]
            if what == _ADVERT:
                tag = tags[number]
                for gateway_id, rssi in radio.send(tag.at(now_s), tag.rng):
                    by_id[gateway_id].add(tag.id, rssi)
                heapq.heapreplace(due, (now_s + ADVERT_S + tag.rng.uniform(0, ADVERT_DELAY_S), what, number))
            else:
                gateway = gateways[number]
                yield ScheduledBatch(now_s, round(now_s * 1000), number, gateway.close(now_s))
                heapq.heapreplace(due, (now_s + gateway.settings.window_ms / 1000, what, number))


class _Tag:
    """A tag and where it is carried."""

    __slots__ = ("_lies", "_walk", "id", "rng")

    def __init__(self, run: Tags, plan: Plan, staff_id: str, tag: str) -> None:
        self.id = tag
        self._walk = walk_of(plan, run.seed, staff_id)
        self._lies = self._walk.at(0.0) if staff_id in run.forgotten else None
        self.rng = SplitMix64(f"{run.seed}/tag/{tag}")

    def at(self, time_s: float) -> Spot:
        """Its position at a time."""
        return self._lies or self._walk.at(time_s)
