"""MQTT receivers of the generator: the simulator's links in gevent's loop, no threads.

Each device publishes at QoS 1. What is not acknowledged at the end is reported as such, since nobody knows then whether
the platform has it."""

import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import gevent
import gevent.event
from gateway_agent.mqtt import Endpoint
from simulator.link import Link, Receiver, Subscription, named
from simulator.message import Reading, batch, readings_topic
from simulator.message import Receiver as Sender
from simulator.outbox import Batch, Limits

from lab.gevent_loop import GeventLoop
from lab.logins import USERNAME
from lab.target import Target

CONNECTS_PER_S = 500.0
BACKOFF_S = (0.2, 5.0)
MAX_REFUSALS, MAX_CONNECTIONS = 5, 5
"""Before the run. Who is refused or cut off so often has a wrong password, or shares its account."""
REFUSED = "the broker refuses the account {user!r}: {reason} (it is missing there, or has another password)"
CUT_OFF = "the broker ended the connection; does another client use the same account, of a run that goes on?"


@dataclass(slots=True)
class Sent:
    """A message on its way; times in s on the monotonic clock."""

    due_s: float
    sent_s: float
    due_ms: float
    step: int
    iteration: int
    readings: int
    call: str


def endpoint_of(target: Target) -> Endpoint:
    """What all connections of a worker share. Raises OSError: there is no such CA."""
    tls = ssl.create_default_context(cafile=target.ca or None) if target.mqtt_tls else None
    return Endpoint(target.mqtt_host, target.mqtt_port, tls)


def receiver_of(
    sender: Sender, target: Target, accounts: Mapping[str, str], subscription: Subscription | None = None
) -> Receiver:
    """How it logs in: under its own account if there is one."""
    own = accounts.get(sender.id)
    user, password = (sender.id, own) if own else (USERNAME, target.mqtt_password)
    return Receiver(sender.id, user, password, readings_topic(sender), subscription=subscription)


class Device:
    """One receiver: connects, connects again, publishes. What it calls back must not block."""

    def __init__(
        self,
        endpoint: Endpoint,
        loop: GeventLoop,
        receiver: Receiver,
        acknowledged: Callable[["Device", Sent, float], None],
        reconnected: Callable[["Device", float], None],
    ) -> None:
        self.id = receiver.client_id
        self.problem = ""
        self.refusals = 0
        """In a row."""
        self.last_ms = 0
        """Time stamp of the last batch, for who wants each to have another one."""
        self.answered = gevent.event.Event()
        """Set when nothing is open."""
        self._user = receiver.username
        self._loop = loop
        self._acknowledged, self._reconnected = acknowledged, reconnected
        self._ended = gevent.event.Event()
        self._failures = 0
        self._lost_s = 0.0
        self._seq = 0
        self._closing = False
        self._chance = random.Random(self.id)  # noqa: S311 - spreads reconnects
        self._link = Link(endpoint, receiver, self, Limits())

    @property
    def is_up(self) -> bool:
        return self._link.is_up

    @property
    def is_hopeless(self) -> bool:
        """Whether it is no use to wait for the connection; `problem` says why."""
        return self.refusals >= MAX_REFUSALS or self._link.connections > MAX_CONNECTIONS

    @property
    def pending(self) -> Iterator[Sent]:
        """What is not acknowledged."""
        return (one.context for one in self._link.outbox.unacknowledged() if isinstance(one.context, Sent))

    @property
    def is_through(self) -> bool:
        """Whether everything is acknowledged."""
        return self._link.outbox.is_empty

    def run(self) -> None:
        """Keep the connection until `close`; the body of the device's greenlet."""
        while not self._closing:
            self._ended.clear()
            try:
                self._link.connect(self._loop)
            except (OSError, ValueError) as error:
                self.problem = named(error)
            else:
                self._ended.wait()
            if not self._closing:
                longest = min(BACKOFF_S[1], BACKOFF_S[0] * 2**self._failures)
                self._failures += 1
                gevent.sleep(self._chance.uniform(0, longest))

    def publish(self, sent: Sent, ts_ms: int, readings: tuple[Reading, ...]) -> None:
        """Publish one batch; it waits while there is no connection."""
        self._seq += 1
        self.answered.clear()
        sent.sent_s = time.monotonic()
        self._link.publish(batch(ts_ms, self._seq, readings), len(readings), ts_ms, sent)

    def keep_alive(self) -> None:
        """Call every few seconds."""
        self._link.keep_alive(time.monotonic())

    def cut(self) -> None:
        """End the connection as an outage of the network does."""
        self._link.cut()

    def close(self) -> None:
        self._closing = True
        self._link.close()

    # Callbacks of the link.

    def link_up(self, _link: Link) -> None:
        self.refusals = self._failures = 0
        if self._lost_s:
            self._reconnected(self, self._lost_s)

    def link_down(self, link: Link) -> None:
        if link.is_up:
            self._lost_s, self.problem = time.monotonic(), CUT_OFF
        elif link.refused:
            self.refusals += 1
            self.problem = REFUSED.format(user=self._user, reason=link.refused)
        else:
            self.problem = link.problem
        self._ended.set()

    def link_acknowledged(self, link: Link, batch: Batch, _latency_s: float) -> None:
        if isinstance(batch.context, Sent):
            self._acknowledged(self, batch.context, time.monotonic())
        if link.outbox.is_empty:
            self.answered.set()
