"""The outbox counts every lost reading, in any order of operations."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import pytest
from gateway_agent.outbox import DROPPED, FILE, Outbox, peek
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

MIB = 1 << 20


class Make(Protocol):
    """Opens an outbox in a folder; it is closed with the test."""

    def __call__(self, folder: Path, boot: str = "boot-1", max_bytes: int = MIB) -> tuple[Outbox, Counter[str]]:
        """The outbox and what it counts."""


@pytest.fixture
def make() -> Iterator[Make]:
    """See Make."""
    with ExitStack() as stack:

        def opened(folder: Path, boot: str = "boot-1", max_bytes: int = MIB) -> tuple[Outbox, Counter[str]]:
            dropped = Counter(dict.fromkeys(DROPPED, 0))
            outbox = Outbox(folder, boot, max_bytes, dropped)
            stack.callback(outbox.close)
            return outbox, dropped

        yield opened


def test_an_acknowledged_batch_is_held(tmp_path: Path, make: Make) -> None:
    outbox, _ = make(tmp_path)
    (batch,) = outbox.add([(2, "[a]")], boot_ms=1000, ts=5000)
    assert outbox.waiting(0, 10) == [batch]
    outbox.acknowledge([batch.id], boot_ms=2000)
    assert outbox.waiting(0, 10) == []
    assert (outbox.depth().waiting, outbox.depth().held) == (0, 2)
    outbox.release(2000)
    assert outbox.depth().held == 2
    outbox.release(2001)
    assert outbox.depth().held == 0


def test_held_batches_are_replayed_for_a_limited_time(tmp_path: Path, make: Make) -> None:
    outbox, _ = make(tmp_path)
    (batch,) = outbox.add([(3, "[a]")], 1000, 5000)
    for acknowledged in range(2000, 3001, 100):  # a broker that is killed repeatedly
        outbox.acknowledge([batch.id], acknowledged)
        assert outbox.replay(within_ms=1000) == 3
        assert outbox.waiting(0, 10) == [batch]
    outbox.acknowledge([batch.id], 3001)
    assert outbox.replay(within_ms=1000) == 0
    assert outbox.depth().held == 3  # released after its last acknowledgement


def test_only_batches_acknowledged_before_the_broker_start_are_replayed(tmp_path: Path, make: Make) -> None:
    first, _ = make(tmp_path, "boot-1")
    (before_reboot,) = first.add([(1, "[a]")], 90_000, 5000)
    first.acknowledge([before_reboot.id], 90_000)
    first.close()
    outbox, _ = make(tmp_path, "boot-2")
    early, late = (outbox.add([(1, body)], 1000, 6000)[0] for body in ("[b]", "[c]"))
    outbox.acknowledge([early.id], 2000)
    outbox.acknowledge([late.id], 3000)
    assert outbox.replay(10_000, until_boot_ms=-500) == 1  # its time on the present boot clock is unknown
    assert outbox.replay(10_000, until_boot_ms=2500) == 1
    assert [batch.body for batch in outbox.waiting(0, 10)] == ["[a]", "[b]"]
    assert outbox.replay(10_000) == 1


def test_a_long_outage_does_not_end_the_replay_window(tmp_path: Path, make: Make) -> None:
    outbox, _ = make(tmp_path)
    (first,) = outbox.add([(1, "[a]")], 1000, 5000)
    outbox.acknowledge([first.id], 1000)
    outbox.add([(1, "[b]")], 9_000_000, 9_005_000)  # hours of outage
    assert outbox.replay(within_ms=1000) == 1
    assert [batch.body for batch in outbox.waiting(0, 10)] == ["[a]", "[b]"]


def test_batches_without_a_time_get_it_later(tmp_path: Path, make: Make) -> None:
    outbox, dropped = make(tmp_path)
    outbox.add([(1, "[a]")], boot_ms=1000, ts=None)
    outbox.add([(1, "[b]")], boot_ms=2500, ts=None)
    assert outbox.waiting(0, 10) == []
    assert outbox.depth().timeless == 2
    assert outbox.set_times(1_700_000_000_000) == 2
    assert [batch.ts for batch in outbox.waiting(0, 10)] == [1_700_000_001_000, 1_700_000_002_500]
    assert dropped["time"] == 0


def test_a_batch_of_an_earlier_boot_without_a_time_is_dropped_and_counted(tmp_path: Path, make: Make) -> None:
    first, _ = make(tmp_path, "boot-1")
    first.add([(4, "[a]")], 1000, None)
    first.add([(1, "[b]")], 2000, 7000)
    first.close()
    second, dropped = make(tmp_path, "boot-2")
    assert second.set_times(1_700_000_000_000) == 0
    assert [batch.ts for batch in second.waiting(0, 10)] == [7000]
    assert dropped["time"] == 4


def test_acknowledged_batches_are_held_over_a_reboot(tmp_path: Path, make: Make) -> None:
    first, _ = make(tmp_path, "boot-1")
    (batch,) = first.add([(1, "[a]")], 90_000_000, 5000)
    first.acknowledge([batch.id], 90_000_000)
    first.close()
    second, _ = make(tmp_path, "boot-2")
    assert second.replay(1000) == 1


def test_old_batches_are_dropped_and_counted(tmp_path: Path, make: Make) -> None:
    outbox, dropped = make(tmp_path)
    (old,) = outbox.add([(5, "[old]")], 1, 1000)
    outbox.add([(7, "[older, held]")], 1, 999)
    outbox.acknowledge([old.id + 1], 1)
    (young,) = outbox.add([(1, "[young]")], 2, 2000)
    outbox.trim(None, None)
    assert outbox.depth().waiting == 6
    outbox.trim(None, 9000)  # the wall clock does not apply to batches of this boot
    assert outbox.depth().waiting == 6
    outbox.trim(2, None)
    assert outbox.waiting(0, 10) == [young]
    assert dropped["age"] == 5


def test_the_wall_clock_decides_the_age_of_an_earlier_boots_batches(tmp_path: Path, make: Make) -> None:
    first, _ = make(tmp_path, "boot-1")
    first.add([(5, "[old]")], 9000, 1000)
    first.add([(1, "[young]")], 9000, 2000)
    first.close()
    second, dropped = make(tmp_path, "boot-2")
    second.trim(10_000, None)
    assert second.depth().waiting == 6
    second.trim(None, 1500)
    assert [batch.body for batch in second.waiting(0, 10)] == ["[young]"]
    assert dropped["age"] == 5


def test_only_times_in_the_future_are_corrected(tmp_path: Path, make: Make) -> None:
    outbox, _ = make(tmp_path)
    outbox.add([(1, "[right]")], 1000, 1_000_500)
    outbox.add([(1, "[ahead]")], 2000, 9_000_000)
    (sent,) = outbox.add([(1, "[ahead, acknowledged]")], 3000, 9_000_000)
    outbox.acknowledge([sent.id], 3000)
    assert outbox.correct_times(1_000_000, 60_000) == 1
    assert [batch.ts for batch in outbox.waiting(0, 10)] == [1_000_500, 1_002_000]


def test_the_age_limit_does_not_read_the_whole_file(tmp_path: Path, make: Make) -> None:
    outbox, dropped = make(tmp_path, max_bytes=64 * MIB)
    for number in range(300):
        outbox.add([(1, "x" * 1000)] * 100, number, number)
    assert outbox.used_bytes() > 30 * MIB

    def read_bytes() -> int:
        return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])

    before = read_bytes()
    outbox.trim(0, 0)
    assert read_bytes() - before < MIB
    outbox.trim(299, 299)
    assert (outbox.depth().waiting, dropped["age"]) == (100, 29_900)


def test_the_size_limit_drops_the_oldest_first(tmp_path: Path, make: Make) -> None:
    outbox, dropped = make(tmp_path, max_bytes=MIB)
    body = "x" * 10_000
    for number in range(400):
        outbox.add([(2, body)], number, number + 1)
        if number % 50 == 0:
            outbox.trim(None, None)
    outbox.trim(None, None)
    assert outbox.used_bytes() <= MIB
    waiting = outbox.waiting(0, 1000)
    assert [batch.ts for batch in waiting] == list(range(401 - len(waiting), 401))
    assert dropped["size"] == 2 * (400 - len(waiting))
    assert (tmp_path / FILE).stat().st_size < 2 * MIB


def test_held_batches_are_deleted_before_waiting_ones(tmp_path: Path, make: Make) -> None:
    outbox, dropped = make(tmp_path, max_bytes=MIB)
    body = "x" * 10_000
    ids = [outbox.add([(1, body)], 0, number)[0].id for number in range(60)]
    outbox.acknowledge(ids, 0)
    for number in range(60):
        outbox.add([(1, body)], 0, 100 + number)
    outbox.trim(None, None)
    assert len(outbox.waiting(0, 1000)) == 60
    assert dropped.total() == 0


def test_a_damaged_file_is_replaced(tmp_path: Path, make: Make) -> None:
    outbox, _ = make(tmp_path)
    outbox.add([(1, "x" * 20_000)] * 20, 1, 1)
    outbox.close()
    path = tmp_path / FILE
    content = bytearray(path.read_bytes())
    content[4096:60_000] = b"\x5a" * (60_000 - 4096)
    path.write_bytes(content)
    fresh, _ = make(tmp_path)
    assert fresh.waiting(0, 10) == []
    assert path.with_suffix(".damaged").exists()
    fresh.add([(1, "[a]")], 1, 1)


def test_a_locked_file_is_not_replaced(tmp_path: Path, make: Make) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(sqlite3.OperationalError):
        make(tmp_path)


def test_facts_are_stored(tmp_path: Path, make: Make) -> None:
    outbox, _ = make(tmp_path)
    assert outbox.fact("config") is None
    outbox.remember("config", "1")
    outbox.remember("config", "2")
    outbox.close()
    assert make(tmp_path)[0].fact("config") == "2"


def test_peek_changes_nothing(tmp_path: Path, make: Make) -> None:
    assert peek(tmp_path) is None
    outbox, _ = make(tmp_path)
    (batch,) = outbox.add([(2, "[a]")], 1, 5)
    found = peek(tmp_path, 10)
    assert found is not None
    assert (found[0].waiting, found[1]) == (2, [batch])


class OutboxLife(RuleBasedStateMachine):
    """Everything added is waiting, held, released after its acknowledgement, or counted as dropped."""

    batches = Bundle("batches")

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self.boots, self.now = 1, 0
        self.dropped = Counter(dict.fromkeys(DROPPED, 0))
        self.outbox = Outbox(Path(self._folder.name), "1", MIB, self.dropped)
        self.added = self.released = 0

    @rule(target=batches, readings=st.integers(1, 500), timed=st.booleans(), size=st.integers(2, 40_000))
    def add(self, readings: int, timed: bool, size: int) -> int:
        self.now += 1
        (batch,) = self.outbox.add([(readings, "x" * size)], self.now, self.now if timed else None)
        self.added += readings
        return batch.id

    @rule(batch=consumes(batches))
    def acknowledge(self, batch: int) -> None:
        if batch in [waiting.id for waiting in self.outbox.waiting(0, 10_000)]:
            self.outbox.acknowledge([batch], self.now)

    @rule(ago=st.integers(0, 20))
    def replay(self, ago: int) -> None:
        self.outbox.replay(ago)

    @rule(ago=st.integers(0, 5))
    def release(self, ago: int) -> None:
        before = self.outbox.depth().held
        self.outbox.release(self.now - ago)
        self.released += before - self.outbox.depth().held

    @rule()
    def set_times(self) -> None:
        self.outbox.set_times(0)

    @rule(ago=st.none() | st.integers(0, 20))
    def trim(self, ago: int | None) -> None:
        held = self.outbox.depth().held
        oldest = None if ago is None else self.now - ago
        self.outbox.trim(oldest, oldest)
        self.released += held - self.outbox.depth().held
        assert self.outbox.used_bytes() <= MIB

    @rule(reboot=st.booleans())
    def restart(self, reboot: bool) -> None:
        self.outbox.close()
        self.boots += reboot
        self.outbox = Outbox(Path(self._folder.name), str(self.boots), MIB, self.dropped)

    @invariant()
    def nothing_is_lost_uncounted(self) -> None:
        depth = self.outbox.depth()
        assert self.added == depth.waiting + depth.held + self.released + self.dropped.total()

    def teardown(self) -> None:
        self.outbox.close()
        self._folder.cleanup()


OutboxLife.TestCase.settings = settings(max_examples=30, stateful_step_count=30)
TestOutboxLife = OutboxLife.TestCase
