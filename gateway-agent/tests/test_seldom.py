"""What is worth a line in the log."""

from gateway_agent.seldom import SAY_AGAIN_AFTER_S, Seldom


def test_what_stays_as_it_was_is_said_now_and_then() -> None:
    seldom = Seldom()
    said = [now for now in range(int(2 * SAY_AGAIN_AFTER_S)) if seldom.worth_saying("no broker", now)]
    assert said == [0, int(SAY_AGAIN_AFTER_S) + 1]
    assert seldom.worth_saying("another", 2 * SAY_AGAIN_AFTER_S)
    assert not seldom.worth_saying("another", 2 * SAY_AGAIN_AFTER_S)
    seldom.forget()
    assert seldom.worth_saying("another", 2 * SAY_AGAIN_AFTER_S)
