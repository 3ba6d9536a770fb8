"""The simulated scenes, their targets and figures. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from accuracy.air import UNCALIBRATED_DB
from accuracy.played import Mode, Scene

LIGHT_WALL_DB = 3.4  # COST 231: plasterboard and the like; the building's walls are taken for heavy ones otherwise
SKEW_S = 2.0  # clocks set over a network are wrong by far less; this is a receiver that lost its time server
OUTS = 6  # number of devices that are out, one at a time
Size = Literal["full", "quick"]
MODES: tuple[Mode, ...] = ("phone", "gateway")


@dataclass(frozen=True, slots=True)
class Group:
    """Scenes whose figures add up to one row."""

    name: str
    scenes: tuple[Scene, ...]


def groups(size: Size) -> Iterator[Group]:
    """All rows: by phone and by tag, standing and patrolling, undisturbed and disturbed; `quick` is for tests."""
    people, hours = (120, 1.0) if size == "full" else (60, 0.15)
    for mode in MODES:
        still, patrol = Scene(mode, "still", people, hours), Scene(mode, "patrol", people // 2, hours)
        device = "beacon" if mode == "phone" else "gateway"
        for scene in (still, patrol):
            name, half = f"{mode}, {scene.manner}", replace(scene, people=scene.people // 2)
            yield Group(name, (scene,))
            yield Group(f"{name}, one {device} out", _out(scene, size))
            yield Group(f"{name}, clocks ±{SKEW_S:.0f} s", (replace(half, skew_s=SKEW_S),))
            if size == "full":
                yield Group(f"{name}, uncalibrated", (replace(half, devices_db=UNCALIBRATED_DB),))
                yield Group(f"{name}, from a list", (replace(half, listed=True),))
                yield Group(f"{name}, light walls", (replace(half, wall_db=LIGHT_WALL_DB),))
        yield Group(f"{mode}, still, where the {device} is out", _out(replace(still, near=True), size))
        if mode == "phone":
            yield Group("phone, patrol, fixed windows of 1 to 4 s", (replace(patrol, fixed_windows=True),))


def _out(scene: Scene, size: Size) -> tuple[Scene, ...]:
    """The same scene with one device out, repeated with devices spread over the building."""
    times = OUTS if size == "full" else OUTS // 2
    return tuple(
        replace(scene, people=scene.people // times, out=number * 11 + 3, seed=number + 1) for number in range(times)
    )
