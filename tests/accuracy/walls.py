"""Counts the walls between two places of a level: crossings of the straight line with the rooms' outlines."""

import numpy as np
from numpy.typing import NDArray
from simulator.building import Building
from simulator.geometry import edges

GRID_M = 0.25
SAME_M = 0.02  # two rooms' outlines closer than this on the line are the two sides of one wall
Counts = NDArray[np.int64]


class Walls:
    """Walls of a building, counted once for each fixed place on a grid of GRID_M and cached."""

    def __init__(self, building: Building) -> None:
        rooms = building.rooms.values()
        self._lines = [
            np.array([edge for room in rooms if room.level == level for edge in edges(room.polygon)])
            for level in range(len(building.levels))
        ]
        self._low = [lines.min(axis=(0, 1)) - GRID_M for lines in self._lines]
        self._counted: dict[tuple[int, float, float], Counts] = {}

    def between(
        self, level: int, place: tuple[float, float], x_m: NDArray[np.float64], y_m: NDArray[np.float64]
    ) -> Counts:
        """Number of walls between a fixed place and each of these, all on one level."""
        low = self._low[level]
        if (key := (level, *place)) not in self._counted:
            self._counted[key] = _grid(low, self._lines[level], place)
        count = self._counted[key]
        column = ((x_m - low[0]) / GRID_M).astype(int).clip(0, count.shape[0] - 1)
        row = ((y_m - low[1]) / GRID_M).astype(int).clip(0, count.shape[1] - 1)
        found: Counts = count[column, row]
        return found


def _grid(low: NDArray[np.float64], lines: NDArray[np.float64], place: tuple[float, float]) -> Counts:
    columns, rows = np.ceil((lines.max(axis=(0, 1)) + GRID_M - low) / GRID_M).astype(int)
    xs = low[0] + (np.arange(columns) + 0.5) * GRID_M
    ys = low[1] + (np.arange(rows) + 0.5) * GRID_M
    to = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
    return _crossed(np.array(place), to, lines).reshape(columns, rows)


def _crossed(start: NDArray[np.float64], to: NDArray[np.float64], lines: NDArray[np.float64]) -> Counts:
    """Distinct places at which the ways from `start` to each point of `to` cross any of the lines."""
    way = to - start  # (points, 2)
    along, off = lines[:, 1] - lines[:, 0], lines[:, 0] - start
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = way[:, None, 0] * along[:, 1] - way[:, None, 1] * along[:, 0]
        share = (off[:, 0] * along[:, 1] - off[:, 1] * along[:, 0]) / turn  # how far along the way
        on_line = (off[:, 0] * way[:, None, 1] - off[:, 1] * way[:, None, 0]) / turn
    hit = (share > 0) & (share < 1) & (on_line >= 0) & (on_line <= 1)
    metres = np.full(hit.shape, np.inf)
    np.copyto(metres, share * np.hypot(way[:, 0], way[:, 1])[:, None], where=hit)
    metres.sort(axis=1)
    first, second = metres[:, :-1], metres[:, 1:]
    again = np.isfinite(second) & (second - np.where(np.isfinite(first), first, 0) < SAME_M)
    counted: Counts = hit.sum(axis=1) - again.sum(axis=1)
    return counted
