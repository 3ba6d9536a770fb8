"""The radio of a drawn building: received strength between all devices. Pure; numpy, since millions are drawn.

rssi = tx + device - 10 · exponent · log10(d) - walls - floors - body + shadowing + fading

Every number of a building is drawn anew from a range. The ranges are assumptions, wide on purpose: each end is a
building that somebody could have. None is taken from the locator or from the simulator."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accuracy.drawn_plan import Plan, Track
from accuracy.recorded import Mode

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SAID_DBM = -59.0  # at 1 m: the schema's default for `tx`
STEP_S = 0.5  # places are looked at so often: at most 0.7 m of a walk
NEAREST_M = 0.3
CARRIED_M = 1.1  # a tag on the chest, a phone in a pocket or hand
LET_THROUGH = 1 / 3  # of the doors: they stand open
DOOR_M = 0.9
LOUDEST_DBM = -20.0  # receivers saturate
EDGE_DB = 2.0  # near its sensitivity a receiver gets some adverts
MISSED_IN_BURST = 0.9
ADVERT_DELAY_S = 0.01  # a random delay of up to 10 ms follows each interval (advDelay of Bluetooth's link layer)
WAVES = 48  # of which a random field is made up


@dataclass(frozen=True, slots=True)
class Radio:
    """Facts of one building."""

    exponent: float
    wall_db: float
    floor_db: float
    storey_m: float
    body_db: float
    tx_error_db: float
    shadowing_db: float
    shadowing_m: float
    fading_db: float
    adverts_per_s: float
    lost_share: float
    sensitivity_dbm: float
    burst_every_s: float
    burst_s: float


@dataclass(frozen=True, slots=True)
class Device:
    """A gateway or beacon at its true place, `height_m` above its floor."""

    id: str
    room: str
    level: int
    x_m: float
    y_m: float
    height_m: float


@dataclass(frozen=True, slots=True)
class Adverts:
    """One person's adverts: times in seconds, ascending, with the number of the device and the level in whole
    dBm of each."""

    times_s: Floats
    device: Ints
    rssi: Ints


def draw_radio(rng: np.random.Generator) -> Radio:
    """One building's radio."""

    def log_uniform(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    return Radio(
        exponent=rng.uniform(1.6, 4.0),  # corridors that guide the waves, to rooms full of shelves
        wall_db=rng.uniform(2.0, 12.0),  # plasterboard to concrete
        floor_db=rng.uniform(12.0, 25.0),  # wood to concrete with steel
        storey_m=rng.uniform(2.6, 4.5),  # a flat to an office with a false ceiling
        body_db=rng.uniform(0.0, 10.0),  # a phone in the hand, to a tag on the chest
        tx_error_db=rng.uniform(-15.0, 15.0),  # tags are set from -20 to +8 dBm, uncalibrated
        shadowing_db=rng.uniform(2.0, 8.0),  # an empty hall to a workshop
        shadowing_m=log_uniform(1.0, 4.0),
        fading_db=rng.uniform(2.0, 6.0),  # a line of sight, to none (Rayleigh: 5.6 dB)
        adverts_per_s=log_uniform(0.2, 10.0),  # years on a coin cell, to what iBeacon asks for
        lost_share=rng.uniform(0.05, 0.4),  # from a quiet house with its own scanner to a busy office
        sensitivity_dbm=rng.uniform(-100.0, -85.0),  # a good antenna, to one in a metal case
        burst_every_s=log_uniform(30.0, 300.0),
        burst_s=log_uniform(1.0, 10.0),  # a scan that pauses, somebody's download
    )


class Air:
    """One building's radio with all differences between devices, walls and places."""

    def __init__(self, plan: Plan, devices: list[Device], radio: Radio, rng: np.random.Generator) -> None:
        self.radio, self._devices, self._rooms = radio, devices, plan.rooms
        self._level = np.array([one.level for one in devices])
        self._place = np.array([(one.x_m, one.y_m) for one in devices])
        self._z = np.array([one.height_m for one in devices]) + self._level * radio.storey_m
        self._gain = SAID_DBM + radio.tx_error_db + rng.uniform(-6.0, 6.0, len(devices))
        self._walls = [_walls(plan, level, radio.wall_db, rng) for level in range(plan.levels)]
        # A normal random field over each level for each device, with correlation exp(-distance / length): a sum of
        # plane waves whose wave vectors have that correlation's spectrum, in two dimensions a Student t of one degree
        # (Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007).
        shape = (plan.levels, len(devices), WAVES)
        self._wave = rng.normal(size=(*shape, 2)) / np.abs(rng.normal(0.0, radio.shadowing_m, shape))[..., None]
        self._phase = rng.uniform(0.0, 2 * np.pi, shape)

    def open_levels(self, level: Ints, place: Floats) -> Floats:
        """Like `levels`, with only walls and floors in between."""
        rssi = self._gain - 10 * self.radio.exponent * np.log10(self._metres(level, place))
        floors = np.abs(self._level - level[:, None])
        found: Floats = rssi - self.radio.floor_db * floors - self._walls_db(level, place, self._up(level))
        return found

    def _up(self, level: Ints) -> Floats:
        """Height of each device (columns) above a person on each level (rows), metres."""
        up: Floats = self._z - (CARRIED_M + level * self.radio.storey_m)[:, None]
        return up

    def _metres(self, level: Ints, place: Floats) -> Floats:
        way = self._place - place[:, None]
        metres: Floats = np.maximum(NEAREST_M, np.sqrt((way**2).sum(axis=2) + self._up(level) ** 2))
        return metres

    def levels(self, level: Ints, place: Floats, heading: Floats) -> Floats:
        """The level of each device (columns) for somebody at each place (rows), before fading, dBm.

        `level` has shape (places,), `place` and `heading` have (places, 2)."""
        radio = self.radio
        way = self._place - place[:, None]  # (places, devices, 2)
        facing = (way * heading[:, None]).sum(axis=2) / self._metres(level, place)  # 1 ahead … -1 behind
        rssi = self.open_levels(level, place)
        rssi -= radio.body_db * (1 - np.clip(facing, -1, 1)) / 2
        for k in np.unique(level):
            rows = level == k
            turns = np.einsum("pc,dwc->pdw", place[rows], self._wave[k]) + self._phase[k]
            rssi[rows] += np.cos(turns).sum(axis=2) * (radio.shadowing_db * np.sqrt(2 / WAVES))
        found: Floats = rssi
        return found

    def _walls_db(self, level: Ints, place: Floats, up: Floats) -> Floats:
        """Loss of the walls in between. A path to another level crosses walls of each level on its part there."""
        loss = np.zeros(up.shape)
        for here in np.unique(level):
            rows = level == here
            for there in np.unique(self._level):
                columns = self._level == there
                cut = np.ix_(rows, columns)
                if here == there:
                    loss[cut] = _crossed_db(place[rows], self._place[columns], self._walls[here])
                    continue
                floor = max(here, there) * self.radio.storey_m  # of the levels there are at most two
                share = (floor - CARRIED_M - here * self.radio.storey_m) / up[cut]
                loss[cut] = _crossed_db(place[rows], self._place[columns], self._walls[here], until=share)
                loss[cut] += _crossed_db(place[rows], self._place[columns], self._walls[there], since=share)
        return loss

    def adverts(self, track: Track, mode: Mode, rng: np.random.Generator) -> Adverts:
        """Adverts received on a track.

        Gateways receive the same advert of a tag at once; a phone receives beacons, each with its own timing."""
        radio, count = self.radio, len(self._devices)
        trains = 1 if mode == "gateway" else count
        interval_s = 1 / radio.adverts_per_s
        gaps = interval_s + rng.uniform(0.0, ADVERT_DELAY_S, (int(track.end_s / interval_s) + 2, trains))
        gaps[0] *= rng.random(trains)
        times = np.broadcast_to(np.cumsum(gaps, axis=0), (len(gaps), count))
        step = np.minimum((times / STEP_S).astype(np.int64), int(track.end_s / STEP_S))
        rssi = self._levels_on(track)[step, np.arange(count)]
        # Weibull fading: the logarithm of an exponentially distributed power (that is Rayleigh, 5.6 dB), narrowed or
        # widened; its deep fades are the long tail of Gumbel's distribution.
        rssi = rssi - radio.fading_db * np.sqrt(6) / np.pi * (rng.gumbel(size=rssi.shape) - np.euler_gamma)
        burst = self._bursts(times, count if mode == "gateway" else 1, track.end_s, rng)
        heard = rssi + rng.normal(0.0, EDGE_DB, rssi.shape) > radio.sensitivity_dbm
        heard &= rng.random(rssi.shape) >= np.where(burst, MISSED_IN_BURST, radio.lost_share)
        heard &= times < track.end_s
        row, device = np.nonzero(heard)
        order = np.argsort(times[row, device], kind="stable")
        row, device = row[order], device[order]
        whole = np.minimum(np.rint(rssi[row, device]), LOUDEST_DBM).astype(np.int64)
        return Adverts(times[row, device], device, whole)

    def _levels_on(self, track: Track) -> Floats:
        """Levels of each device (columns) at each step of a track; computed once per place."""
        middles_s = (np.arange(int(track.end_s / STEP_S) + 1, dtype=np.float64) + 0.5) * STEP_S
        where = track.at(middles_s)
        storey = np.array([self._rooms[room_id].level for room_id in track.rooms])[where.leg]
        all_ = np.column_stack([storey, where.x_m, where.y_m, where.heading_x, where.heading_y])
        once, back = np.unique(all_, axis=0, return_inverse=True)
        found: Floats = self.levels(once[:, 0].astype(np.int64), once[:, 1:3], once[:, 3:5])[back.reshape(-1)]
        return found

    def _bursts(self, times: Floats, receivers: int, end_s: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whether each advert falls into a burst of losses of its receiver; bursts start and last at random."""
        every_s, lasts_s = self.radio.burst_every_s, self.radio.burst_s
        count = int(3 * end_s / (every_s + lasts_s)) + 20
        gaps = np.stack([rng.exponential(every_s, (count, receivers)), rng.exponential(lasts_s, (count, receivers))], 1)
        turns = np.cumsum(gaps.reshape(2 * count, receivers), axis=0)
        inside = [np.searchsorted(turns[:, k % receivers], times[:, k]) % 2 == 1 for k in range(times.shape[1])]
        return np.stack(inside, axis=1)


@dataclass(frozen=True, slots=True)
class _Walls:
    """Pieces of wall of a level: start, direction and loss."""

    start: Floats
    along: Floats
    loss_db: Floats


def _walls(plan: Plan, level: int, wall_db: float, rng: np.random.Generator) -> _Walls:
    """The level's walls, each with its own loss, with gaps at open doors."""
    pieces = []
    for border in plan.borders:
        loss_db, lets_through = wall_db * rng.uniform(0.7, 1.3), rng.random() < LET_THROUGH
        if border.level != level or border.open:
            continue
        start, end = np.array(border.start), np.array(border.end)
        ends = [start, end]
        if border.door is not None and lets_through:
            half = (end - start) / np.hypot(*(end - start)) * DOOR_M / 2
            ends = [start, np.array(border.door) - half, np.array(border.door) + half, end]
        pieces += [(a, b - a, loss_db) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    start, along, loss = (np.array(part) for part in zip(*pieces, strict=True)) if pieces else (np.empty((0, 2)),) * 3
    return _Walls(start, along, loss.reshape(len(pieces)))


def _crossed_db(
    place: Floats, to: Floats, walls: _Walls, since: Floats | float = 0.0, until: Floats | float = 1.0
) -> Floats:
    """The loss of all walls that the straight ways from each place to each end cross, shape (places, ends).

    Of a way counts the part between the shares `since` and `until`, numbers or of that shape."""
    way = (to - place[:, None])[:, :, None]  # (places, ends, 1, 2)
    off = (walls.start - place[:, None])[:, None]  # (places, 1, walls, 2)
    along = walls.along
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = way[..., 0] * along[:, 1] - way[..., 1] * along[:, 0]
        share = (off[..., 0] * along[:, 1] - off[..., 1] * along[:, 0]) / turn
        on_wall = (off[..., 0] * way[..., 1] - off[..., 1] * way[..., 0]) / turn
    low, high = (np.broadcast_to(limit, way.shape[:2])[..., None] for limit in (since, until))
    hit = (share > low) & (share < high) & (on_wall >= 0) & (on_wall <= 1)
    crossed: Floats = hit @ walls.loss_db
    return crossed
