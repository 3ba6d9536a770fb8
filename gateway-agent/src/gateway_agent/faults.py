"""Classifies why a connection to the broker failed, with a remedy. Pure."""

import socket
import ssl
from dataclasses import dataclass

_UNKNOWN_CA = {2, 18, 19, 20, 21, 27}  # OpenSSL's X509_V_ERR_*: no issuer, self-signed, untrusted
_NOT_YET_VALID, _EXPIRED = 9, 10
_WRONG_NAME = {62, 64}


@dataclass(frozen=True, slots=True)
class Fault:
    """``kind`` is a stable identifier; ``what`` happened and the ``remedy`` are for people."""

    kind: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what} [{self.kind}]: {self.remedy}"


class LinkError(Exception):
    """The connection to the broker failed or was lost."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def from_exception(error: Exception, where: str, tls: bool) -> Fault:
    """The Fault for an exception while connecting. ``where`` is host:port, ``tls`` whether TLS was used."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _of_certificate(error, where)
    if isinstance(error, ssl.SSLError):
        return _of_tls(error, where)
    if isinstance(error, socket.gaierror | UnicodeError):
        return Fault("name", f"the name in {where} is not known", "check broker.host and this machine's DNS")
    if isinstance(error, ConnectionRefusedError):
        return Fault(
            "refused", f"nothing listens on {where}", "check broker.host and broker.port; is the broker running?"
        )
    if isinstance(error, ConnectionResetError) and tls:
        return _not_tls(where)
    if isinstance(error, TimeoutError):
        return Fault(
            "timeout", f"no answer from {where}", "check the network, the firewall and that the broker is running"
        )
    return Fault("network", f"{where}: {error or type(error).__name__}", "check the network")


def _of_certificate(error: ssl.SSLCertVerificationError, where: str) -> Fault:
    what = f"the certificate of {where} is refused ({error.verify_message})"
    if error.verify_code in _UNKNOWN_CA:
        return Fault("ca", what, "it is not of the CA in broker.ca_file; copy the broker's tls/ca.crt here")
    if error.verify_code == _NOT_YET_VALID:
        return Fault("certificate_time", what, "this machine's clock is behind; let it synchronise (timedatectl)")
    if error.verify_code == _EXPIRED:
        return Fault("certificate_time", what, "renew the broker's certificate, or set this machine's clock right")
    if error.verify_code in _WRONG_NAME:
        return Fault(
            "certificate_name",
            what,
            "set broker.host to a name in the certificate, or list it in the platform's MQTTS_NAMES",
        )
    return Fault("certificate", what, "look at it: openssl s_client -connect " + where)


def _of_tls(error: ssl.SSLError, where: str) -> Fault:
    reason = (error.reason or str(error)).upper()
    if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason:
        return _wants_certificate(where)
    if "WRONG_VERSION_NUMBER" in reason or "RECORD_LAYER" in reason or "UNEXPECTED_EOF" in reason:
        return _not_tls(where)
    return Fault("tls", f"TLS with {where} fails: {error.reason or error}", "check broker.tls, port and certificates")


def _not_tls(where: str) -> Fault:
    remedy = "use the TLS port (8883), or broker.tls = false; else the broker was just starting or stopping"
    return Fault("not_tls", f"{where} does not speak TLS", remedy)


def from_connack(reason: str, account: str) -> Fault:
    """The Fault for a CONNACK with an error; ``reason`` is paho's name of the code."""
    if reason in ("Not authorized", "Bad user name or password"):
        return Fault(
            "account",
            f"the broker refuses account {account!r} or its password",
            "make the account (make account ARGS='add gateway …') or correct broker.password_file",
        )
    if reason == "Unsupported protocol version":
        return Fault("protocol", "the broker does not speak this version of MQTT", "upgrade the broker")
    return Fault("broker", f"the broker refuses the connection: {reason}", "see the broker's log")


def _wants_certificate(where: str) -> Fault:
    remedy = "set broker.client_cert and broker.client_key, of a CA that the broker trusts"
    return Fault("client_certificate", f"{where} wants a client certificate", remedy)


def from_silence(where: str, tls: bool, trouble: str = "") -> Fault:
    """The Fault for a connection that closed or stayed silent before CONNACK; ``trouble``: the socket's error."""
    if "CERTIFICATE_REQUIRED" in trouble.upper() or "UNKNOWN_CA" in trouble.upper():
        return _wants_certificate(where)  # with TLS 1.3 the broker reports this after the handshake
    hint = "the port may want TLS, or be another service" if not tls else "the port may be another service"
    return Fault(
        "no_mqtt", f"{where} takes the connection but does not answer MQTT", f"{hint}; or the broker is overloaded"
    )


def is_denial(refusal: str) -> bool:
    """Whether a publish was refused for lack of rights; ``refusal`` is paho's name of the reason code."""
    return refusal == "Not authorized"


def from_refused_publish(topic: str, refusal: str) -> Fault:
    """The Fault for a refused publish; ``refusal`` is paho's name of the reason code."""
    if is_denial(refusal):
        return from_denial([topic])
    return Fault("publish", f"the broker refuses messages on {topic}: {refusal}", "see the broker's log")


def from_denial(topics: list[str]) -> Fault:
    """The Fault for topics that the broker's ACL denies."""
    return Fault(
        "acl",
        f"the broker does not let this account publish {', '.join(topics)}",
        "is the account a gateway's (make account ARGS=list), and `id` the account's own name?",
    )
