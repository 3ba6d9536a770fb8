"""Pictures that can be read."""

import pytest
from lab.plots import _apart


@pytest.mark.parametrize(
    ("x", "named"),
    [
        ([35.0, 42.0, 49.0, 140.0, 280.0], [280.0, 140.0, 49.0]),
        ([10.0, 10.0], [10.0]),
        ([], []),
        ([3.0, 1.0, 2.0], [3.0, 2.0, 1.0]),
    ],
)
def test_names_of_steps_do_not_lie_on_each_other(x: list[float], named: list[float]) -> None:
    assert [x[n] for n in _apart(x)] == named
