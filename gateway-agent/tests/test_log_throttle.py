"""Throttling of repeated log messages."""

from gateway_agent.log_throttle import REPEAT_AFTER_S, LogThrottle


def test_a_repeated_message_is_logged_rarely() -> None:
    throttle = LogThrottle()
    logged = [now for now in range(int(2 * REPEAT_AFTER_S)) if throttle.should_log("no broker", now)]
    assert logged == [0, int(REPEAT_AFTER_S) + 1]
    assert throttle.should_log("another", 2 * REPEAT_AFTER_S)
    assert not throttle.should_log("another", 2 * REPEAT_AFTER_S)
    throttle.forget()
    assert throttle.should_log("another", 2 * REPEAT_AFTER_S)
