"""Walking routes: doors between rooms, lifts between levels, the route from room to room. Pure."""

import heapq
import math
from collections import deque
from itertools import combinations

from simulator.building import Building, Room
from simulator.geometry import Point, area, middle, shared_wall

DOOR_M = 0.9  # common wall needed for a door
DETOUR_M = 30.0  # detour that people prefer to walking through somebody's room
FAR_WALLS = 4  # maximum counted between two rooms: nothing is received beyond


class Plan:
    """Doors, routes and walls of a building.

    Rooms with a common wall of DOOR_M have a door in its middle when one of them is a passage (corridor, lobby,
    core). A room without an adjacent passage has doors to all its neighbours. Lifts connect a core with the nearest
    core of the level above or below; a building without cores has no connection between its levels."""

    def __init__(self, building: Building) -> None:
        self.building = building
        rooms = building.rooms
        self.middles = {room.id: middle(room.polygon) for room in rooms.values()}
        self.areas = {room.id: area(room.polygon) for room in rooms.values()}
        self.walls: dict[str, set[str]] = {room_id: set() for room_id in rooms}
        self.doors: dict[str, dict[str, Point]] = {room_id: {} for room_id in rooms}
        self.lifts: dict[str, dict[str, Point]] = {room_id: {} for room_id in rooms}
        self._add_doors()
        self._add_lifts()
        self._routes: dict[str, dict[str, str]] = {}
        self.reachable = {room_id: tuple(sorted(self._next_rooms_to(room_id))) for room_id in rooms}

    def _add_doors(self) -> None:
        common: dict[tuple[str, str], Point] = {}
        rooms = self.building.rooms
        for a, b in combinations(rooms.values(), 2):
            if a.level != b.level:
                continue
            length, point = shared_wall(a.polygon, b.polygon)
            if length >= DOOR_M:
                common[a.id, b.id] = point
                self.walls[a.id].add(b.id)
                self.walls[b.id].add(a.id)
        enclosed = {
            room.id
            for room in rooms.values()
            if not room.is_passage and not any(rooms[other].is_passage for other in self.walls[room.id])
        }
        for (a_id, b_id), point in common.items():
            if rooms[a_id].is_passage or rooms[b_id].is_passage or enclosed & {a_id, b_id}:
                self.doors[a_id][b_id] = self.doors[b_id][a_id] = point

    def _add_lifts(self) -> None:
        levels: list[list[Room]] = [[] for _ in self.building.levels]
        for room in self.building.rooms.values():
            if room.kind == "core":
                levels[room.level].append(room)
        for level, cores in enumerate(levels):
            for neighbour in (level - 1, level + 1):
                if not 0 <= neighbour < len(levels) or not levels[neighbour]:
                    continue
                for core in cores:
                    at = self.middles[core.id]
                    nearest = min(levels[neighbour], key=lambda other: math.dist(at, self.middles[other.id]))
                    self.lifts[core.id][nearest.id] = self.middles[nearest.id]
                    self.lifts[nearest.id][core.id] = at

    def route(self, start: str, end: str) -> list[str]:
        """The rooms from `start` to `end`, both included; `end` must be in reachable[start]."""
        next_rooms = self._next_rooms_to(end)
        rooms = [start]
        while rooms[-1] != end:
            rooms.append(next_rooms[rooms[-1]])
        return rooms

    def _next_rooms_to(self, end: str) -> dict[str, str]:
        """For each room that can reach `end`: the next room on the route (Dijkstra from the end)."""
        if end in self._routes:
            return self._routes[end]
        best = {end: 0.0}
        following = {end: end}
        open_ = [(0.0, end)]
        while open_:
            length, here = heapq.heappop(open_)
            if length > best[here]:
                continue
            through = DETOUR_M if here != end and not self.building.rooms[here].is_passage else 0.0
            for there, point in (*self.doors[here].items(), *self.lifts[here].items()):
                reach = length + through + math.dist(self.middles[here], point) + math.dist(point, self.middles[there])
                if reach < best.get(there, math.inf):
                    best[there] = reach
                    following[there] = here
                    heapq.heappush(open_, (reach, there))
        self._routes[end] = following
        return following

    def walls_from(self, room_id: str) -> dict[str, int]:
        """Number of walls between this room and each other room of its level, at most FAR_WALLS."""
        counts = {room_id: 0}
        waiting = deque([room_id])
        while waiting:
            here = waiting.popleft()
            for there in self.walls[here]:
                if there not in counts:
                    counts[there] = min(FAR_WALLS, counts[here] + 1)
                    waiting.append(there)
        return counts
