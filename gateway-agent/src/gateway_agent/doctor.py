"""`gateway-agent doctor`: checks everything the agent needs and says what to do. Harmless beside a running agent."""

import asyncio
import os
import re
import shutil
import socket
import sqlite3
import ssl
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from gateway_agent import __version__, bluez, config, faults, scan_settings, state
from gateway_agent.bluez import Adapter, BluezError
from gateway_agent.clock import Clock
from gateway_agent.config import ConfigError
from gateway_agent.connection import CONNECT_WITHIN_S, Sample, broker_address, connect, tls_context
from gateway_agent.faults import Fault, LinkError, from_denial
from gateway_agent.mqtt import MQTT_5
from gateway_agent.outbox import peek
from gateway_agent.readings import Topics, message
from gateway_agent.scan_settings import ConfigMessageError, ScanSettings
from gateway_agent.scanner import ScanError, Scanner
from gateway_agent.settings import Settings

STALE_AFTER_S = 120.0
_MIN_FREE_MIB = 20  # with less, the next batch may fail
_SPARE_MIB = 100
OLDEST_BLUEZ = (5, 55)  # required by bleak
SCAN_S = 3.0
_CAP_NET_ADMIN = 12
_AF_BLUETOOTH, _BTPROTO_HCI = 31, 1  # <sys/socket.h>; a Python built without BlueZ's headers lacks the names
EXPIRES_SOON_DAYS = 30


class Grade(Enum):
    """Result of a check."""

    OK = "OK"
    WARN = "WARN"  # works, but needs attention
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Check:
    """One line: the thing checked, the finding, and the remedy (empty: none needed)."""

    grade: Grade
    name: str
    found: str
    remedy: str = ""

    def lines(self) -> str:
        """For the terminal."""
        first = f"{self.grade.value:<5}{self.name:<14}{self.found}"
        return f"{first}\n{'':<19}-> {self.remedy}" if self.remedy else first


def ok(name: str, found: str) -> Check:
    """A passed check."""
    return Check(Grade.OK, name, found)


def warn(name: str, found: str, remedy: str) -> Check:
    """A warning."""
    return Check(Grade.WARN, name, found, remedy)


def fail(name: str, found: str, remedy: str) -> Check:
    """A failed check."""
    return Check(Grade.FAIL, name, found, remedy)


async def examine(settings: Settings) -> AsyncIterator[Check]:
    """Run all checks in order and yield each result."""
    folder = Path(settings.state_dir)
    yield ok("configuration", f"gateway {settings.id}, every key is good")
    try:
        running = state.is_running(folder)
    except PermissionError:  # probing the account would disconnect an agent that we cannot see
        yield fail("agent", f"this user may not look into {folder}", "run doctor as the agent's: sudo -u sda-gateway …")
        return
    known = state.read(folder) if running else {}
    yield _agent(running, known, settings)
    yield disk(settings, running, known.get("outbox_error"))
    yield files(settings)
    async for check in bluetooth(settings, known if running else None):
        yield check
    yield clock(settings, known)
    async for check in broker(settings, known if running else None):
        yield check


def _agent(running: bool, known: dict[str, object], settings: Settings) -> Check:
    if not running:
        return warn("agent", "is not running; its account is tested below", "systemctl start sda-gateway-agent")
    age_s = time.time() - (Path(settings.state_dir) / "state.json").stat().st_mtime if known else None
    if age_s is None or age_s > max(STALE_AFTER_S, 3 * settings.health_s):
        return warn(
            "agent", "is running, but has not written its state lately", "see its log: journalctl -u sda-gateway-agent"
        )
    return ok("agent", f"is running; results are from its state of {age_s:.0f} s ago, not from a second connection")


async def run(settings: Settings) -> int:
    """Print the checks; 0 when none failed, else 1."""
    failed = 0
    async for check in examine(settings):
        print(check.lines(), flush=True)  # noqa: T201 - this is the command's output
        failed += check.grade is Grade.FAIL
    print(f"\n{failed or 'no'} fault{'' if failed == 1 else 's'} found")  # noqa: T201
    return 1 if failed else 0


# This machine: disk, files, clock.


def disk(settings: Settings, running: bool, failure: str | None = None) -> Check:
    """Check the outbox's folder and free space. ``failure``: a running agent's outbox error."""
    folder = Path(settings.state_dir)
    if not folder.is_dir():
        return fail("disk", f"{folder} does not exist", f"sudo mkdir -p {folder} and give it to the agent's user")
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail("disk", f"{folder} cannot be written by this user", "run doctor as the agent's user (sudo -u …)")
    free_mib = shutil.disk_usage(folder).free >> 20
    try:
        found = peek(folder)
    except sqlite3.Error as error:
        return fail("disk", f"the outbox cannot be read: {error}", "the agent replaces a damaged file when it starts")
    held = f"{found[0].waiting} readings waiting" if found else "no outbox yet"
    used_mib = found[0].used_bytes >> 20 if found else 0
    if free_mib < _MIN_FREE_MIB:
        return fail(
            "disk",
            f"{folder} is full: {free_mib} MiB free; {held}",
            "free some space; batches wait in memory for two minutes",
        )
    if failure:
        remedy = "see `dmesg`: a worn-out card? Readings wait in memory for two minutes and are then lost"
        return fail("disk", f"the agent cannot store batches: {failure}; {free_mib} MiB free", remedy)
    if free_mib + used_mib < settings.outbox.max_mib + _SPARE_MIB:
        remedy = f"free some space, or set outbox.max_mib to {max(1, free_mib + used_mib - _SPARE_MIB)}"
        return warn(
            "disk", f"{free_mib} MiB free, the outbox may grow to {settings.outbox.max_mib} MiB; {held}", remedy
        )
    return ok("disk", f"{folder}: {free_mib} MiB free, {held}{', in use by the agent' if running else ''}")


def clock(settings: Settings, known: dict[str, Any] | None = None) -> Check:
    """Check whether batches get their time at once. ``known``: a running agent's state."""
    sync = Clock(settings.clock.source).sync()
    if settings.clock.source == "trust":
        return warn("clock", "is trusted without a check", 'clock.source = "kernel" would check it')
    if not sync.synchronised:
        remedy = "run timedatectl set-ntp true, with a reachable NTP server; until then batches wait for their time"
        return fail("clock", f"is not synchronised ({settings.clock.source})", remedy)
    if jumps := (known or {}).get("health", {}).get("clock_jumps"):
        found = f"is synchronised; it jumped by more than a minute since the agent's start, {jumps} times"
        return warn("clock", found, "see the agent's log for when; who sets it? (timedatectl, a second time service)")
    offset = "" if sync.offset_ms is None else f", {sync.offset_ms:+.1f} ms being corrected"
    return ok("clock", f"is synchronised{offset}")


def files(settings: Settings) -> Check:
    """Check that only the agent can read its secrets."""
    for name in (settings.broker.password_file, settings.broker.client_key):
        if name and Path(name).exists() and Path(name).stat().st_mode & 0o007:
            return warn("files", f"every user of this machine can read {name}", f"sudo chmod o= {name}")
    return ok("files", "only the agent can read its secrets")


# Bluetooth: BlueZ, its version, the adapter, adverts, permissions.


async def bluetooth(settings: Settings, known: dict[str, Any] | None) -> AsyncIterator[Check]:
    """Check BlueZ, its version, the adapter, adverts, and whether the adapter can be reset."""
    try:
        adapters = await bluez.adapters()
    except BluezError as error:
        yield _no_bluez(str(error))
        return
    yield await _version()
    wanted = settings.scan.adapter
    adapter = bluez.choose(adapters, wanted)
    if adapter is None:
        there = ", ".join(map(str, adapters)) or "none"
        yield fail(
            "adapter", f"BlueZ has no adapter {wanted or 'at all'} (it has: {there})", "plug one in; see `rfkill list`"
        )
        return
    if not adapter.powered:
        yield fail("adapter", f"{adapter.name} is switched off", "sudo rfkill unblock bluetooth; bluetoothctl power on")
        return
    yield _adapter(adapter, adapters, wanted, known)
    yield await _test_scan(settings) if known is None else _agent_scan(known)
    yield _permissions()


def _adapter(adapter: Adapter, there: list[Adapter], wanted: str, known: dict[str, Any] | None) -> Check:
    used = (known or {}).get("adapter") or str(adapter)
    if wanted or len(there) == 1:
        return ok("adapter", f"{adapter} is powered") if used == str(adapter) else _moved(used, adapter)
    found = f"{used} is used, of {len(there)} adapters: {', '.join(map(str, there))}"
    return warn("adapter", found, f'configure the right one: scan.adapter = "{used.rsplit(" ", 1)[-1]}"')


def _moved(used: str, adapter: Adapter) -> Check:
    return warn("adapter", f"{adapter} is powered, the agent scans with {used}", "restart the agent")


def _no_bluez(error: str) -> Check:
    if "AccessDenied" in error or "Permission denied" in error:
        return fail(
            "bluez", f"this user may not talk to BlueZ: {error}", "add it to the group bluetooth, then log in anew"
        )
    if "ServiceUnknown" in error or "NameHasNoOwner" in error:
        return fail("bluez", "bluetoothd is not running", "sudo systemctl enable --now bluetooth")
    return fail("bluez", error, "sudo systemctl status dbus bluetooth")


async def _version() -> Check:
    try:
        process = await asyncio.create_subprocess_exec(
            "bluetoothctl", "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        output, _ = await asyncio.wait_for(process.communicate(), 5)
    except (OSError, TimeoutError):
        output = b""
    found = re.search(rb"\b(\d{1,4})\.(\d{1,4})\b", output)
    oldest = ".".join(map(str, OLDEST_BLUEZ))
    if not found:
        return warn(
            "bluez", "answers; its version is not known", f"{oldest} or newer is needed; install bluetoothctl to see it"
        )
    version = (int(found[1]), int(found[2]))
    text = ".".join(map(str, version))
    if version < OLDEST_BLUEZ:
        return fail("bluez", f"version {text} is too old", f"upgrade the system: BlueZ {oldest} or newer is needed")
    return ok("bluez", f"version {text}")


async def _test_scan(settings: Settings) -> Check:
    heard: dict[str, int] = {}

    def count(address: str, _rssi: int, _manufacturer: object, _service: object) -> None:
        heard[address] = heard.get(address, 0) + 1

    scanner = Scanner(count, settings.scan.adapter)
    try:
        await scanner.start()
        await asyncio.sleep(SCAN_S)
        await scanner.stop()
    except ScanError as error:
        return fail("scanning", str(error), "sudo systemctl restart bluetooth; see its log")
    if not heard:
        return warn("scanning", f"no advert in {SCAN_S:.0f} s", "bring a beacon near; see `gateway-agent scan`")
    return ok("scanning", f"{sum(heard.values())} adverts of {len(heard)} devices in {SCAN_S:.0f} s")


def _agent_scan(known: dict[str, Any]) -> Check:
    if known.get("scan_error"):
        return fail("scanning", str(known["scan_error"]), "sudo systemctl restart bluetooth; see its log")
    health = known.get("health", {})
    adverts, restarts = health.get("adverts", 0), health.get("scan_restarts", 0)
    found = f"the agent has heard {adverts} adverts in {health.get('uptime_s', 0)} s, {restarts} scan restarts"
    return (
        ok("scanning", found) if adverts else warn("scanning", found, "bring a beacon near; see `gateway-agent scan`")
    )


def _permissions() -> Check:
    remedy = "only needed to revive a stuck adapter; the systemd unit grants CAP_NET_ADMIN, else BlueZ's switch is used"
    status = Path("/proc/self/status").read_text()
    effective = int(status.split("CapEff:")[1].split()[0], 16)
    if not effective >> _CAP_NET_ADMIN & 1:
        return warn("permissions", "scanning is allowed, resetting the adapter through the kernel is not", remedy)
    try:
        socket.socket(_AF_BLUETOOTH, socket.SOCK_RAW, _BTPROTO_HCI).close()
    except OSError as error:
        return warn("permissions", f"scanning is allowed; the kernel gives no Bluetooth socket ({error})", remedy)
    return ok("permissions", "scanning and resetting the adapter are allowed")


# The broker: name, port, TLS, account, rights, and the `config` message.


async def broker(settings: Settings, known: dict[str, Any] | None) -> AsyncIterator[Check]:
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
        answer = await _probe(settings, password)
    except LinkError as error:
        yield _failed(error.fault)
        return
    yield ok("account", f"{settings.id} is accepted")
    yield _rights(answer)
    yield _configuration(settings, answer.config)


@dataclass(frozen=True, slots=True)
class _Answer:
    """``denied`` topics, None if the broker does not report them; ``config``: the retained message, None if none."""

    denied: list[str] | None
    config: bytes | None = None


async def _probe(settings: Settings, password: str) -> _Answer:
    """Connect, publish valid messages, and fetch the retained `config` message. Raises LinkError."""
    try:
        async with connect(settings, password, versions=(MQTT_5,)) as connection:
            denied = await connection.denied(_samples(settings))
            # Messages queued in our session come first. The first subscription's retained message has arrived when the
            # second is confirmed. So the last message is the retained one, and no message means none is retained.
            for _ in range(2):
                await connection.subscribe(Topics.for_gateway(settings.id).config)
            payload = None
            while not connection.messages.empty():
                _, payload = connection.messages.get_nowait()
            return _Answer(denied, payload)
    except LinkError as error:
        if error.fault.kind == "protocol":
            return _Answer(None)
        raise


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
    return [ok("account", "the agent is connected"), _rights(_Answer(known.get("denied"))), listed]


def _rights(answer: _Answer) -> Check:
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
