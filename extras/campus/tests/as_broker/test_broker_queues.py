"""What `tests/faults/test_broker_queues.py` proves of Mosquitto, of NATS."""

from faults.test_broker_queues import (
    broker,
    running,
    test_a_clean_restart_keeps_session_queue_and_retained,
    test_a_lost_connection_publishes_its_last_will,
    test_a_session_is_taken_over_by_its_next_connection,
    test_the_largest_payload_passes_and_a_larger_one_ends_the_connection,
)
from private_nats import broker_kind

__all__ = [
    "broker",
    "broker_kind",
    "running",
    "test_a_clean_restart_keeps_session_queue_and_retained",
    "test_a_lost_connection_publishes_its_last_will",
    "test_a_session_is_taken_over_by_its_next_connection",
    "test_the_largest_payload_passes_and_a_larger_one_ends_the_connection",
]
