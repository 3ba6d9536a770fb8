"""Admits MQTT clients to NATS. Two of these run beside each other; nats-server asks one, whichever is there.

PYTHONPATH=broker python -m callout --data .data/broker --port 4222 --mqtt-port 8883
"""

import argparse
import asyncio
import json
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import nats
import nats.errors
import paho.mqtt.client as mqtt
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats_config import FIGURES_USER
from nats_keys import Keys, load
from paho.mqtt.enums import CallbackAPIVersion
from passwords import hash_password

from . import claims, figures, queue, takeovers
from .admission import WRONG_PASSWORD, Accounts, Refusal, admit
from .directory import Directory
from .server import System, bound_queue
from .subjects import Rights

POLL_S = 0.3
STOP_WITHIN_S = 2.0
RECONNECT_AFTER_S = 0.05
"""Whoever connects to a restarted nats-server before its callouts waits in vain for 5 s."""
CUT_AGAIN = 5
"""Polls after a change: somebody who was admitted just before it is not among the connections at once."""
log = logging.getLogger("callout")


class Callout:
    """Answers nats-server's questions by the accounts of the sites."""

    def __init__(self, keys: Keys, folders: dict[str, Path]) -> None:
        self._issuer = claims.Issuer(keys.issuer)
        self.sites = {site: Directory(folder) for site, folder in folders.items()}
        self._own = {site: _own_account(site, keys.figures_password) for site in folders}

    async def answer(self, message: Msg) -> None:
        """Answer one question. What cannot be decided is refused, and logged."""
        request = claims.read(message.data)
        try:
            answer = self._decide(request)
        except (OSError, ValueError, KeyError) as error:
            log.exception("an account file cannot be used")
            answer = self._issuer.refuse(request, f"the accounts cannot be read: {error}")
        await message.respond(answer)

    def _decide(self, request: claims.Claims) -> bytes:
        login = claims.login_of(request)
        is_own = is_figures_user(login.username)
        refusals: list[Refusal] = []
        for site, directory in self.sites.items():
            match admit(login, self._own[site] if is_own else directory.accounts()):
                case Rights() as rights:
                    return self._issuer.admit(request, site, login.username, rights)
                case Refusal() as refusal:
                    refusals.append(refusal)
        # Of several sites the one counts that knows the password.
        refusal = next((one for one in refusals if one.reason != WRONG_PASSWORD), refusals[-1])
        reason = f"{login.username!r} from {login.host} as {login.client_id!r} is refused: {refusal.reason}"
        log.info("%s", reason)
        return self._issuer.refuse(request, reason)


def figures_user(site: str) -> str:
    """The account that publishes the broker's figures at a site. No account of a site can have a name with a slash."""
    return f"{FIGURES_USER}/{site}"


def is_figures_user(username: str) -> bool:
    """Whether it is one of `figures_user`."""
    return username.startswith(f"{FIGURES_USER}/")


def _own_account(site: str, password: str) -> Accounts:
    user = figures_user(site)
    return Accounts({user: hash_password(password)}, {user: Rights(publish=("$SYS.broker.>",))}, {})


class Revocation:
    """Cuts off connections of accounts that were removed or changed, and has renewed certificates read."""

    def __init__(self, system: System, sites: dict[str, Directory], certificate: Path) -> None:
        self._system, self._sites, self._certificate = system, sites, certificate
        self._certificate_ns = certificate.stat().st_mtime_ns
        self._pending: dict[tuple[str, str], tuple[float | None, int]] = {}

    async def check_connections(self) -> None:
        """Check who is connected once, at the start: accounts may have been removed while no callout ran."""
        for site, directory in self._sites.items():
            accounts = directory.accounts()
            for user in await self._system.users(site):
                if user not in accounts.hashes and not is_figures_user(user):
                    self._pending[site, user] = (None, CUT_AGAIN)

    async def poll(self) -> None:
        """Check the files once."""
        for site, directory in self._sites.items():
            for user, before in directory.take_changes().items():
                self._pending[site, user] = (before, CUT_AGAIN)
        if not self._system.connected:
            return
        for (site, user), (before, cuts_left) in list(self._pending.items()):
            if cut := await self._system.cut_off(site, user, before):
                log.info("%s: %d connections of %s are cut off: its account was changed", site, cut, user)
            self._pending[site, user] = (before, cuts_left - 1)
            if cuts_left <= 1:
                del self._pending[site, user]
        if (seen := self._certificate.stat().st_mtime_ns) != self._certificate_ns:
            self._certificate_ns = seen
            await self._system.reload(seen / 1e9)
            log.info("the server certificate is new; nats-server reads it")


class Figures:
    """Publishes nats-server's figures over MQTT at each site, since only MQTT can retain them."""

    def __init__(self, system: System, sites: Mapping[str, Client], port: int, password: str, queue_bytes: int) -> None:
        self._system, self._sites, self._queue_bytes = system, sites, queue_bytes
        self._publishers = {site: _publisher(site, port, password) for site in sites}

    async def publish(self) -> None:
        """Publish them once."""
        nodes = [one["data"] for one in await self._system.ask("VARZ")]
        stores = [one["data"] for one in await self._system.ask("JSZ", streams=True)]
        if not nodes or not stores:
            return
        for site, publisher in self._publishers.items():
            if publisher.is_connected():
                for topic, payload in figures.topics(nodes, stores, site).items():
                    publisher.publish(topic, payload, retain=True)

    def publish_log(self, site: str, lines: list[str]) -> None:
        """Publish lines as Mosquitto does those of its log."""
        if publisher := self._publishers.get(site):
            for line in lines:
                publisher.publish(takeovers.TOPIC, line)

    async def bound_queues(self) -> None:
        """See to the bounds of the queues."""
        for site in self._sites.values():
            await bound_queue(site, self._queue_bytes)

    def close(self) -> None:
        for publisher in self._publishers.values():
            publisher.disconnect()
            publisher.loop_stop()


def _publisher(site: str, port: int, password: str) -> mqtt.Client:
    client = mqtt.Client(CallbackAPIVersion.VERSION2)
    client.username_pw_set(figures_user(site), password)
    client.reconnect_delay_set(1, 2)
    client.connect_async("127.0.0.1", port)
    client.loop_start()
    return client


async def _follow_takeovers(events: Client, published: Figures) -> None:
    """Publish which connection has taken a session from which. One of the callouts does so."""
    found = takeovers.Takeovers()

    async def note(event: Msg, half: Callable[[Mapping[str, Any]], list[str]]) -> None:
        data = json.loads(event.data)
        if lines := half(data):
            published.publish_log(data["client"]["acc"], lines)

    await events.subscribe(takeovers.CONNECTED, cb=partial(note, half=found.connected))
    await events.subscribe(takeovers.DISCONNECTED, queue="takeovers", cb=partial(note, half=found.disconnected))


async def every(pause_s: float, work: Callable[[], Awaitable[None]]) -> None:
    """Repeat the work for ever; what fails is logged, and tried again at the next time."""
    while True:
        try:
            await work()
        except (nats.errors.Error, OSError, ValueError, KeyError):
            log.exception("tried again in %s s", pause_s)
        await asyncio.sleep(pause_s)


async def _note(text: str) -> None:
    log.info("%s", text)


async def _note_error(error: Exception) -> None:
    log.debug("%s", error)  # each attempt while nats-server is away; its end and its return are noted once


async def _close(client: Client) -> None:
    with suppress(OSError, nats.errors.Error):  # nats-server may be away
        await client.close()


async def serve(options: argparse.Namespace) -> None:
    """Serve until SIGTERM."""
    if options.ready:
        options.ready.unlink(missing_ok=True)
    keys = load(options.data)
    folders = dict(options.site or [("site", options.data)])
    callout = Callout(keys, folders)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        ended.set()
        # While nats-server is away the library goes on connecting, whatever is cancelled. There is nothing to save.
        loop.call_later(STOP_WITHIN_S, os._exit, 0)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    async with AsyncExitStack() as stack:

        async def connect(seed: str, name: str) -> Client:
            client = await nats.connect(
                f"nats://127.0.0.1:{options.port}",
                nkeys_seed_str=seed,
                name=name,
                max_reconnect_attempts=-1,
                reconnect_time_wait=RECONNECT_AFTER_S,
                error_cb=_note_error,
                disconnected_cb=partial(_note, f"{name}: nats-server is away"),
                reconnected_cb=partial(_note, f"{name}: nats-server is back"),
                ping_interval=5,
                max_outstanding_pings=2,
            )
            stack.push_async_callback(_close, client)
            return client

        asked = await connect(keys.callout, "callout")
        await asked.subscribe("$SYS.REQ.USER.AUTH", queue="callout", cb=callout.answer)
        await asked.flush()
        events = await connect(keys.system, "system")
        system = System(events, options.nodes)
        sites = {site: await connect(keys.sites[site], site) for site in folders}
        published = Figures(system, sites, options.mqtt_port, keys.figures_password, options.queue_bytes)
        stack.callback(published.close)
        await _follow_takeovers(events, published)
        revocation = Revocation(system, callout.sites, options.data / "tls" / "server.crt")
        await revocation.check_connections()
        work = [
            asyncio.create_task(every(POLL_S, revocation.poll)),
            asyncio.create_task(every(figures.EVERY_S, published.publish)),
            asyncio.create_task(every(queue.EVERY_S, published.bound_queues)),
        ]
        log.info("admits clients of %s", ", ".join(folders))
        if options.ready:
            options.ready.touch(mode=0o600)
        await ended.wait()
        for task in work:
            task.cancel()


def site_of(text: str) -> tuple[str, Path]:
    """`NAME=FOLDER`."""
    name, _, folder = text.partition("=")
    return name, Path(folder)


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="callout", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the broker's data folder, prepared by provision.py")
    parser.add_argument("--port", type=int, required=True, help="nats-server's port for its own protocol")
    parser.add_argument("--mqtt-port", type=int, required=True, help="nats-server's port for MQTT")
    parser.add_argument("--nodes", type=int, default=1, help="how many nodes the cluster has (default %(default)s)")
    parser.add_argument(
        "--site", type=site_of, action="append", metavar="NAME=FOLDER", help="a site's accounts (default: site=DATA)"
    )
    parser.add_argument("--ready", type=Path, metavar="FILE", help="file to make once clients are admitted")
    parser.add_argument(
        "--queue-bytes", type=int, default=queue.MAX_BYTES, help="bound of a site's message queue (default %(default)s)"
    )
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
