#!/usr/bin/env python3
"""Copies into one InfluxDB what another one has and it lacks, bucket by bucket, and compares the counts.

    fill.py --from http://127.0.0.1:8086 --to http://127.0.0.1:8186 --buckets influx/buckets.json

Both are compared in slices of time; a slice whose counts differ is copied. So a run that was interrupted goes on
where it was, and a run with nothing to do copies nothing. The bucket `health` comes last: the flows see by its
heartbeats that an InfluxDB has its past. Ends with a table of counts; exit code 1 when they differ.
Environment: FILL_FROM_TOKEN (may read), FILL_TO_TOKEN (may read and write).
"""

import argparse
import csv
import io
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from points import lines

ORGANISATION = "sda"
SLICE_S: Mapping[str, int] = {"telemetry": 86_400, "locations": 3600, "readings": 600, "health": 3600}
"""In this order; about as many points as are copied in some seconds on a busy site."""
SETTLED_S = 3
"""So long what was sent is on its way into both."""
PASSES = 3
"""A point may come late while its slice is being compared."""
LINES_A_WRITE = 5000
TIMEOUT_S = 120
OWN_FIGURES = "internal_"
"""Telegraf's own: each writes about itself."""
OWN_TIMES = {"heard", "gateway_status"}
"""Each Telegraf chooses the times of some points, so that there may be more than in the other."""

Counts = dict[tuple[str, int], int]
"""(measurement, beginning of the slice in epoch s) -> number of values."""


class FillError(Exception):
    """What went wrong and what to do; what was copied stays."""


@dataclass(frozen=True, slots=True)
class Side:
    """An InfluxDB at ``url``."""

    url: str
    token: str

    def open(self, path: str, query: Mapping[str, str], body: bytes | None, content: str) -> Any:
        """The answer as a stream. Raises FillError."""
        headers = {"Authorization": f"Token {self.token}", "Content-Type": content, "Accept": "application/json"}
        address = f"{self.url}{path}?{urlencode(query)}"
        request = urllib.request.Request(address, body, headers)  # noqa: S310 - the operator's own URL
        try:
            return urllib.request.urlopen(request, timeout=TIMEOUT_S)  # noqa: S310 - as above
        except urllib.error.HTTPError as error:
            with error:
                detail = error.read().decode(errors="replace").strip()[:300]
            raise FillError(f"{self.url} answers {error.code}: {detail}") from error
        except OSError as error:
            raise FillError(f"{self.url} does not answer ({error}); start it and run this again: it goes on") from error

    def influxql(self, bucket: str, statement: str) -> list[dict[str, Any]]:
        """The series of an answer, times in seconds."""
        query = {"db": bucket, "epoch": "s", "q": statement}
        with self.open("/query", query, None, "application/json") as answer:
            (result,) = json.load(answer)["results"]
        if "error" in result:
            raise FillError(f"{self.url}: {result['error']}")
        return list(result.get("series", []))

    def counts(self, bucket: str, from_s: int, to_s: int) -> Counts:
        """The number of values in each slice of each measurement."""
        named = [row[0] for one in self.influxql(bucket, "SHOW MEASUREMENTS") for row in one["values"]]
        found: Counts = {}
        for name in named:
            if name.startswith(OWN_FIGURES):
                continue
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
            statement = (
                f'SELECT count(*) FROM "{quoted}" WHERE time >= {from_s}s AND time < {to_s}s '  # noqa: S608 - a quoted name
                f"GROUP BY time({SLICE_S[bucket]}s) fill(none)"
            )
            for one in self.influxql(bucket, statement):
                found |= {(name, row[0]): sum(value or 0 for value in row[1:]) for row in one["values"]}
        return {key: count for key, count in found.items() if count}

    def read(self, bucket: str, measurement: str, from_s: int, to_s: int) -> Iterator[str]:
        """Its points in a time as line protocol, streamed."""
        flux = (
            f"from(bucket: {json.dumps(bucket)}) |> range(start: {from_s}, stop: {to_s}) "
            f"|> filter(fn: (r) => r._measurement == {json.dumps(measurement)})"
        )
        question = {"query": flux, "type": "flux", "dialect": {"annotations": ["datatype"], "header": True}}
        body = json.dumps(question).encode()
        with self.open("/api/v2/query", {"org": ORGANISATION}, body, "application/json") as answer:
            text = io.TextIOWrapper(answer, encoding="utf-8", newline="")
            try:
                yield from lines(csv.reader(text))
            except (ValueError, OSError) as error:
                raise FillError(f"{self.url}: {error}; run this again: it goes on") from error

    def write(self, bucket: str, points: Iterable[str]) -> int:
        """Write lines in portions; their number."""
        written, left = 0, iter(points)
        query = {"org": ORGANISATION, "bucket": bucket, "precision": "ns"}
        while some := list(islice(left, LINES_A_WRITE)):
            self.open("/api/v2/write", query, "\n".join(some).encode(), "text/plain; charset=utf-8").close()
            written += len(some)
        return written


def differs(measurement: str, source: int, target: int) -> bool:
    """Whether a slice is to be copied, by the counts of both."""
    return target < source if measurement in OWN_TIMES else target != source


def fill(
    source: Side, target: Side, to_s: int, retention_days: Mapping[str, int]
) -> Iterator[tuple[str, Counts, Counts]]:
    """Copy what the target lacks of before ``to_s``; yields each bucket with both counts as they are then.

    Raises FillError.
    """
    for bucket, slice_s in SLICE_S.items():
        # A slice of the oldest shard that is still there and may go at any moment is left alone.
        from_s = (to_s - retention_days[bucket] * 86_400) // slice_s * slice_s + slice_s
        for last in (*(False,) * PASSES, True):
            here, there = source.counts(bucket, from_s, to_s), target.counts(bucket, from_s, to_s)
            wanted = sorted(key for key, count in here.items() if differs(key[0], count, there.get(key, 0)))
            if last or not wanted:
                break
            for done, (measurement, begin_s) in enumerate(wanted):
                end_s = min(begin_s + slice_s, to_s)
                count = target.write(bucket, source.read(bucket, measurement, max(begin_s, from_s), end_s))
                begin = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime(begin_s))
                show(f"{bucket} {measurement} {begin}: {count} values ({done + 1} of {len(wanted)})")
        yield bucket, here, there


def table(compared: Iterable[tuple[str, Counts, Counts]]) -> Iterator[tuple[tuple[str, str, int, int], bool]]:
    """A row for each measurement, bucket, counts of both, and whether they may be like this."""
    for bucket, here, there in compared:
        for measurement in sorted({name for name, _ in (*here, *there)}):
            keys = {key for key in (*here, *there) if key[0] == measurement}
            of_source, of_target = (sum(counts.get(key, 0) for key in keys) for counts in (here, there))
            good = not any(differs(measurement, here.get(key, 0), there.get(key, 0)) for key in keys)
            yield (bucket, measurement, of_source, of_target), good


def show(text: str) -> None:
    """A line of progress."""
    sys.stderr.write(f"fill: {text}\n")


def main() -> int:
    """Fill, and print the table."""
    parser = argparse.ArgumentParser(
        prog="fill.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="source", required=True, metavar="URL", help="the InfluxDB that has everything")
    parser.add_argument("--to", dest="target", required=True, metavar="URL", help="the one to be filled")
    parser.add_argument("--buckets", type=Path, required=True, metavar="FILE", help="influx/buckets.json")
    options = parser.parse_args()
    source = Side(options.source.rstrip("/"), os.environ.get("FILL_FROM_TOKEN", ""))
    target = Side(options.target.rstrip("/"), os.environ.get("FILL_TO_TOKEN", ""))
    if source.url == target.url:
        parser.error("--from and --to are the same InfluxDB")
    retention_days = {name: one["retention_days"] for name, one in json.loads(options.buckets.read_text()).items()}
    begun_s = int(time.time())
    time.sleep(SETTLED_S)
    try:
        rows = list(table(fill(source, target, begun_s, retention_days)))
    except FillError as error:
        sys.stderr.write(f"fill: {error}\n")
        return 1
    sys.stdout.write(f"{'bucket':<10} {'measurement':<16} {'from':>12} {'to':>12}\n")
    for (bucket, measurement, here, there), good in rows:
        note = "" if good else "  differ" if here == there or there < here else "  differ: it has more"
        sys.stdout.write(f"{bucket:<10} {measurement:<16} {here:>12} {there:>12}{note}\n")
    if all(good for _, good in rows):
        return 0
    sys.stderr.write("fill: the counts differ; run this again, and the other way round where `to` has more\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
