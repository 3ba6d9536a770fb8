"""An upper bound of room accuracy for standing people in a drawn building.

The locator of this module has data that no installation has: the path loss, each wall and open door, the true place
and power of each device, the strength of furniture's shadowing, and all readings of ten minutes. It does not have the
shadowing itself. So it shows an upper bound of accuracy."""

import numpy as np

from accuracy.drawn import LASTS_S, STANDING, Scene
from accuracy.drawn_plan import box_of
from accuracy.drawn_radio import Adverts, Floats, Radio

GRID_M = 0.7
FEWEST = 4  # adverts: of fewer no mean is taken
MIN_PROBABILITY = 1e-4  # no observation is impossible
BODY_SHARE = 0.35  # of the body's loss: its standard deviation over all directions, 1 / √8


def informed(scene: Scene) -> float:
    """Share of the standing recordings for which the informed locator finds the room."""
    rooms, level, place = _grid(scene)
    expected = scene.air.open_levels(level, place) - scene.air.radio.body_db / 2
    right = []
    for track, adverts in zip(scene.tracks[:STANDING], scene.adverts, strict=False):
        log_p = _log_p(adverts, expected, scene.air.radio)
        share = np.exp(log_p - log_p.max())
        best = max(dict.fromkeys(rooms), key=lambda room: float(share[rooms == room].sum()))
        right.append(best == track.rooms[0])
    return float(np.mean(right))


def _grid(scene: Scene) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Places all over the building: room, level, and x and y in metres of each."""
    rooms, levels, places = [], [], []
    for room in scene.plan.rooms.values():
        west, south, east, north = box_of(room)
        for x in np.arange(west + GRID_M / 2, east, GRID_M):
            for y in np.arange(south + GRID_M / 2, north, GRID_M):
                rooms.append(room.id)
                levels.append(room.level)
                places.append((x, y))
    return np.array(rooms), np.array(levels), np.array(places)


def _log_p(adverts: Adverts, expected: Floats, radio: Radio) -> Floats:
    """Log probability of ten minutes' readings at each place; `expected` has shape (places, devices)."""
    variance = radio.shadowing_db**2 + (BODY_SHARE * radio.body_db) ** 2 + 1
    sent = radio.adverts_per_s * LASTS_S * (1 - radio.lost_share)
    log_p = np.zeros(len(expected))
    for device in range(expected.shape[1]):
        levels = adverts.rssi[adverts.device == device]
        if len(levels) < FEWEST:
            above = (expected[:, device] - radio.sensitivity_dbm) / np.sqrt(variance)
            log_p += np.log(1 / (1 + np.exp(1.702 * above)) + MIN_PROBABILITY)
            continue
        mean = levels.mean()
        if len(levels) < 0.7 * sent:  # only the stronger part of them is received
            mean = min(mean, radio.sensitivity_dbm + (len(levels) / sent - 0.5) * 2 * radio.fading_db)
        log_p -= (mean - expected[:, device]) ** 2 / (2 * variance)
    return log_p
