"""Counts what the platform stored, and reads what it says of itself.

The only module that knows how readings lie in InfluxDB: as points or as batches."""

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Mapping

from influxdb_client.client.influxdb_client import InfluxDBClient

from lab.target import Target

ORGANISATION = "sda"
TIMEOUT_MS = 120_000
PIECE_MS = 60_000
"""Counted at a time: ten minutes at 16,000 messages a second are more than InfluxDB gives a query's memory."""
POLL_S = 1.0
SETTLED_AFTER_S = 15.0
"""Nothing more comes when the count has not changed for so long."""
DEADLINE_S = 1800.0
"""What ten minutes of an overload left behind is stored within five."""


def readings_by_receiver(target: Target, start_ms: int, stop_ms: int) -> dict[str, int]:
    """How many readings with times in [start, stop) are stored, of each receiver."""
    found: dict[str, int] = defaultdict(int)
    with _client(target.influx_url, target.influx_token) as client:
        for begin_ms, query in itertools.product(range(start_ms, stop_ms, PIECE_MS), (POINTS, BATCHES)):
            end_ms = min(begin_ms + PIECE_MS, stop_ms)
            window = f'from(bucket: "readings") |> range(start: {_time(begin_ms)}, stop: {_time(end_ms)})'
            for table in client.query_api().query(query.replace("WINDOW", window)):
                for record in table.records:
                    found[record.values["receiver"]] += int(record.get_value())
    return dict(found)


POINTS = """
WINDOW |> filter(fn: (r) => r._measurement == "reading" and r._field == "rssi")
  |> group(columns: ["receiver"]) |> count()
"""
"""A point for each reading."""
BATCHES = """
import "strings"
WINDOW |> filter(fn: (r) => r._measurement == "batch" and r._field == "readings")
  |> group(columns: ["receiver"])
  |> map(fn: (r) => ({receiver: r.receiver, _value: strings.countStr(v: r._value, substr: ",") + 1}))
  |> sum()
"""
"""A point for each batch, its readings in one text: `<beacon> <rssi>,<beacon> <rssi>`."""


LIVE_LAG = {"live_lag_p50_ms": "p50_ms", "live_lag_p99_ms": "p99_ms"}


def live_lag(target: Target, start_ms: int, stop_ms: int) -> list[dict[str, float]]:
    """How far the live view was behind, every 5 s: `ms` (epoch) with the median and the 99th percentile of these 5 s.

    From the reading by which somebody was located, or from the beginning of their second where several were gathered.
    """
    wanted = " or ".join(f'r._field == "{field}"' for field in LIVE_LAG)
    query = f"""
    from(bucket: "health") |> range(start: {_time(start_ms)}, stop: {_time(stop_ms)})
      |> filter(fn: (r) => r._measurement == "flows_health" and ({wanted}))
    """
    found: dict[float, dict[str, float]] = defaultdict(dict)
    with _client(target.influx_url, target.influx_token) as client:
        for table in client.query_api().query(query):
            for record in table.records:
                ms = round(record.get_time().timestamp() * 1000)
                found[ms] |= {"ms": ms, LIVE_LAG[record.get_field()]: float(record.get_value())}
    return [one for _, one in sorted(found.items()) if len(one) == 1 + len(LIVE_LAG)]


def settled(
    count: Callable[[], Mapping[str, int]],
    expected: Mapping[str, int],
    log: Callable[[str], None],
    settled_after_s: float = SETTLED_AFTER_S,
) -> tuple[dict[str, int], float]:
    """Count again and again until all that is expected is stored, or nothing more comes. Returns the counts and how
    many seconds after the first count the last reading was there."""
    began_s = time.monotonic()
    stored = dict(count())
    started_s = changed_s = time.monotonic()
    count_s = started_s - began_s  # of millions of readings it takes longer than `settled_after_s`
    total, wanted = sum(stored.values()), sum(expected.values())
    while any(stored.get(receiver, 0) < number for receiver, number in expected.items()):
        now_s = time.monotonic()
        if now_s - changed_s > settled_after_s + count_s or now_s - started_s > DEADLINE_S:
            break
        time.sleep(POLL_S)
        began_s = time.monotonic()
        stored = dict(count())
        count_s = time.monotonic() - began_s
        if sum(stored.values()) != total:
            total, changed_s = sum(stored.values()), time.monotonic()
            log(f"  {total:,} of {wanted:,} readings are stored")
    return stored, changed_s - started_s


def _client(url: str, token: str) -> InfluxDBClient:
    return InfluxDBClient(url=url, token=token, org=ORGANISATION, timeout=TIMEOUT_MS)


def _time(epoch_ms: int) -> str:
    seconds, rest = divmod(epoch_ms, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"
