"""Makes clients and endpoints with the agent's account, trusted CAs and client certificate."""

import ssl

from paho.mqtt.enums import MQTTProtocolVersion

from gateway_agent.endpoint import Endpoint
from gateway_agent.faults import Fault, LinkError
from gateway_agent.loop_client import LoopClient
from gateway_agent.settings import Settings

CONNECT_WITHIN_S = 10.0  # each for TCP, TLS and the broker's answer


def make_client(settings: Settings, password: str, protocol: MQTTProtocolVersion) -> LoopClient:
    """A paho client of the running loop with the agent's account and id."""
    client = LoopClient(
        settings.id,
        protocol,
        clean_session=False if protocol == MQTTProtocolVersion.MQTTv311 else None,  # MQTT 5 sets it when connecting
    )
    client.username_pw_set(settings.id, password or None)
    return client


def make_endpoint(settings: Settings) -> Endpoint:
    """Where the broker listens. Raises LinkError when a certificate file cannot be used."""
    broker = settings.broker
    return Endpoint(broker.host, broker.port, tls_context(settings) if broker.tls else None)


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
