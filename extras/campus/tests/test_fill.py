"""Which slices are copied from one InfluxDB into the other, and when their counts may be as they are."""

import pytest
from fill import differs, table


@pytest.mark.parametrize(
    ("measurement", "source", "target", "differing"),
    [
        ("batch", 5, 5, False),
        ("batch", 5, 4, True),
        ("batch", 5, 6, True),
        ("heard", 5, 4, True),
        ("heard", 5, 6, False),  # each Telegraf chooses its own minutes
    ],
)
def test_counts_that_differ(measurement: str, source: int, target: int, differing: bool) -> None:
    assert differs(measurement, source, target) is differing


def test_differences_that_cancel_each_other_out_are_found() -> None:
    here, there = {("batch", 0): 5, ("batch", 600): 4}, {("batch", 0): 4, ("batch", 600): 5}
    assert list(table([("readings", here, there)])) == [(("readings", "batch", 9, 9), False)]


def test_what_only_the_target_has_is_in_the_table() -> None:
    rows = list(table([("health", {("rejected", 0): 1}, {("rejected", 0): 1, ("flows_health", 0): 2})]))
    assert rows == [(("health", "flows_health", 0, 2), False), (("health", "rejected", 1, 1), True)]
