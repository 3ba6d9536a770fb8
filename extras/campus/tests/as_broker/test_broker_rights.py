"""What `tests/system/test_broker_rights.py` proves of Mosquitto, of NATS."""

from private_nats import broker_kind
from system.test_broker_rights import (
    broker,
    everything,
    test_a_service_connects_only_with_its_own_client_id,
    test_account_publishes_only_what_it_may,
    test_account_reads_only_what_it_may,
    test_connections_without_an_account_are_refused,
    test_no_account_takes_over_the_session_of_another,
    test_only_nodered_reads_broker_metrics_except_uptime,
    test_receivers_connect_over_tls_and_verify_the_broker,
    test_retained_configuration_goes_to_its_gateway_only,
    test_services_connect_only_to_the_inner_listener,
)

__all__ = [
    "broker",
    "broker_kind",
    "everything",
    "test_a_service_connects_only_with_its_own_client_id",
    "test_account_publishes_only_what_it_may",
    "test_account_reads_only_what_it_may",
    "test_connections_without_an_account_are_refused",
    "test_no_account_takes_over_the_session_of_another",
    "test_only_nodered_reads_broker_metrics_except_uptime",
    "test_receivers_connect_over_tls_and_verify_the_broker",
    "test_retained_configuration_goes_to_its_gateway_only",
    "test_services_connect_only_to_the_inner_listener",
]
