"""Pictures of the recorded walks: the way on the floor, and the rooms over time. The only user of matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from accuracy.follow import Told
from accuracy.recorded import Walk

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")  # Okabe and Ito: safe for the colour-blind
WRONG = "#c1121f"
STEP_MS = 250.0
Point = tuple[float, float]
mpl.rcParams.update({
    "svg.hashsalt": "accuracy", "font.family": "sans-serif", "font.size": 9, "axes.spines.top": False,
    "axes.spines.right": False, "svg.fonttype": "none",
})  # fmt: skip


def draw(walk: Walk, told: Told, building: dict[str, Any], title: str, file: Path) -> None:
    """One walk: left the floor with the way in the colour of the room that history tells, right the rooms over time."""
    rooms = building["levels"][0]["rooms"]
    colours = {room["id"]: COLOURS[i % len(COLOURS)] for i, room in enumerate(rooms)}
    figure, (floor, time) = plt.subplots(1, 2, figsize=(10.5, 4.3), width_ratios=(1, 1.25), layout="constrained")
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    _floor(floor, walk, told, building, colours)
    _time(time, walk, told, colours)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def _floor(axes: Axes, walk: Walk, told: Told, building: dict[str, Any], colours: dict[str, str]) -> None:
    for room in building["levels"][0]["rooms"]:
        (west, south), _, (east, north), _ = room["polygon"]
        fill = colours[room["id"]]
        axes.add_patch(Rectangle((west, south), east - west, north - south, facecolor=fill, alpha=0.10, linewidth=0))
        x = west + 0.3 if west == 0 else east - 0.3
        y = south + 0.3 if south == 0 else north - 0.3
        axes.text(x, y, room["name"], color=colours[room["id"]], fontweight="bold", ha="left" if west == 0 else "right",
                  va="bottom" if south == 0 else "top")  # fmt: skip
    for gateway in building["gateways"]:
        axes.plot(gateway["x_m"], gateway["y_m"], marker="^", color="#555555", markersize=6, linestyle="none")
    way = _way(walk)
    xs, ys = [x for _, x, _ in way], [y for _, _, y in way]
    told_rooms = [told.history_at(ms) for ms, _, _ in way]
    wrong = ["" if room in ("", walk.truth.room_at(way[i][0])) else WRONG for i, room in enumerate(told_rooms)]
    for piece, colour in _runs(list(zip(xs, ys, strict=True)), wrong):
        if colour:
            axes.plot(*zip(*piece, strict=True), color=colour, linewidth=7, alpha=0.35, solid_capstyle="round")
    for piece, room in _runs(list(zip(xs, ys, strict=True)), told_rooms):
        axes.plot(*zip(*piece, strict=True), color=colours.get(room, "#bbbbbb"), linewidth=2)
    axes.plot(xs[0], ys[0], marker="o", color="black", markersize=6)
    axes.plot(xs[-1], ys[-1], marker="s", color="black", markersize=6)
    axes.set(aspect="equal", xlabel="x in m", ylabel="y in m")
    axes.autoscale_view()
    axes.legend(
        handles=[
            Line2D([], [], marker="o", color="black", linestyle="none", label="start"),
            Line2D([], [], marker="s", color="black", linestyle="none", label="end"),
            Line2D([], [], marker="^", color="#555555", linestyle="none", label="gateway"),
            Line2D([], [], color=WRONG, linewidth=7, alpha=0.35, label="told wrong"),
        ],
        loc="upper center", bbox_to_anchor=(0.5, 1.1), ncols=4, frameon=False, fontsize=8, handletextpad=0.4,
    )  # fmt: skip


def _time(axes: Axes, walk: Walk, told: Told, colours: dict[str, str]) -> None:
    start = walk.truth.starts_ms[0]
    steps = [start + i * STEP_MS for i in range(int((walk.truth.end_ms - start) / STEP_MS))]
    rows = (("true", walk.truth.room_at), ("history", told.history_at), ("live", told.live_at))
    for row, (_, room_at) in enumerate(rows):
        bars: dict[str, list[tuple[float, float]]] = {}
        for ms in steps:
            bars.setdefault(room_at(ms), []).append(((ms - start) / 1000, STEP_MS / 1000))
        for room, spans in bars.items():
            axes.broken_barh(_joined(spans), (2.1 - row, 0.55), facecolor=colours.get(room, "#dddddd"), linewidth=0)
        if row:
            wrong = [((ms - start) / 1000, STEP_MS / 1000) for ms in steps if room_at(ms) != walk.truth.room_at(ms)]
            axes.broken_barh(_joined(wrong), (2.0 - row, 0.07), facecolor=WRONG, linewidth=0)
    for ms, _, _ in walk.truth.changes():
        axes.axvline((ms - start) / 1000, color="black", linewidth=0.8, linestyle=(0, (3, 3)), zorder=0)
    axes.set_yticks([2.37, 1.37, 0.37], [name for name, _ in rows])
    axes.set(xlabel="seconds", xlim=(0, (walk.truth.end_ms - start) / 1000), ylim=(-0.15, 2.85))
    axes.spines["left"].set_visible(False)
    axes.tick_params(left=False)
    handles = [Patch(color=colour, label=room) for room, colour in colours.items()]
    axes.legend(handles=[*handles, Patch(color=WRONG, label="wrong")], loc="upper center", bbox_to_anchor=(0.5, 1.1),
                ncols=6, frameon=False, fontsize=8, handlelength=1.0)  # fmt: skip


def _way(walk: Walk) -> list[tuple[float, float, float]]:
    """The way in steps of STEP_MS: time, x, y."""
    found: list[tuple[float, float, float]] = []
    for one in zip(walk.path.times_ms, walk.path.xs_m, walk.path.ys_m, strict=True):
        if not found or one[0] - found[-1][0] >= STEP_MS:
            found.append(one)
    return found


def _runs(points: list[Point], labels: Sequence[str]) -> list[tuple[list[Point], str]]:
    """Points as runs of the same label; each run begins where the one before it ends."""
    found: list[tuple[list[Point], str]] = []
    for i, (point, label) in enumerate(zip(points, labels, strict=True)):
        if found and found[-1][1] == label:
            found[-1][0].append(point)
        else:
            found.append(([points[i - 1], point] if i else [point], label))
    return found


def _joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Neighbouring spans as one."""
    found: list[tuple[float, float]] = []
    for at, width in spans:
        if found and abs(sum(found[-1]) - at) < 1e-6:
            found[-1] = (found[-1][0], found[-1][1] + width)
        else:
            found.append((at, width))
    return found
