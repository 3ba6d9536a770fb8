"""A run of gateways as data: the batches that they make of tags' adverts, as a function of building and seed. Pure.

The adverts do not depend on the gateways' settings; the batches do. What a gateway makes of adverts is the agent's own
code: `Window` and `apply_config`."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gateway_agent.decoders import Sighting
from gateway_agent.scan_settings import MIN_RSSI, ConfigMessageError, ScanSettings, apply_config
from gateway_agent.window import Window

from simulator.building import Building, Gateway
from simulator.message import MAX_READINGS, Reading, ScheduledBatch
from simulator.phones import walk_of
from simulator.plan import Plan
from simulator.radio import TAG_TX, TagRadio
from simulator.rng import SplitMix64
from simulator.telemetry import Repeater, Sensors
from simulator.walk import Spot

# A tag sends twice a second, a rhythm with which a coin cell lasts a year, and each time up to 10 ms late by chance
# (advDelay; Bluetooth Core Specification, volume 6, part B, 4.4.2.2.1).
ADVERT_S, ADVERT_DELAY_S = 0.5, 0.01
_ADVERT, _WINDOW = 0, 1  # an advert at the end of a window belongs to it


class PlayedGateway:
    """One gateway: its settings, its scan window, its counters."""

    def __init__(self, gateway_id: str, base: ScanSettings, sensors: dict[str, Sensors]) -> None:
        self.id = gateway_id
        self.configs_refused = 0
        self._base, self._sensors = base, sensors
        self._window = Window(base)
        self._repeater = Repeater()
        self._sightings: dict[str, Sighting] = {}

    @property
    def settings(self) -> ScanSettings:
        """Those in force."""
        return self._window.settings

    def configure(self, payload: bytes) -> str | None:
        """Apply a `config` message from the next advert on. Returns why it is invalid; the settings then stay."""
        try:
            self._window.settings = apply_config(self._base, payload)
        except ConfigMessageError as error:
            self.configs_refused += 1
            return f"gateway {self.id}: config {error}"
        return None

    def add(self, beacon: str, rssi: int, now_s: float) -> None:
        """Add one advert; `rssi` in dBm."""
        sighting = self._sightings.get(beacon)
        if sighting is None:
            sighting = self._sightings[beacon] = Sighting({beacon: TAG_TX}, None)
        self._window.add(beacon, rssi, sighting, now_s)

    def close(self, now_s: float) -> tuple[Reading, ...]:
        """The readings of the window that ends now; the next window begins."""
        readings = [self._with_telemetry(reading, now_s) for reading in self._window.close(now_s)]
        return tuple(readings[:MAX_READINGS])

    def _with_telemetry(self, reading: Reading, now_s: float) -> Reading:
        sensors = self._sensors.get(reading.beacon)
        due = self._repeater.due(reading.beacon, sensors, now_s) if sensors is not None else None
        return reading._replace(**due._asdict()) if due is not None else reading

    def figures(self) -> dict[str, float]:
        """The scan figures of its health message."""
        settings = self.settings
        return {
            "adverts": self._window.adverts,
            **{f"dropped_{reason}": count for reason, count in self._window.ignored.items()},
            "registered": len(settings.allow or ()),
            "window_ms": settings.window_ms,
            "min_rssi": settings.min_rssi,
            "rssi_offset": settings.rssi_offset,
            "config_refused": self.configs_refused,
        }


def gateways_of(building: Building, sensors: dict[str, Sensors]) -> list[PlayedGateway]:
    """The building's gateways, set as the flows would set them, so that nothing depends on when `config` arrives."""
    allow = building.registered
    return [PlayedGateway(one.id, _settings(one, allow), sensors) for one in building.gateways.values()]


def _settings(gateway: Gateway, allow: Iterable[str]) -> ScanSettings:
    min_rssi = MIN_RSSI[0] if gateway.min_rssi is None else _weakest(gateway.min_rssi, gateway.rssi_offset)
    return ScanSettings(gateway.window_ms, min_rssi, allow=frozenset(allow))


def _weakest(min_rssi: int, rssi_offset: float) -> int:
    """The weakest RSSI as measured that the locator uses, which adds the offset (docs/interfaces.md)."""
    possible = range(MIN_RSSI[0], MIN_RSSI[1] + 1)
    return next((rssi for rssi in possible if rssi + rssi_offset >= min_rssi), MIN_RSSI[1])


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
                    by_id[gateway_id].add(tag.id, rssi, now_s)
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
