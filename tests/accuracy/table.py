"""Figures as text. Pure."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from accuracy.alterations import Altered
from accuracy.candidates import label
from accuracy.interval import interval, median, worst_decile
from accuracy.nested import Nested, Outer
from accuracy.radios import MANNERS, Drawn, Summary, summaries
from accuracy.real import Result, Scores, of_sets
from accuracy.score import quantile
from accuracy.sensitivity import Sensitivity
from accuracy.simulated import Figures

Row = tuple[str, ...]
RECORDED_HEAD = (
    "recording", "seconds", "history", "from to", "live", "from to", "changes: true", "history", "live",
    "history delay s", "live delay s", "strongest", "changes", "mean", "changes",
)  # fmt: skip
SET_HEAD = (
    "set", "history", "95 % interval", "live", "live delay s", "changes a true one", "strongest", "mean",
    "above mean", "seconds away from borders", "history there", "live there",
)  # fmt: skip


def recorded_rows(results: Iterable[Result]) -> list[Row]:
    """One row for each recording: shares as mean and range over the phases, delays as median and 95th percentile."""
    return [
        (
            one.name, str(one.history.seconds), percent(one.history.share), _span(one.history), percent(one.live.share),
            _span(one.live), str(one.history.true_changes), f"{one.history.changes:.1f}", f"{one.live.changes:.1f}",
            two(one.history.delays_s), two(one.live.delays_s), percent(one.strongest.share),
            f"{one.strongest.changes:.0f}", percent(one.mean.share), f"{one.mean.changes:.0f}",
        )
        for one in results
    ]  # fmt: skip


def set_rows(results: Iterable[Result]) -> list[Row]:
    """One row for each set: means over its recordings; delays and changes of all of them."""
    return [_set_row(name, some) for name, some in of_sets(results).items()]


def _set_row(name: str, some: list[Result]) -> Row:
    history, mean = ([getattr(one, way).share for one in some] for way in ("history", "mean"))
    low, high = interval(history, fmean)
    away = [one for one in some if one.history_away.seconds]
    seconds = sum(one.history.seconds for one in some)
    true = sum(one.history.true_changes for one in some)
    changes = [sum(getattr(one, way).changes for one in some) / max(1, true) for way in ("history", "live")]
    return (
        name, percent(fmean(history)), f"{low * 100:.0f} to {high * 100:.0f}" if len(some) > 1 else "one recording",
        percent(fmean(one.live.share for one in some)), two([it for one in some for it in one.live.delays_s]),
        f"{changes[0]:.1f}, live {changes[1]:.1f}", percent(fmean(one.strongest.share for one in some)),
        percent(fmean(mean)),
        f"{(fmean(history) - fmean(mean)) * 100:+.1f}",
        percent(sum(one.history_away.seconds for one in some) / seconds),
        *(_together([getattr(one, way) for one in away]) for way in ("history_away", "live_away")),
    )  # fmt: skip


def _together(some: Sequence[Scores]) -> str:
    """Share of all their seconds: recordings with few seconds count little."""
    seconds = sum(one.seconds for one in some)
    return percent(sum(one.share * one.seconds for one in some) / seconds) if seconds else "-"


def worst(results: Sequence[Result]) -> str:
    """The recording with the lowest history share, and the one with the least gain over the simple method."""
    least = min(results, key=lambda one: one.history.share)
    below = min(results, key=lambda one: one.history.share - one.mean.share)
    by = (below.history.share - below.mean.share) * 100
    return (
        f"Worst recording: {least.name}, history {percent(least.history.share)}. "
        f"Least above the two-second mean: {below.name}, {by:+.1f} points."
    )


OUTER_HEAD = ("left out", "history, left out", "live, left out", "history, tuned", "live, tuned", "chosen without it")


def nested_rows(found: Sequence[Outer]) -> list[Row]:
    """One row for each fold."""
    return [
        (one.name, *map(percent, (*one.outer, *one.tuned)), label(one.chosen))
        for one in found
    ]  # fmt: skip


def headline(found: Nested) -> str:
    """Overfitting: the gap between tunings chosen with and without a set."""
    history, live = found.gap
    outer = [fmean(one.outer[way] for one in found.sets) for way in (0, 1)]
    return (
        f"TUNED MINUS LEFT OUT, mean over the sets: history {history * 100:+.1f} points, live {live * 100:+.1f} points "
        f"(left out: history {percent(outer[0])}, live {percent(outer[1])})"
    )


ALTERED_HEAD = ("alteration", "set", "history", "live", "mean", "worst against the mean, points")


def altered_rows(found: Iterable[Altered]) -> list[Row]:
    return [
        (
            one.alteration,
            one.of,
            *map(percent, (one.history, one.live, one.mean)),
            f"{one.worst[1] * 100:+.1f} {one.worst[0]}",
        )
        for one in found
    ]


def level_table(found: dict[str, dict[str, float]]) -> str:
    """Seconds whose room changes with the levels."""
    names = list(next(iter(found.values())))
    rows = [(shift, *(percent(shares[name]) for name in names)) for shift, shares in found.items()]
    return text(("seconds with another room", *names), rows)


SENSITIVITY_HEAD = ("changed", "history", "live", "drawn, standing", "drawn, patrol")


def sensitivity_rows(found: Sequence[Sensitivity]) -> list[Row]:
    """The first row as it is, the others as differences from it in points."""
    first = found[0]

    def row(one: Sensitivity) -> Row:
        pairs = ((getattr(one, key), getattr(first, key)) for key in ("history", "live", "standing", "patrol"))
        return (one.changed, *(f"{(a - b) * 100:+.1f}" for a, b in pairs))

    start = (first.changed, *map(percent, (first.history, first.live, first.standing, first.patrol)))
    return [start, *map(row, found[1:])]


DRAWN_HEAD = (
    "drawn buildings", "count", "standing, history", "live", "mean", "knows the radio",
    "patrol, history", "live", "mean", "flips/h", "changes a true one",
)  # fmt: skip


def drawn_rows(buildings: Sequence[Drawn]) -> list[Row]:
    """Median and worst decile over the buildings, of all and of each part."""
    return [_drawn_row(one) for one in summaries(buildings)]


def _drawn_row(one: Summary) -> Row:
    def cell(share: tuple[float, float]) -> str:
        return "{:.1f}, {:.1f}".format(*(one * 100 for one in share))

    standing, patrol = ([cell(one.shares[way, manner]) for way in ("history", "live", "mean")] for manner in MANNERS)
    cells = (*standing, cell(one.informed), *patrol)
    return (one.name, str(one.count), *cells, f"{one.flips_an_hour:.1f}", f"{one.changes_a_true_one:.1f}")


def drawn_intervals(buildings: Sequence[Drawn]) -> str:
    """Confidence of median and worst decile of the histories."""
    said = []
    for manner in MANNERS:
        values = [one.history[manner] for one in buildings]
        for name, of in (("median", median), ("worst decile", worst_decile)):
            low, high = interval(values, of)
            said.append(f"{manner} {name} {low * 100:.0f} to {high * 100:.0f}")
    return f"95 % intervals over buildings, history: {', '.join(said)}"


SIMULATED_HEAD = (
    "simulated", "hours", "history right", "live right", "flips/h", "changes seen", "history delay s", "live delay s",
    "other level", "wrong level", "lost after s",
)  # fmt: skip


def simulated_row(one: Figures) -> tuple[str, ...]:
    """One row of the simulated scenes; delays are median and 95th percentile."""
    history, live = one.history, one.live
    return (
        one.name, f"{one.hours:.0f}", percent(history.share, 2), percent(live.share, 2),
        f"{live.changes / one.hours:.2f}" if one.still else "",
        "" if one.still else f"{len(live.delays_s)} of {live.true_changes}",
        "" if one.still else two(history.delays_s), "" if one.still else two(live.delays_s),
        percent(one.other_level / history.seconds, 2), percent(one.wrong_level / history.seconds, 2),
        f"{min(one.lost_s):.1f} to {max(one.lost_s):.1f}",
    )  # fmt: skip


def two(delays_s: Sequence[float]) -> str:
    """Median and 95th percentile."""
    median, most = quantile(delays_s, 0.5), quantile(delays_s, 0.95)
    return "-" if median is None or most is None else f"{median:.1f}, {most:.1f}"


def summary(results: Sequence[Result]) -> str:
    """The last line of `make accuracy`: what /extractbeacon serves, over all recordings, mean over the phases."""
    every = [one.history for one in results]
    right = sum(one.share * one.seconds for one in every) / max(1, sum(one.seconds for one in every))
    said, true = round(sum(one.changes for one in every)), sum(one.true_changes for one in every)
    return f"right={percent(right)} changes={said} true_changes={true}"


def _span(scores: Scores) -> str:
    low, high = scores.span
    return f"{low * 100:.0f} to {high * 100:.0f}"


def percent(share: float, digits: int = 1) -> str:
    return f"{share * 100:.{digits}f}%"


def text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An aligned Markdown table: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(cells: Sequence[str]) -> str:
        rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "| " + " | ".join((cells[0].ljust(widths[0]), *rest)) + " |"

    return "\n".join((line(head), line(ruler), *map(line, rows)))
