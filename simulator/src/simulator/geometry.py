"""Plane geometry of rooms: polygons as corners in order, lengths in metres. Pure."""

import functools
import heapq
import math
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

from simulator.rng import Rng

Point = tuple[float, float]
Polygon = Sequence[Point]
TOLERANCE_M = 1e-6
CLEARANCE_M = 0.3  # distance at which people walk around a wall's corner


def edges(polygon: Polygon) -> Iterator[tuple[Point, Point]]:
    return pairwise((*polygon, polygon[0]))


def signed_area(polygon: Polygon) -> float:
    """Square metres, positive when the corners run counter-clockwise (shoelace formula)."""
    return sum(ax * by - bx * ay for (ax, ay), (bx, by) in edges(polygon)) / 2


def area(polygon: Polygon) -> float:
    return abs(signed_area(polygon))


def distance_to_edge(edge: tuple[Point, Point], point: Point) -> float:
    (ax, ay), (bx, by) = edge
    dx, dy = bx - ax, by - ay
    along = ((point[0] - ax) * dx + (point[1] - ay) * dy) / (dx * dx + dy * dy)
    along = min(1.0, max(0.0, along))
    return math.hypot(point[0] - ax - along * dx, point[1] - ay - along * dy)


def clearance(polygon: Polygon, point: Point) -> float:
    """Distance to the nearest wall."""
    return min(distance_to_edge(edge, point) for edge in edges(polygon))


def covers(polygon: Polygon, point: Point) -> bool:
    """Whether the point lies inside or on the border (even-odd rule)."""
    x, y = point
    inside = False
    for (ax, ay), (bx, by) in edges(polygon):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside or clearance(polygon, point) <= TOLERANCE_M


def _cross(origin: Point, a: Point, b: Point) -> float:
    return (a[0] - origin[0]) * (b[1] - origin[1]) - (a[1] - origin[1]) * (b[0] - origin[0])


def has_line_of_sight(polygon: Polygon, a: Point, b: Point) -> bool:
    """Whether the straight line from a to b stays inside: every piece between two contacts with walls does."""
    cuts = [0.0, 1.0]
    dx, dy = b[0] - a[0], b[1] - a[1]
    for (px, py), (qx, qy) in edges(polygon):
        ex, ey = qx - px, qy - py
        turn = dx * ey - dy * ex
        if abs(turn) < 1e-12:  # parallel: only its ends matter, and they belong to neighbouring walls too
            continue
        along = ((px - a[0]) * ey - (py - a[1]) * ex) / turn
        on_wall = ((px - a[0]) * dy - (py - a[1]) * dx) / turn
        if 0 < along < 1 and -1e-9 <= on_wall <= 1 + 1e-9:
            cuts.append(along)
    cuts.sort()
    return all(
        covers(polygon, (a[0] + dx * (first + second) / 2, a[1] + dy * (first + second) / 2))
        for first, second in pairwise(cuts)
        if second - first > 1e-9
    )


def corner_points(polygon: Polygon) -> list[Point]:
    """A point beside each inward corner, for paths around it; empty if the room is convex."""
    return list(_corner_points(tuple(polygon)))


@functools.lru_cache(maxsize=4096)
def _corner_points(polygon: tuple[Point, ...]) -> tuple[Point, ...]:
    orientation = 1 if signed_area(polygon) > 0 else -1
    found = []
    count = len(polygon)
    for index, corner in enumerate(polygon):
        before, after = polygon[index - 1], polygon[(index + 1) % count]
        if _cross(before, corner, after) * orientation >= -1e-9:
            continue
        found.append(_beside(corner, before, after))
    return tuple(point for point in found if covers(polygon, point))


@functools.lru_cache(maxsize=4096)
def _is_rectangle(polygon: tuple[Point, ...]) -> bool:
    """Whether four corners span a rectangle along the axes, as most rooms do."""
    xs, ys = {x for x, _ in polygon}, {y for _, y in polygon}
    return len(polygon) == len(set(polygon)) == 4 and len(xs) == len(ys) == 2


def _beside(corner: Point, before: Point, after: Point) -> Point:
    """The point into the room from an inward corner: away from both walls that meet there."""
    x = y = 0.0
    for other in (before, after):
        length = math.dist(corner, other)
        x += (corner[0] - other[0]) / length
        y += (corner[1] - other[1]) / length
    length = math.hypot(x, y) or 1.0
    return corner[0] + CLEARANCE_M * x / length, corner[1] + CLEARANCE_M * y / length


def path_inside(polygon: Polygon, a: Point, b: Point) -> list[Point]:
    """The shortest path from a to b inside the room, including both ends (Dijkstra over lines of sight).

    The straight line if there is no such path (a room narrower than CLEARANCE_M)."""
    corners = corner_points(polygon)
    if not corners or has_line_of_sight(polygon, a, b):
        return [a, b]
    points = [a, b, *corners]
    best = {0: 0.0}
    previous: dict[int, int] = {}
    open_ = [(0.0, 0)]
    while open_:
        length, here = heapq.heappop(open_)
        if here == 1:
            path = [1]
            while path[-1] != 0:
                path.append(previous[path[-1]])
            return [points[index] for index in reversed(path)]
        if length > best[here]:
            continue
        for there in range(1, len(points)):
            reach = length + math.dist(points[here], points[there])
            if (
                there != here
                and reach < best.get(there, math.inf)
                and has_line_of_sight(polygon, points[here], points[there])
            ):
                best[there] = reach
                previous[there] = here
                heapq.heappush(open_, (reach, there))
    return [a, b]


def shared_wall(a: Polygon, b: Polygon) -> tuple[float, Point]:
    """Length in metres and middle of the longest stretch of wall that two rooms have in common; 0 for none."""
    best: tuple[float, Point] = (0.0, a[0])
    for p, q in edges(a):
        length = math.dist(p, q)
        ux, uy = (q[0] - p[0]) / length, (q[1] - p[1]) / length
        for r, s in edges(b):
            if max(abs(_cross(p, q, r)), abs(_cross(p, q, s))) / length > 0.01:  # 1 cm: drawn by hand
                continue
            along = sorted((t[0] - p[0]) * ux + (t[1] - p[1]) * uy for t in (r, s))
            start, end = max(0.0, along[0]), min(length, along[1])
            if end - start > best[0]:
                middle = (start + end) / 2
                best = (end - start, (p[0] + ux * middle, p[1] + uy * middle))
    return best


def random_point(polygon: Polygon, rng: Rng, margin_m: float = 0.5) -> Point:
    """A random point of the room, at least `margin_m` from its walls where the room is wide enough."""
    xs, ys = [x for x, _ in polygon], [y for _, y in polygon]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    is_rectangle = _is_rectangle(tuple(polygon))
    for wanted in (margin_m, 0.0):
        for _ in range(40):
            point = x, y = rng.uniform(left, right), rng.uniform(low, high)
            if is_rectangle:
                if min(x - left, right - x, y - low, high - y) >= wanted:
                    return point
            elif covers(polygon, point) and clearance(polygon, point) >= wanted:
                return point
    return polygon[0]


def middle(polygon: Polygon) -> Point:
    """A point well inside: the centroid if it is half a metre from every wall, else the best of many points."""
    six = 6 * signed_area(polygon)
    weights = [(ax * by - bx * ay, ax + bx, ay + by) for (ax, ay), (bx, by) in edges(polygon)]
    centre = (sum(w * x for w, x, _ in weights) / six, sum(w * y for w, _, y in weights) / six)
    if covers(polygon, centre) and clearance(polygon, centre) >= 0.5:
        return centre
    rng = random.Random(0)  # noqa: S311 - geometry, not secrets
    return max((random_point(polygon, rng) for _ in range(50)), key=lambda point: clearance(polygon, point))
