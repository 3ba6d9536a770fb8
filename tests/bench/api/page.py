"""The results as a page: pure."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime

from stack.layout import VERSIONS

from .cases import Options, Row

PLAYBOOK = "PERF-"
PAGE = """# Performance of the HTTP API

Measured by `make bench-api` on {date}, {cores} cores ({kind}), load generator oha {oha}; before it began the
machine had a load average of {load:.1f}.
Generator, simulator and services share the machine. Figures drift from machine to machine; take them as ratios.
Each load is made for {seconds:g} s. Where a rate is offered, an answer's time counts from when its request was due.
Times are in milliseconds; an error is any answer but 200, or none.
Polls and the 1,800 records begin warm, after 5 to 10 s of the same load; the first polls after a start take a second.
Polls come from ten-second lists of addresses with fixed times, so each asks for the last 10 to 20 s.

{table}

*Cores*: what Node-RED, InfluxDB, the generator and the whole machine used on average.

## The predecessor's playbook

With 50 SDAs moving, HACS polling each of them every 10 s, and ten dashboards open: sockets that are logged in and watch
a level as pages do, without the browsers' own load.

{playbook}
"""


def line(row: Row) -> str:
    """One row for the screen."""
    one = row.result
    times = f"p50 {_ms(one.p50_s)} ms, p99 {_ms(one.p99_s)} ms"
    verdict = f"{row.wanted}: {'yes' if row.verdict else 'NO'}"
    said = [
        f"  {row.title}: {one.rate:,.1f}/s, {times}, {one.errors} errors; {verdict}",
        f"    cores: {row.cost.shown()}",
    ]
    if one.errors:
        said.append(f"    {one.what_failed()}")
    if row.note:
        said.append(f"    {row.note}")
    if row.cost.limited_by_generator:
        said.append("    the generator was what limited this")
    return "\n".join(said)


def page(options: Options, rows: Sequence[Row], load: float) -> str:
    """The text of docs/performance.md; `load` is the machine's load average before the run."""
    return PAGE.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        cores=os.cpu_count(),
        kind=platform.machine(),
        oha=VERSIONS["OHA_VERSION"],
        load=load,
        seconds=options.seconds,
        table=_table([_measured(row) for row in rows if not row.title.startswith(PLAYBOOK)], MEASURED),
        playbook=_table([_played(row) for row in rows if row.title.startswith(PLAYBOOK)], PLAYED),
    )


MEASURED = ("what", "offered", "answers/s", "median", "p99", "most", "errors", "wanted", "reached", "cores")
PLAYED = ("test", "offered", "throughput", "min", "max", "mean", "p99", "errors", "wanted", "reached")


def _table(rows: Sequence[Sequence[object]], head: Sequence[str]) -> str:
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in (head, ["---"] * len(head), *rows))


def _measured(row: Row) -> list[object]:
    one, services = row.result, row.cost.services
    used = (services["node-red"], services["influxd"], row.cost.generator, row.cost.machine)
    limited = " (limited by the generator)" if row.cost.limited_by_generator else ""
    title = row.title + (f" ({row.note})" if row.note else "") + limited
    times = (_ms(one.p50_s), _ms(one.p99_s), _ms(one.slowest_s))
    shown = ", ".join(f"{cores:.2f}" for cores in used)
    return [title, row.offered, f"{one.rate:,.0f}", *times, one.errors, row.wanted, _yes(row), shown]


def _played(row: Row) -> list[object]:
    one = row.result
    times = (_ms(one.fastest_s), _ms(one.slowest_s), _ms(one.mean_s), _ms(one.p99_s))
    return [row.title, row.offered, f"{one.rate:.2f}/s", *times, one.errors, row.wanted, _yes(row)]


def _yes(row: Row) -> str:
    return "yes" if row.verdict else "**no**"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"
