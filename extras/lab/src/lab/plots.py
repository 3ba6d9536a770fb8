"""Pictures of a run as SVG, by matplotlib. Its only user; a void run says so on each."""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
from cycler import cycler

mpl.use("svg")
from matplotlib import pyplot as plt

from lab import statistics, tables
from lab.resources import GENERATOR, MACHINE, Use
from lab.samples import Sample

COLOURS = {"node-red": "#0072B2", "influxd": "#D55E00", "mosquitto": "#009E73", "telegraf": "#CC79A7",
           "spool": "#E69F00", GENERATOR: "#7A7A7A", MACHINE: "#111111"}  # fmt: skip
"""Okabe and Ito: distinguished by people who do not see all colours too."""
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A", "#111111")
STYLE: Any = {
    "svg.fonttype": "none", "font.family": "sans-serif", "font.sans-serif": ["system-ui", "DejaVu Sans", "sans-serif"],
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#9aa4af",
    "axes.grid": True, "grid.color": "#e6eaee", "axes.axisbelow": True, "legend.frameon": False,
    "axes.prop_cycle": cycler(color=CYCLE),
}  # fmt: skip
WIDE = (10.0, 3.4)
LABEL_SHARE = 0.15
"""Of the axis: what a step's name takes."""


def pictures(summary: Mapping[str, Any], samples: Sequence[Sample], uses: Sequence[Use]) -> dict[str, tuple[str, str]]:
    """SVG and title by name, in the order in which they are shown."""
    steps = summary["steps"]
    if not steps:
        return {}
    begin_ms = steps[0]["begun_ms"]
    drawn: dict[str, tuple[str, str]] = {}

    def add(name: str, title: str, draw: Callable[[Any], None]) -> None:
        drawn[name] = (_drawn(draw, summary["verdict"] == "void"), title)

    with mpl.rc_context(STYLE):
        if tables.is_ladder(steps):
            add("throughput", "Response time against throughput", lambda axes: _against(axes, steps))
            add("faults", "Faults against throughput", lambda axes: _faults(axes, steps))
        add(
            "latency",
            "Response time over time, from when each request was due",
            lambda axes: _latency(axes, summary, samples, begin_ms),
        )
        if any(one.behind_ms >= 0 for one in samples):
            add(
                "delay",
                "Monitoring delay over time: age of the newest that a viewer sees",
                lambda axes: _delay(axes, samples, begin_ms),
            )
        if uses:
            add("cpu", "CPU by part", lambda axes: _use(axes, uses, begin_ms, "cores", "cores"))
            add("memory", "Memory by part", lambda axes: _use(axes, uses, begin_ms, "rss_mib", "MiB", (MACHINE,)))
            add(
                "disk",
                "Disk, the whole machine",
                lambda axes: _moved(axes, uses, begin_ms, ("read_mib", "written_mib")),
            )
            add(
                "network",
                "Network, the whole machine",
                lambda axes: _moved(axes, uses, begin_ms, ("sent_mib", "received_mib")),
            )
    return drawn


def _drawn(draw: Callable[[Any], None], void: bool) -> str:
    figure, axes = plt.subplots(figsize=WIDE, layout="constrained")
    draw(axes)
    if void:
        axes.text(0.5, 0.5, "VOID", transform=axes.transAxes, fontsize=72, color="#b3261e", alpha=0.18, ha="center",
                  va="center", rotation=12, weight="bold")  # fmt: skip
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    before, _, rest = svg.partition("<metadata>")
    return before + rest.partition("</metadata>")[2]


def _medians(steps: Sequence[Mapping[str, Any]]) -> list[tuple[str, float, dict[str, float]]]:
    """(name, offered, figures of the step's own call), the median of repeats."""
    found = []
    for name, some in tables.medians(steps).items():
        call = some["primary"]
        if call in some["calls"]:
            own = {"per_s": tables.throughput(some), "faults": tables.faults(some), "requests": tables.requests(some)}
            found.append((name, some["offered"], {**some["calls"][call], **own}))
    return found


def _apart(x: Sequence[float]) -> list[int]:
    """Which points have room for a name beside those to the right of them, the rightmost first."""
    room = LABEL_SHARE * (max(x, default=0) - min(x, default=0))
    found: list[int] = []
    for n in sorted(range(len(x)), key=lambda n: -x[n]):
        if not found or x[found[-1]] - x[n] >= room > 0:
            found.append(n)
    return found


def _against(axes: Any, steps: Sequence[Mapping[str, Any]]) -> None:
    points = [one for one in _medians(steps) if one[2]["p50"] is not None]
    x = [one[2]["per_s"] for one in points]
    for name in ("p50", "p95", "p99"):
        axes.plot(x, [one[2][name] for one in points], marker="o", markersize=4, label=name)
    for n in _apart(x):
        name, _, figures = points[n]
        axes.annotate(name, (x[n], figures["p99"]), textcoords="offset points", xytext=(0, 6), fontsize=8, ha="center")
    axes.set(xlabel="right answers a second", ylabel="ms from when it was due")
    if points and max(one[2]["p99"] for one in points) > 20 * max(1e-3, min(one[2]["p50"] for one in points)):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.margins(x=0.08, y=0.18)
    _legend(axes, 3)


def _faults(axes: Any, steps: Sequence[Mapping[str, Any]]) -> None:
    points = _medians(steps)
    shares = [100 * one[2]["faults"] / max(1, one[2]["requests"]) for one in points]
    axes.plot([one[2]["per_s"] for one in points], shares, marker="o", markersize=4, color="#D55E00")
    axes.set(xlabel="right answers a second", ylabel="faults, % of requests")
    axes.set_ylim(0, max(1.0, 1.2 * max(shares, default=0)))


def _latency(axes: Any, summary: Mapping[str, Any], samples: Sequence[Sample], begin_ms: float) -> None:
    calls: dict[str, list[Sample]] = {}
    for one in samples:
        if one.call != "unchanged":  # a frame with nothing new has no time
            calls.setdefault(one.call, []).append(one)
    whole_s = (summary["steps"][-1]["begun_ms"] - begin_ms) / 1000 + summary["steps"][-1]["seconds"]
    bucket_s = max(1.0, whole_s / 240)
    most = sorted(calls, key=lambda call: -len(calls[call]))[:3]
    for number, call in enumerate(most):
        rows = statistics.course(calls[call], begin_ms, bucket_s)
        x = [row[0] for row in rows]
        axes.plot(x, [row[1] for row in rows], color=CYCLE[number], linewidth=1.4, label=f"{call} p50")
        axes.plot(x, [row[2] for row in rows], color=CYCLE[number], linewidth=0.9, linestyle=":", label=f"{call} p99")
    for step in summary["steps"]:
        axes.axvline((step["begun_ms"] - begin_ms) / 1000, color="#c3cad2", linewidth=0.8)
    axes.set(xlabel="s", ylabel="ms")
    axes.set_yscale("log")
    _legend(axes, 6)


def _delay(axes: Any, samples: Sequence[Sample], begin_ms: float) -> None:
    points = sorted(((one.due_ms - begin_ms) / 1000, one.behind_ms / 1000) for one in samples if one.behind_ms >= 0)
    axes.plot([x for x, _ in points], [y for _, y in points], marker=".", markersize=3, linewidth=1)
    axes.set(xlabel="s", ylabel="s")
    axes.set_ylim(bottom=0)


def _use(axes: Any, uses: Sequence[Use], begin_ms: float, field: str, unit: str, without: tuple[str, ...] = ()) -> None:
    for part in [one for one in COLOURS if one not in without]:
        rows = [one for one in uses if one.part == part and one.ms >= begin_ms - 1000]
        if rows:
            axes.plot([(one.ms - begin_ms) / 1000 for one in rows], [getattr(one, field) for one in rows],
                      color=COLOURS[part], linewidth=1.6 if part == MACHINE else 1.2, label=part)  # fmt: skip
    axes.set(xlabel="s", ylabel=unit)
    axes.set_ylim(bottom=0)
    _legend(axes, 6)


def _moved(axes: Any, uses: Sequence[Use], begin_ms: float, fields: tuple[str, str]) -> None:
    rows = [one for one in uses if one.part == MACHINE and one.ms >= begin_ms - 1000]
    for field in fields:
        axes.plot([(one.ms - begin_ms) / 1000 for one in rows], [getattr(one, field) for one in rows],
                  linewidth=1.2, label=field.removesuffix("_mib"))  # fmt: skip
    axes.set(xlabel="s", ylabel="MiB/s")
    axes.set_ylim(bottom=0)
    _legend(axes, 2)


def _legend(axes: Any, columns: int) -> None:
    """Above the picture, where it hides nothing."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, fontsize=8, borderaxespad=0.2)
