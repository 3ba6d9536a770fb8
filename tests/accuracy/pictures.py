"""Pictures: a recording's path on the floor and its rooms over time; how far probabilities are right. The only user of
matplotlib."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from accuracy.follow import Estimate
from accuracy.held_out import HeldOut
from accuracy.measure import Result
from accuracy.recorded import Recording
from accuracy.score import Second

# Okabe and Ito, and Tol's "muted": safe for the colour-blind; more rooms than colours share them.
COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
    "#332288", "#999933", "#882255", "#44aa99", "#ddcc77", "#117733",
)  # fmt: skip
WRONG = "#c1121f"
NOWHERE = "#bbbbbb"
SECOND_MS = 1000.0
Point = tuple[float, float]
mpl.rcParams.update({
    "svg.hashsalt": "accuracy", "font.family": "sans-serif", "font.size": 9, "axes.spines.top": False,
    "axes.spines.right": False, "svg.fonttype": "none",
})  # fmt: skip


def draw_recording(result: Result, folder: Path) -> Path | None:
    """One recording in its first phases into a file; None where its places are not known, or on several levels.

    Left the floor with the path in the colour of the room in history, right the rooms over time."""
    recording, estimated = result.recording, result.estimated[0]
    levels = {room["id"]: level for level in recording.building["levels"] for room in level["rooms"]}
    of = {levels[second.room]["id"] for second in recording.scored}
    if len(of) != 1 or not _way(recording):
        return None
    level = levels[recording.scored[0].room]
    colours = {room["id"]: COLOURS[i % len(COLOURS)] for i, room in enumerate(level["rooms"])}
    figure, (floor, time) = plt.subplots(1, 2, figsize=(10.5, 4.3), width_ratios=(1, 1.25), layout="constrained")
    title = (
        f"{result.name}: history right in {result.history.each[0].share:.1%} of {result.history.seconds} s,"
        f" live in {result.live.each[0].share:.1%}, two-second mean in {result.mean.share:.1%}"
    )
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    _floor(floor, recording, estimated, level, colours)
    _time(time, recording, estimated, colours)
    return _saved(figure, folder, f"{recording.of}-{recording.name}.svg")


def draw_reliability(found: HeldOut, folder: Path) -> Path:
    """Share of right answers over the probability that was said with them; a dot's area is its share of answers."""
    figure, axes = plt.subplots(figsize=(4.6, 4.6), layout="constrained")
    axes.plot((0, 1), (0, 1), color=NOWHERE, linewidth=1)
    for colour, (name, one) in zip(COLOURS, (("history", found.history), ("live", found.live)), strict=False):
        shares, said, right = zip(*one.rows(), strict=True)
        axes.plot(said, right, color=colour, linewidth=1)
        axes.scatter(said, right, [20 + 400 * share for share in shares], color=colour, alpha=0.6, linewidth=0,
                     label=f"{name}, calibration error {one.error:.3f}")  # fmt: skip
    axes.set(xlabel="probability said", ylabel="share right", xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
    axes.set_title(f"{len(found.folds)} buildings, each left out of tuning", loc="left", fontsize=11)
    axes.legend(frameon=False, loc="upper left", markerscale=0.5)
    return _saved(figure, folder, "reliability.svg")


def _saved(figure: Figure, folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / name, metadata={"Date": None})
    plt.close(figure)
    return folder / name


def _floor(
    axes: Axes, recording: Recording, estimated: Estimate, level: dict[str, Any], colours: dict[str, str]
) -> None:
    for room in level["rooms"]:
        fill = colours[room["id"]]
        axes.add_patch(Polygon(room["polygon"], facecolor=fill, alpha=0.10, linewidth=0))
        x, y = (sum(corner[axis] for corner in room["polygon"]) / len(room["polygon"]) for axis in (0, 1))
        axes.text(x, y, room["id"], color=fill, fontweight="bold", ha="center", va="center", fontsize=8)
    for one in recording.devices:
        if one["level"] == level["id"]:
            axes.plot(one["x_m"], one["y_m"], marker="^", color="#555555", markersize=6, linestyle="none")
    way = _way(recording)
    for piece in _without_gaps(way):
        points = [(second.x_m or 0.0, second.y_m or 0.0) for second in piece]
        rooms = [estimated.history_at(second.ts_ms) for second in piece]
        wrong = ["" if room in ("", piece[i].room) else WRONG for i, room in enumerate(rooms)]
        for run, colour in _runs(points, wrong):
            if colour:
                axes.plot(*zip(*run, strict=True), color=colour, linewidth=7, alpha=0.35, solid_capstyle="round")
        for run, room in _runs(points, rooms):
            axes.plot(*zip(*run, strict=True), color=colours.get(room, NOWHERE), linewidth=2)
    for second, marker in ((way[0], "o"), (way[-1], "s")):
        axes.plot(second.x_m or 0.0, second.y_m or 0.0, marker=marker, color="black", markersize=6)
    axes.set(aspect="equal", xlabel="x in m", ylabel="y in m")
    axes.autoscale_view()
    device = "gateway" if recording.mode == "gateway" else "beacon"
    axes.legend(
        handles=[
            Line2D([], [], marker="o", color="black", linestyle="none", label="start"),
            Line2D([], [], marker="s", color="black", linestyle="none", label="end"),
            Line2D([], [], marker="^", color="#555555", linestyle="none", label=device),
            Line2D([], [], color=WRONG, linewidth=7, alpha=0.35, label="wrong"),
        ],
        loc="upper center", bbox_to_anchor=(0.5, 1.1), ncols=4, frameon=False, fontsize=8, handletextpad=0.4,
    )  # fmt: skip


def _time(axes: Axes, recording: Recording, estimated: Estimate, colours: dict[str, str]) -> None:
    start = recording.truth[0].ts_ms
    truth = {second.ts_ms: second.room for second in recording.truth}
    rows: tuple[tuple[str, Callable[[float], str]], ...] = (
        ("true", lambda ms: truth[int(ms)]),
        ("history", estimated.history_at),
        ("live", estimated.live_at),
    )
    for row, (_, room_at) in enumerate(rows):
        bars: dict[str, list[tuple[float, float]]] = {}
        for ms in truth:
            bars.setdefault(room_at(ms), []).append(((ms - start) / 1000, SECOND_MS / 1000))
        for room, spans in bars.items():
            axes.broken_barh(_joined(spans), (2.1 - row, 0.55), facecolor=colours.get(room, "#dddddd"), linewidth=0)
        if row:
            wrong = [
                ((ms - start) / 1000, SECOND_MS / 1000) for ms, room in truth.items() if room and room_at(ms) != room
            ]
            axes.broken_barh(_joined(wrong), (2.0 - row, 0.07), facecolor=WRONG, linewidth=0)
    scored = recording.scored
    for before, after in pairwise(scored):
        if before.room != after.room:
            axes.axvline((after.ts_ms - start) / 1000, color="black", linewidth=0.8, linestyle=(0, (3, 3)), zorder=0)
    axes.set_yticks([2.37, 1.37, 0.37], [name for name, _ in rows])
    axes.set(xlabel="seconds", xlim=(0, (recording.truth[-1].ts_ms - start) / 1000 + 1), ylim=(-0.15, 2.85))
    axes.spines["left"].set_visible(False)
    axes.tick_params(left=False)
    seen = dict.fromkeys(second.room for second in scored)
    handles = [Patch(color=colours[room], label=room) for room in seen]
    axes.legend(handles=[*handles, Patch(color=WRONG, label="wrong")], loc="upper center", bbox_to_anchor=(0.5, 1.14),
                ncols=6, frameon=False, fontsize=8, handlelength=1.0)  # fmt: skip


def _way(recording: Recording) -> list[Second]:
    """Scored seconds with a known place."""
    return [second for second in recording.scored if second.x_m is not None and second.y_m is not None]


def _without_gaps(way: list[Second]) -> list[list[Second]]:
    """Pieces of a path, split at gaps."""
    pieces: list[list[Second]] = []
    for second in way:
        if pieces and second.ts_ms - pieces[-1][-1].ts_ms <= 2 * SECOND_MS:
            pieces[-1].append(second)
        else:
            pieces.append([second])
    return pieces


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
    """Merge neighbouring spans."""
    found: list[tuple[float, float]] = []
    for at, width in spans:
        if found and abs(sum(found[-1]) - at) < 1e-6:
            found[-1] = (found[-1][0], found[-1][1] + width)
        else:
            found.append((at, width))
    return found
