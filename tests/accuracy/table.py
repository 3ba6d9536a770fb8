"""Figures as text. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median

from accuracy.demo import Group
from accuracy.drawn import MANNERS, Drawn
from accuracy.held_out import Fold, HeldOut, label
from accuracy.measure import Result, of_sets
from accuracy.perturbed import Learned, Missing, Shares
from accuracy.replay import Replayed
from accuracy.rules import RULES
from accuracy.score import Reliability, Scores, interval, quantile, standard_error

Row = tuple[str, ...]
RECORDED_HEAD = (
    "recording", "seconds", "history", "from to", "live", "from to", "as HACS saw it", "changes: true", "history",
    "live", "history delay s", "live delay s", *RULES,
)  # fmt: skip
SET_HEAD = (
    "set", "history", "95 % interval", "live", "live delay s", "changes a true one", "strongest", "mean",
    "above mean", "seconds away from borders", "history there", "live there",
)  # fmt: skip
BESIDE_HEAD = (
    "set", "recordings", "history", "live", "as HACS saw it", "history delay s", "changes a true one", *RULES,
    "their changes", "history above the best",
)  # fmt: skip


def recorded_rows(results: Iterable[Result]) -> list[Row]:
    """One row for each recording: shares as mean and range over the phases, delays as median and 95th percentile."""
    return [
        (
            one.name, str(one.history.seconds), percent(one.history.share), _span(one.history), percent(one.live.share),
            _span(one.live), percent(one.hacs.share), str(one.history.true_changes), f"{one.history.changes:.1f}",
            f"{one.live.changes:.1f}", two(one.history.delays_s), two(one.live.delays_s),
            *(percent(score.share) for score in one.rules.values()),
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
    changes = [_a_true_one(some, [getattr(one, way).changes for one in some]) for way in ("history", "live")]
    return (
        name, percent(fmean(history)), f"{low * 100:.0f} to {high * 100:.0f}" if len(some) > 1 else "one recording",
        percent(fmean(one.live.share for one in some)), two([it for one in some for it in one.live.delays_s]),
        f"{changes[0]:.1f}, live {changes[1]:.1f}", percent(fmean(one.strongest.share for one in some)),
        percent(fmean(mean)),
        f"{(fmean(history) - fmean(mean)) * 100:+.1f}",
        percent(sum(one.history_away.seconds for one in some) / seconds),
        *(_together([getattr(one, way) for one in away]) for way in ("history_away", "live_away")),
    )  # fmt: skip


def beside_rows(results: Iterable[Result]) -> list[Row]:
    """One row for each set, shares with their standard errors over the recordings, and one of the means over sets."""
    sets = of_sets(results)
    rows = [_beside_row(name, some) for name, some in sets.items()]

    def share(one: Result, name: str) -> float:
        return one.rules[name].share if name in RULES else float(getattr(one, name).share)

    names = ("history", "live", "hacs", *RULES)
    means = {name: [fmean(share(one, name) for one in some) for some in sets.values()] for name in names}
    ours, theirs = ([with_error(means[name]) for name in part] for part in (names[:3], RULES))
    best = _above(fmean(means["history"]), {rule: fmean(means[rule]) for rule in RULES})
    return [*rows, ("mean over sets", str(len(sets)), *ours, "", "", *theirs, "", best)]


def _beside_row(name: str, some: list[Result]) -> Row:
    history = [one.history.share for one in some]
    rules = {rule: [one.rules[rule].share for one in some] for rule in RULES}
    changes = [_a_true_one(some, [getattr(one, way).changes for one in some]) for way in ("history", "live", "hacs")]
    theirs = [_a_true_one(some, [one.rules[rule].changes for one in some]) for rule in RULES]
    return (
        name, str(len(some)), *(with_error([getattr(one, way).share for one in some]) for way in ("history", "live",
        "hacs")), two([it for one in some for it in one.history.delays_s]),
        f"{changes[0]:.1f}, live {changes[1]:.1f}, HACS {changes[2]:.1f}", *map(with_error, rules.values()),
        ", ".join(f"{each:.1f}" for each in theirs),
        _above(fmean(history), {rule: fmean(shares) for rule, shares in rules.items()}),
    )  # fmt: skip


def _a_true_one(some: Sequence[Result], changes: Iterable[float]) -> float:
    return sum(changes) / max(1, sum(one.history.true_changes for one in some))


def _above(share: float, rules: Mapping[str, float]) -> str:
    best = max(rules, key=rules.__getitem__)
    return f"{(share - rules[best]) * 100:+.1f} {best}"


def _together(some: Sequence[Scores]) -> str:
    """Share of all their seconds: recordings with few seconds count little."""
    seconds = sum(one.seconds for one in some)
    return percent(sum(one.share * one.seconds for one in some) / seconds) if seconds else "-"


def worst(results: Sequence[Result]) -> str:
    """The recording with the lowest history share, and the one with the least gain over the two-second mean."""
    least = min(results, key=lambda one: one.history.share)
    below = min(results, key=lambda one: one.history.share - one.mean.share)
    by = (below.history.share - below.mean.share) * 100
    return (
        f"Worst recording: {least.name}, history {percent(least.history.share)}. "
        f"Least above the two-second mean: {below.name}, {by:+.1f} points."
    )


FOLD_HEAD = (
    "left out", "history", "live", "as HACS saw it", "in sight: history", "live", "calibration error: history", "live",
    "best other rule", "history above it", "numbers chosen without it",
)  # fmt: skip


def fold_rows(found: HeldOut) -> list[Row]:
    """One row for each fold."""
    return [_fold_row(one) for one in found.folds]


def _fold_row(one: Fold) -> Row:
    rule, share = one.best_rule
    return (
        one.name, *map(percent, (*one.left_out[:3], *one.in_sight[:2])), percent(one.history.error),
        percent(one.live.error), f"{percent(share)} {rule}", f"{(one.left_out.history - share) * 100:+.1f}",
        label(one.chosen),
    )  # fmt: skip


def headline(found: HeldOut) -> str:
    """What somebody may expect in a building of their own, and what tuning in sight flatters."""
    ways = ("history", "live", "hacs")
    outer, inner = ({way: [getattr(getattr(one, of), way) for one in found.folds] for way in ways}
                    for of in ("left_out", "in_sight"))  # fmt: skip
    gap = [(fmean(inner[way]) - fmean(outer[way])) * 100 for way in ways]
    return (
        f"LEFT OUT, mean over {len(found.folds)} sets with standard error: history {with_error(outer['history'])}, "
        f"live {with_error(outer['live'])}, as HACS saw it {with_error(outer['hacs'])}\n"
        f"Tuned in sight instead: {gap[0]:+.1f}, {gap[1]:+.1f}, {gap[2]:+.1f} points. Expected calibration error, left "
        f"out: history {found.history.error:.3f}, live {found.live.error:.3f}"
    )


RELIABILITY_HEAD = ("said", "history: answers", "mean said", "right", "live: answers", "mean said", "right")


def reliability_rows(found: HeldOut) -> list[Row]:
    """One row for each bin of probability."""
    history, live = (_by_bin(one) for one in (found.history, found.live))
    empty = ("-", "-", "-")
    return [
        (f"{at / 10:.1f} to {(at + 1) / 10:.1f}", *history.get(at, empty), *live.get(at, empty))
        for at in sorted(history.keys() | live.keys())
    ]


def _by_bin(one: Reliability) -> dict[int, Row]:
    return {
        min(9, int(said * 10)): (percent(share), f"{said:.2f}", f"{right:.2f}") for share, said, right in one.rows()
    }


def perturbed_table(found: Mapping[str, Mapping[str, Shares]]) -> str:
    """What each perturbation changes, points: of history / live; the two-second mean's history at the end."""
    (_, plain), *others = found.items()
    sets = list(plain)

    def points(of: Mapping[str, Shares], names: Sequence[str], way: str) -> str:
        return f"{fmean(getattr(of[name], way) - getattr(plain[name], way) for name in names) * 100:+.1f}"

    def cell(of: Mapping[str, Shares], names: Sequence[str]) -> str:
        return f"{points(of, names, 'history')} / {points(of, names, 'live')}"

    first = ("as recorded", *(
        " / ".join(percent(fmean(getattr(plain[name], way) for name in names)) for way in ("history", "live"))
        for names in (sets, *([name] for name in sets))
    ), percent(fmean(one.mean for one in plain.values())))  # fmt: skip
    rows = [(name, cell(of, sets), *(cell(of, [one]) for one in sets), points(of, sets, "mean")) for name, of in others]
    return text(("history / live, points", "mean over sets", *sets, "two-second mean"), [first, *rows])


LEARNED_HEAD = (
    "set", "scored", "cold: history / live", "warm", "6 dB, cold", "6 dB, warm", "two-second mean", "6 dB",
)  # fmt: skip


def learned_rows(found: Sequence[Learned]) -> list[Row]:
    """One row for each set, and the means."""

    def cells(some: Sequence[Learned]) -> Row:
        ways = ("cold", "warm", "uneven_cold", "uneven_warm")
        both = (
            " / ".join(percent(fmean(getattr(getattr(one, way), of) for one in some)) for of in ("history", "live"))
            for way in ways
        )
        rule = (percent(fmean(getattr(one, way).mean for one in some)) for way in ("cold", "uneven_cold"))
        return (*both, *rule)

    return [*((one.of, one.scored, *cells([one])) for one in found), ("mean over sets", "", *cells(found))]


MISSING_HEAD = (
    "set", "rooms", "with device: history / live", "without: found", "other rooms' seconds", "without", "points",
)  # fmt: skip


def missing_rows(found: Iterable[Missing]) -> list[Row]:
    """One row for each set."""

    def both(pair: tuple[float, float]) -> str:
        return " / ".join(map(percent, pair))

    return [
        (
            one.of, str(one.rooms), both(one.before), both(one.found), both(one.others_before), both(one.others),
            " / ".join(f"{(a - b) * 100:+.1f}" for a, b in zip(one.others, one.others_before, strict=True)),
        )
        for one in found
    ]  # fmt: skip


REPLAY_HEAD = ("drawn building", "by", "seconds", "other room", "begun 15 minutes before: seconds", "other room")


def replay_rows(found: Iterable[Replayed]) -> list[Row]:
    return [
        (str(one.seed), one.mode, *map(str, (one.seconds, one.other, one.warm_seconds, one.warm_other)))
        for one in found
    ]  # fmt: skip


DRAWN_HEAD = (
    "drawn buildings", "standing, history", "live", "mean", "patrol, history", "live", "mean", "flips/h",
    "changes a true one",
)  # fmt: skip


def drawn_rows(buildings: Sequence[Drawn]) -> list[Row]:
    """Medians and worst deciles over the buildings."""

    def row(name: str, of: Callable[[list[float]], float]) -> Row:
        cells = (
            percent(of([getattr(one, way)[manner] for one in buildings]))
            for manner in MANNERS
            for way in ("history", "live", "mean")
        )
        return (name, *cells, *("" if name != "median" else f"{of([getattr(one, way) for one in buildings]):.1f}"
                                for way in ("flips_an_hour", "changes_a_true_one")))  # fmt: skip

    return [row("median", median), row("worst decile", lambda values: quantile(values, 0.1) or 0.0)]


DEMO_HEAD = (
    "demo building", "hours", "history right", "live right", "flips/h", "changes seen", "history delay s",
    "live delay s", "wrong level", "lost after s",
)  # fmt: skip


def demo_row(one: Group) -> Row:
    """One row of the demo building; delays are median and 95th percentile."""
    history, live, still = one.history, one.live, one.manner != "patrol"
    return (
        one.name, f"{one.hours:.1f}", percent(history.share), percent(live.share),
        f"{live.changes / one.hours:.2f}" if still else "",
        "" if still else f"{len(live.delays_s)} of {live.true_changes}",
        "" if still else two(history.delays_s), "" if still else two(live.delays_s),
        percent(one.wrong_level / history.seconds, 2), f"{min(one.lost_s):.1f} to {max(one.lost_s):.1f}",
    )  # fmt: skip


def two(delays_s: Sequence[float]) -> str:
    """Median and 95th percentile."""
    middle, most = quantile(delays_s, 0.5), quantile(delays_s, 0.95)
    return "-" if middle is None or most is None else f"{middle:.1f}, {most:.1f}"


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


def with_error(values: Sequence[float]) -> str:
    """The mean, and its standard error where there are several values."""
    error = standard_error(values)
    return percent(fmean(values)) + ("" if error is None else f" ± {error * 100:.1f}")


def text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An aligned Markdown table: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(cells: Sequence[str]) -> str:
        rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "| " + " | ".join((cells[0].ljust(widths[0]), *rest)) + " |"

    return "\n".join((line(head), line(ruler), *map(line, rows)))
