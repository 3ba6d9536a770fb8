"""Figures as text. Pure."""

from collections.abc import Iterable, Sequence

from accuracy.real import Real
from accuracy.score import Score, quantile
from accuracy.simulated import Figures

REAL_HEAD = (
    "walk",
    "seconds",
    "history right",
    "changes",
    "delays s",
    "live right",
    "changes",
    "delays s",
    "strongest right",
    "changes",
)


def real_rows(real: Real) -> list[tuple[str, ...]]:
    """One row for each walk and one for all."""
    rows = [_row(one.walk.name, one.history, one.live, one.strongest) for one in real.walks]
    totals = [real.total(way) for way in ("history", "live", "strongest")]
    return [*rows, _row("all", *totals)]


def _row(name: str, history: Score, live: Score, strongest: Score) -> tuple[str, ...]:
    return (
        name, str(history.seconds), percent(history.share), f"{history.changes} of {history.true_changes}",
        signed(history.delays_s), percent(live.share), f"{live.changes} of {live.true_changes}", signed(live.delays_s),
        percent(strongest.share), f"{strongest.changes} of {strongest.true_changes}",
    )  # fmt: skip


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


def summary(history: Score) -> str:
    """The last line of `make accuracy`: of what /extractbeacon serves, over all walks."""
    return f"right={percent(history.share)} changes={history.changes} true_changes={history.true_changes}"


def percent(share: float, digits: int = 1) -> str:
    return f"{share * 100:.{digits}f}%"


def signed(values: Iterable[float]) -> str:
    return " ".join(f"{value:+.1f}" for value in values) or "-"


def text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns stand below each other: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(cells: Sequence[str]) -> str:
        rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "| " + " | ".join((cells[0].ljust(widths[0]), *rest)) + " |"

    return "\n".join((line(head), line(ruler), *map(line, rows)))
