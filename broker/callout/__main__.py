"""Admits MQTT clients to NATS. Two of these run beside each other; nats-server asks one, whichever is there.

PYTHONPATH=broker python -m callout --data .data/broker --port 4222 --mqtt-port 8883
"""

import argparse
import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import nats
import nats.errors
import paho.mqtt.client as mqtt
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats_config import FIGURES_USER
from nats_keys import Keys, load
from paho.mqtt.enums import CallbackAPIVersion
from passwords import hash_password

from . import claims, figures, queue
from .admission import Accounts, Refusal, admit
from .directory import Directory
from .server import System, bound_queue
from .subjects import Rights

LOOK_EVERY_S = 0.3
RECONNECT_AFTER_S = 0.05
"""Whoever connects to a restarted nats-server before its callouts waits in vain for 5 s."""
CUT_AGAIN = 5
"""Looks after a change: somebody who was admitted just before it is not among the connections at once."""
log = logging.getLogger("callout")


class Callout:
    """Answers nats-server's questions by the accounts of the sites."""

    def __init__(self, keys: Keys, folders: dict[str, Path]) -> None:
        self._issuer = claims.Issuer(keys.issuer)
        self.sites = {site: Directory(folder) for site, folder in folders.items()}
        figures_rights = {FIGURES_USER: Rights(publish=("$SYS.broker.>",))}
        self._own = Accounts({FIGURES_USER: hash_password(keys.figures_password)}, figures_rights, {})

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
        refusal = Refusal("there is no site")
        for site, directory in self.sites.items():
            accounts = self._own if login.username == FIGURES_USER else directory.accounts()
            match admit(login, accounts):
                case Rights() as rights:
                    return self._issuer.admit(request, site, login.username, rights)
                case Refusal() as refusal:
                    continue
        reason = f"{login.username!r} from {login.host} as {login.client_id!r} is refused: {refusal.reason}"
        log.info("%s", reason)
        return self._issuer.refuse(request, reason)


class Revocation:
    """Cuts off connections of accounts that were removed or changed, and has renewed certificates read."""

    def __init__(self, system: System, sites: dict[str, Directory], certificate: Path) -> None:
        self._system, self._sites, self._certificate = system, sites, certificate
        self._certificate_ns = certificate.stat().st_mtime_ns
        self._pending: dict[tuple[str, str], tuple[float | None, int]] = {}

    async def look_at_connections(self) -> None:
        """Look who is connected once, at the start: accounts may have been removed while no callout ran."""
        for site, directory in self._sites.items():
            accounts = directory.accounts()
            for user in await self._system.users(site):
                if user not in accounts.hashes and user != FIGURES_USER:
                    self._pending[site, user] = (None, CUT_AGAIN)

    async def look(self) -> None:
        """Look at the files once."""
        for site, directory in self._sites.items():
            for user, before in directory.take_changes().items():
                self._pending[site, user] = (before, CUT_AGAIN)
        if not self._system.connected:
            return
        for (site, user), (before, looks) in list(self._pending.items()):
            if cut := await self._system.cut_off(site, user, before):
                log.info("%s: %d connections of %s are cut off: its account was changed", site, cut, user)
            self._pending[site, user] = (before, looks - 1)
            if looks <= 1:
                del self._pending[site, user]
        if (seen := self._certificate.stat().st_mtime_ns) != self._certificate_ns:
            self._certificate_ns = seen
            await self._system.reload(seen / 1e9)
            log.info("the server certificate is new; nats-server reads it")


class Figures:
    """Publishes nats-server's figures over MQTT, since only MQTT can retain them."""

    def __init__(self, system: System, sites: Iterable[Client], port: int, password: str, queue_bytes: int) -> None:
        self._system, self._sites, self._queue_bytes = system, list(sites), queue_bytes
        self._mqtt = mqtt.Client(CallbackAPIVersion.VERSION2)
        self._mqtt.username_pw_set(FIGURES_USER, password)
        self._mqtt.reconnect_delay_set(1, 2)
        self._mqtt.connect_async("127.0.0.1", port)
        self._mqtt.loop_start()

    async def publish(self) -> None:
        """Publish them once."""
        varz, jsz = await self._system.ask("VARZ"), await self._system.ask("JSZ")
        if varz and jsz and self._mqtt.is_connected():
            for topic, payload in figures.topics(varz[0]["data"], jsz[0]["data"]).items():
                self._mqtt.publish(topic, payload, retain=True)

    async def bound_queues(self) -> None:
        """See to the bounds of the queues."""
        for site in self._sites:
            await bound_queue(site, self._queue_bytes)

    def close(self) -> None:
        self._mqtt.disconnect()
        self._mqtt.loop_stop()


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


async def serve(options: argparse.Namespace) -> None:
    """Serve until SIGTERM."""
    if options.ready:
        options.ready.unlink(missing_ok=True)
    keys = load(options.data)
    folders = dict(options.site or [("site", options.data)])
    callout = Callout(keys, folders)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
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
            stack.push_async_callback(client.close)
            return client

        asked = await connect(keys.callout, "callout")
        await asked.subscribe("$SYS.REQ.USER.AUTH", queue="callout", cb=callout.answer)
        await asked.flush()
        system = System(await connect(keys.system, "system"), options.nodes)
        sites = [await connect(keys.sites[site], site) for site in folders]
        published = Figures(system, sites, options.mqtt_port, keys.figures_password, options.queue_bytes)
        stack.callback(published.close)
        revocation = Revocation(system, callout.sites, options.data / "tls" / "server.crt")
        await revocation.look_at_connections()
        work = [
            asyncio.create_task(every(LOOK_EVERY_S, revocation.look)),
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
