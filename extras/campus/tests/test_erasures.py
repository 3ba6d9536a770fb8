"""What is owed to two InfluxDBs: it is on disk, done in steps, and no step is lost."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from api import ApiError
from erase import run_due
from erasures import APPLIED, ASKED, PASSED, SETTLE_MS, Erasure, Folder, StoreErasure, check

NOW = 1_800_000_000_000
TAG = "C2A628384B08"


class FakeTarget:
    """An InfluxDB that may be away or behind; counts how often it was erased from."""

    def __init__(self) -> None:
        self.away, self.past, self.erased = False, False, 0

    def is_past(self, requested_ms: int) -> bool:
        assert requested_ms == NOW
        if self.away:
            raise ApiError(0, "no answer")
        return self.past

    def erase(self, person: str, tags: Sequence[str]) -> None:
        assert (person, tuple(tags)) == ("7", (TAG,))
        self.erased += 1


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path / "erasures")
    folder.add(Erasure("7", (TAG,), NOW, {"1": StoreErasure(), "2": StoreErasure()}))
    return folder


def _steps(folder: Folder) -> dict[str, str]:
    (file,) = folder.files()
    erasure = folder.read(file)
    return {store: owed.step for store, owed in erasure.owed.items()} if erasure else {}


def test_one_that_is_away_keeps_what_it_is_owed(folder: Folder) -> None:
    first, second = FakeTarget(), FakeTarget()
    second.away = True
    targets = {"1": first, "2": second}
    assert run_due(folder, targets, NOW) == ["store 2: no answer"]
    assert _steps(folder) == {"1": APPLIED, "2": ASKED}
    second.away = False
    assert run_due(folder, targets, NOW + 1) == []
    assert (first.erased, second.erased, _steps(folder)) == (1, 1, {"1": APPLIED, "2": APPLIED})


def test_it_is_erased_again_when_all_that_waited_is_stored_and_once_more_later(folder: Folder) -> None:
    first, second = FakeTarget(), FakeTarget()
    targets = {"1": first, "2": second}
    first.past = True
    for ms in (0, 1, 2):
        run_due(folder, targets, NOW + ms)
    assert (first.erased, second.erased, _steps(folder)) == (1, 1, {"1": PASSED, "2": APPLIED})
    run_due(folder, targets, NOW + SETTLE_MS)
    assert (first.erased, _steps(folder)) == (2, {"2": APPLIED})
    second.past = True
    run_due(folder, targets, NOW + SETTLE_MS)
    run_due(folder, targets, NOW + 2 * SETTLE_MS)
    assert (second.erased, folder.files()) == (3, [])


def test_what_was_written_half_is_no_order_and_a_damaged_one_holds_up_no_other(folder: Folder) -> None:
    (folder.path / "1-aa.new").write_text("{")
    (folder.path / "1-bb.json").write_text("{")
    first, second = FakeTarget(), FakeTarget()
    (fault,) = run_due(folder, {"1": first, "2": second}, NOW)
    assert "1-bb.json is damaged" in fault
    assert (first.erased, second.erased) == (1, 1)


def test_the_order_is_readable_for_this_user_alone(folder: Folder) -> None:
    (file,) = folder.files()
    assert (file.stat().st_mode & 0o777, folder.path.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize(
    ("person", "tags"), [("", ()), ('7" OR "1"="1', ()), ("7", ("c2a6",)), ("7", (TAG, "/ or true or /"))]
)
def test_ids_that_are_none_are_refused(person: str, tags: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="is no"):
        check(person, tags)
