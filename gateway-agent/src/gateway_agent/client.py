"""Makes paho clients with the agent's account, trusted CAs and client certificate."""

import ssl

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from gateway_agent.faults import Fault, LinkError
from gateway_agent.settings import Settings

CONNECT_WITHIN_S = 10.0  # each for TCP, TLS and the broker's answer
_IN_FLIGHT = 1000  # more than delivery ever has in flight, so that paho queues nothing


def make_client(settings: Settings, password: str, protocol: MQTTProtocolVersion) -> Client:
    """A paho client with the agent's account, id and TLS. Raises LinkError when a certificate file cannot be used."""
    client = Client(
        CallbackAPIVersion.VERSION2,
        client_id=settings.id,
        clean_session=False if protocol == MQTTProtocolVersion.MQTTv311 else None,  # MQTT 5 sets it when connecting
        protocol=protocol,
        reconnect_on_failure=False,
    )
    client.username_pw_set(settings.id, password or None)
    client.connect_timeout = CONNECT_WITHIN_S
    client.max_inflight_messages_set(_IN_FLIGHT)
    if settings.broker.tls:
        client.tls_set_context(tls_context(settings))
    return client


def tls_context(settings: Settings) -> ssl.SSLContext:
    """Trusted CAs and client certificate. Raises LinkError when a certificate file cannot be used."""
    broker = settings.broker
    try:
        context = ssl.create_default_context(cafile=broker.ca_file or None)
        if broker.client_cert:
            context.load_cert_chain(broker.client_cert, broker.client_key)
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(name for name in (broker.ca_file, broker.client_cert, broker.client_key) if name)
        what = f"the certificate files cannot be used ({error})"
        raise LinkError(Fault("certificate_files", what, f"check {files}")) from error
    return context


def broker_address(settings: Settings) -> str:
    """host:port of the broker, for messages."""
    return f"{settings.broker.host}:{settings.broker.port}"
