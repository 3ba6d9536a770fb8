"""`doctor`'s broker checks: name, port, TLS, account, rights, and the `config` message."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from gateway_agent import __version__, config, faults, rights, scan_settings
from gateway_agent.checks import Check, fail, ok, warn
from gateway_agent.client import CONNECT_WITHIN_S, broker_address, tls_context
from gateway_agent.faults import Fault, LinkError, from_denial
from gateway_agent.readings import message
from gateway_agent.rights import ProbeResult, Sample
from gateway_agent.scan_settings import ConfigMessageError, ScanSettings
from gateway_agent.settings import Settings
from gateway_agent.topics import Topics
from gateway_agent.validation import ConfigError

EXPIRES_SOON_DAYS = 30


async def examine(settings: Settings, known: dict[str, Any] | None) -> AsyncIterator[Check]:
    """``known``: a running agent's state, used instead of a second connection, which would end the agent's own."""
    try:
        yield await _check_port(settings)
        if settings.broker.tls:
            yield await _check_tls(settings)
    except LinkError as error:
        yield _failed(error.fault)
        return
    if known is not None:
        for check in _agent_report(known):
            yield check
        return
    try:
        password = config.password(settings)
    except ConfigError as error:
        yield fail("account", str(error), "make the file readable for the agent's user")
        return
    try:
        answer = await rights.probe_account(settings, password, _samples(settings), config=True)
    except LinkError as error:
        yield _failed(error.fault)
        return
    yield ok("account", f"{settings.id} is accepted")
    yield _rights(answer)
    yield _configuration(settings, answer.config)


async def _check_port(settings: Settings) -> Check:
    """Check name and port, without MQTT. Raises LinkError."""
    try:
        async with asyncio.timeout(CONNECT_WITHIN_S):
            _, writer = await asyncio.open_connection(settings.broker.host, settings.broker.port)
    except (OSError, UnicodeError) as error:  # TimeoutError is an OSError; a malformed name is a UnicodeError
        raise LinkError(faults.from_exception(error, broker_address(settings), settings.broker.tls)) from error
    writer.close()
    return ok("broker", f"{broker_address(settings)} takes connections")


async def _check_tls(settings: Settings) -> Check:
    """Check certificates, without MQTT. Raises LinkError."""
    context = tls_context(settings)
    try:
        async with asyncio.timeout(CONNECT_WITHIN_S):
            _, writer = await asyncio.open_connection(
                settings.broker.host, settings.broker.port, ssl=context, server_hostname=settings.broker.host
            )
    except (OSError, ssl.SSLError) as error:
        raise LinkError(faults.from_exception(error, broker_address(settings), settings.broker.tls)) from error
    certificate = writer.get_extra_info("peercert")
    writer.close()
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    days = (until - datetime.now(UTC)).days
    found = f"the certificate is valid for {days} more days"
    return ok("tls", found) if days > EXPIRES_SOON_DAYS else warn("tls", found, "renew the broker's certificate")


def _samples(settings: Settings) -> list[Sample]:
    """Valid messages while the agent is not running."""
    topics, now = Topics.for_gateway(settings.id), time.time_ns() // 1_000_000
    return [
        Sample(topics.status, b'{"state":"offline","ts":%d,"version":"%s"}' % (now, __version__.encode()), retain=True),
        Sample(topics.health, b'{"ts":%d,"version":"%s","uptime_s":0}' % (now, __version__.encode())),
        Sample(topics.readings, message(now, 0, "[]")),
    ]


def _agent_report(known: dict[str, Any]) -> list[Check]:
    fault = known.get("fault")
    if fault and not known.get("online"):
        return [_failed(Fault(**fault))]
    if not known.get("online"):
        return [warn("account", "the agent is connecting at this moment", "run doctor again in a minute")]
    allow = known.get("registered")
    listed = ok("registered", f"{allow} beacons") if allow else _nothing_registered()
    return [ok("account", "the agent is connected"), _rights(ProbeResult(known.get("denied"))), listed]


def _rights(answer: ProbeResult) -> Check:
    if answer.denied is None:
        return warn(
            "rights", "the broker does not say what is denied", "it speaks only MQTT 3.1.1; see its log and ACL"
        )
    if answer.denied:
        return _failed(from_denial(answer.denied))
    return ok("rights", "readings, status and health may be published")


def _configuration(settings: Settings, payload: bytes | None) -> Check:
    base = ScanSettings(allow=frozenset(settings.scan.allow) or None)
    if payload is None:
        if base.allow:
            return ok("registered", f"{len(base.allow)} beacons by scan.allow; no `config` message is retained")
        return _nothing_registered()
    try:
        allow = scan_settings.apply_config(base, payload).allow
    except ConfigMessageError as error:
        return fail("registered", f"the `config` message cannot be used: {error}", "correct it where it is made")
    return ok("registered", f"{len(allow)} beacons") if allow else _nothing_registered()


def _nothing_registered() -> Check:
    return warn(
        "registered",
        "no beacon is registered, so nothing is sent",
        "wait for the platform's `config` message (none is retained, or the account may not read it; "
        "the broker does not report which), or name beacons in scan.allow",
    )


def _failed(fault: Fault) -> Check:
    names = {"account": "account", "acl": "rights", "publish": "rights", "outbox": "disk", "password_file": "account"}
    tls = (
        "tls"
        if fault.kind in ("ca", "tls", "not_tls") or fault.kind.startswith(("certificate", "client"))
        else "broker"
    )
    return fail(names.get(fault.kind, tls), f"{fault.what} [{fault.kind}]", fault.remedy)
