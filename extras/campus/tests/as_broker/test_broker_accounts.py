"""What `tests/system/test_broker_accounts.py` proves of Mosquitto, of NATS."""

from private_nats import broker_kind
from system.test_broker_accounts import (
    running,
    test_a_changed_password_ends_the_connections_with_the_old_one,
    test_a_removed_account_is_cut_within_two_seconds_and_others_stay_connected,
    test_account_added_to_a_running_broker_works_at_once,
    test_rotated_password_replaces_the_old_one,
    test_the_flows_read_which_connection_has_taken_a_session,
)

__all__ = [
    "broker_kind",
    "running",
    "test_a_changed_password_ends_the_connections_with_the_old_one",
    "test_a_removed_account_is_cut_within_two_seconds_and_others_stay_connected",
    "test_account_added_to_a_running_broker_works_at_once",
    "test_rotated_password_replaces_the_old_one",
    "test_the_flows_read_which_connection_has_taken_a_session",
]
