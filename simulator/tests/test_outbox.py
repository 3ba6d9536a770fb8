"""A receiver's outbox: nothing is lost between making and acknowledging, and what the broker lost is sent again."""

from hypothesis import given
from hypothesis import strategies as st
from simulator.outbox import IN_FLIGHT, Batch, Limits, Outbox, Sent


def batch(number: int, made_s: float = 0.0) -> Batch:
    return Batch(str(number).encode(), 1, made_s)


def waiting(outbox: Outbox) -> list[int]:
    """The waiting batches, oldest first; they are taken out."""
    found = []
    while outbox.is_waiting:
        found.append(int(outbox.next().payload))
    return found


def send(outbox: Outbox, mid: int, batch: Batch, now_s: float) -> None:
    """As the MQTT client does it."""
    outbox.in_flight[mid] = Sent(batch, now_s)


def answer(outbox: Outbox, mid: int, now_s: float) -> None:
    """As the MQTT client and the link do it."""
    sent = outbox.in_flight.pop(mid)
    assert sent.batch is not None
    outbox.acknowledged(sent.batch, now_s)


def acknowledged(outbox: Outbox, numbers: range, first_s: float, every_s: float = 1.0) -> None:
    """Let batches be sent, and acknowledged one after the other."""
    for place, number in enumerate(numbers):
        send(outbox, 1000 + number, batch(number), 0.0)
        answer(outbox, 1000 + number, first_s + place * every_s)


def test_what_was_in_flight_waits_again_before_the_others() -> None:
    outbox = Outbox(Limits())
    for number in range(IN_FLIGHT):
        assert outbox.may_send
        send(outbox, number + 1, batch(number), 0.0)
    assert not outbox.may_send
    outbox.add(batch(100))
    outbox.in_flight[500] = Sent(None, 0.0, is_status=True)  # nothing to send again
    answer(outbox, 1, 1.0)
    outbox.connection_lost()
    assert waiting(outbox) == [*range(1, IN_FLIGHT), 100]


@given(st.lists(st.sampled_from(["add", "send", "ack", "lose", "replay", "drop"])))
def test_each_batch_is_acknowledged_waiting_in_flight_or_dropped(steps: list[str]) -> None:
    outbox = Outbox(Limits(replay_s=100.0, held=50))
    made, mids, known, dropped = 0, 0, set[int](), set[int]()
    sent: dict[int, int] = {}
    for now_s, step in enumerate(steps):
        if step == "add":
            outbox.add(batch(made))
            made += 1
        elif step == "send" and outbox.is_waiting and outbox.may_send:
            mids, one = mids + 1, outbox.next()
            sent[mids] = int(one.payload)
            send(outbox, mids, one, now_s)
        elif step == "ack" and sent:
            mid = next(iter(sent))
            known.add(sent.pop(mid))
            answer(outbox, mid, now_s)
        elif step == "lose":
            sent.clear()
            outbox.connection_lost()
        elif step == "replay":
            outbox.replay()
        elif step == "drop" and (oldest := outbox.drop_oldest()):
            dropped.add(int(oldest.payload))
    assert not dropped & known  # what the broker has counts as acknowledged, whatever comes after
    left = {*waiting(outbox), *sent.values()}
    assert left | known | dropped == set(range(made))


def test_acknowledged_batches_are_sent_again_within_the_window() -> None:
    outbox = Outbox(Limits(replay_s=10.0, held=100))
    acknowledged(outbox, range(30), first_s=0.0)
    assert outbox.replay(until_s=25.0) == 7  # those of 19 s to 25 s: each acknowledgement releases what is too old
    outbox.add(batch(99))
    assert waiting(outbox) == [*range(19, 26), 99]
    assert outbox.replay() == 4
    assert Outbox(Limits()).replay() == 0


def test_a_broker_that_always_restarts_does_not_get_everything_again_and_again() -> None:
    outbox = Outbox(Limits(replay_s=10.0, held=100))
    acknowledged(outbox, range(1), first_s=0.0)
    for round_s in (5.0, 12.0, 19.0):
        assert outbox.replay() == 1
        send(outbox, 1, outbox.next(), round_s)
        answer(outbox, 1, round_s)
    assert outbox.replay() == 1  # first acknowledged 19 s before the latest acknowledgement
    send(outbox, 1, outbox.next(), 26.0)
    answer(outbox, 1, 26.0)
    assert outbox.replay() == 0


def test_old_batches_and_too_many_are_dropped_oldest_first() -> None:
    outbox = Outbox(Limits(max_age_s=60.0, replay_s=10.0, held=100))
    acknowledged(outbox, range(1), first_s=0.0)
    for number in range(1, 5):
        outbox.add(batch(number, made_s=number * 10.0))
    assert [int(one.payload) for one in outbox.drop_old(95.0)] == [1, 2, 3]
    assert outbox.replay() == 1
    oldest = outbox.drop_oldest()
    assert oldest is not None
    assert oldest.payload == b"4"  # not the one that the broker had
    assert outbox.drop_oldest() is None
    assert waiting(outbox) == [0]
