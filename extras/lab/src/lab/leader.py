"""The coordinator's role: gathers the workers of its run, leads them through the steps, collects their samples."""

import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gevent
from locust.exception import RPCError
from locust.runners import STATE_MISSING, MasterRunner

from lab import plan as plans
from lab.coordinator import DRAIN_S, STOPPED_DRAIN_S, Collector, Coordinator, Orders
from lab.role import FAILED, GONE_S, OK, log, report_step, stop_on_signals, until
from lab.roster import Roster, clock_fault
from lab.samples import Sample
from lab.users import USERS_END_WITHIN_S, Steps, live_page, make_environment

WORKERS_WITHIN_S = 60.0
PREPARED_WITHIN_S = 180.0
RECENT_S = 4
"""A worker that is taken was heard of so recently."""
REFUSED_AFTER_S = 0.5
"""A worker that was answered listens to orders by then."""
Listener = Callable[[str, Mapping[str, Any]], None]
"""Gets a worker's id and its message."""


class Team:
    """The workers of one run, on Locust's connections. Others are refused, and end."""

    def __init__(self, runner: MasterRunner, expected: int) -> None:
        self.roster = Roster(uuid.uuid4().hex, expected)
        self._runner = runner
        self._refused: set[str] = set()
        self._handle = runner.handle_message
        runner.handle_message = self._guard  # type: ignore[method-assign]

    def listen(self, kind: str, listener: Listener) -> None:
        """Call `listener` with messages of this run."""

        def checked(environment: Any, msg: Any, **_: Any) -> None:  # noqa: ARG001 - Locust passes it by name
            if why := self.roster.refusal(msg.node_id, msg.data.get("run", "")):
                self._refuse(msg.node_id, why)
            else:
                listener(msg.node_id, msg.data)

        self._runner.register_message(kind, checked)

    def gather(self, stopped: Callable[[], object]) -> str:
        """Wait for the workers; returns a fault, or nothing."""
        roster, clients = self.roster, self._runner.clients

        def ready() -> list[str]:
            return [one.id for one in clients.ready if one.heartbeat > round(GONE_S) - RECENT_S]

        until(lambda: stopped() or roster.admit(ready()), WORKERS_WITHIN_S)
        if not roster.is_full:
            came = f"{len(ready())} of {roster.expected} workers came"
            return f"stopped by the operator: {came}" if stopped() else f"only {came} within {WORKERS_WITHIN_S:g} s"
        for one in [one.id for one in clients.ready]:
            if why := roster.refusal(one):
                del clients[one]
                self._refuse(one, why)
        return ""

    def send(self, kind: str, **data: Any) -> None:
        """To all workers of the run."""
        for number, worker in enumerate(self.roster.members):
            self._runner.send_message(kind, {"run": self.roster.run, "worker": number, **data}, worker)

    def lost(self) -> set[str]:
        """Workers of the run that are gone."""
        clients = self._runner.clients
        return {one for one in self.roster.members if one not in clients or clients[one].state == STATE_MISSING}

    def dismiss(self, why: str) -> None:
        """There is no run: all end."""
        self._runner.send_message("over", {"why": why})
        self._runner.quit()

    def _guard(self, client_id: str, msg: Any) -> None:
        """Keep a worker that comes when all are there from Locust, which would give it users of the others."""
        if msg.type == "client_ready" and self.roster.is_full and (why := self.roster.refusal(client_id)):
            self._runner.send_message("ack", {"index": -1}, client_id)  # else it would wait for it
            gevent.spawn_later(REFUSED_AFTER_S, self._refuse, client_id, why)
        else:
            self._handle(client_id, msg)

    def _refuse(self, worker: str, why: str) -> None:
        if worker not in self._refused:
            self._refused.add(worker)
            log(f"a worker is refused: {why}")
        self._runner.send_message("over", {"why": why}, worker)


def coordinate(config: Mapping[str, Any]) -> int:
    """Lead the workers through the plan."""
    shape = Steps()
    environment = make_environment(shape)
    host, _, port = str(config["bind"]).rpartition(":")
    try:
        runner = environment.create_master_runner(host or "*", int(port))
    except RPCError as error:
        log(f"--bind {config['bind']}: {error}; give an address of this machine and a free port")
        return FAILED
    plan = plans.from_json(config["plan"])
    collector = Collector(Path(config["folder"]))
    expected = int(config["workers"])
    team = Team(runner, expected)
    prepared: dict[str, str] = {}
    finished: dict[str, Mapping[str, Any]] = {}

    def on_samples(_: str, data: Mapping[str, Any]) -> None:
        collector.add([Sample(*one) for one in data["rows"]])
        collector.lag_ms += data["lag_ms"]

    def on_prepared(worker: str, data: Mapping[str, Any]) -> None:
        fault = data["fault"] or clock_fault(time.time(), data["clock_s"])
        prepared[worker] = f"worker {team.roster.members.index(worker)} on {data['host']}: {fault}" if fault else ""

    team.listen("samples", on_samples)
    team.listen("prepared", on_prepared)
    team.listen("finished", finished.__setitem__)
    orders = Orders(
        lambda index, in_s: team.send("begin", step=index, in_s=in_s),
        lambda share: team.send("widen", share=share),
        lambda: team.send("end"),
    )
    coordinator = shape.coordinator = Coordinator(plan, collector, orders, log, report_step)
    stop_on_signals(coordinator)
    live_page(environment, config)
    log(f"waiting for {expected} workers at {config['bind']}, for {WORKERS_WITHIN_S:g} s at most")
    fault = team.gather(lambda: coordinator.stopped)
    if not fault:
        team.send("plan", plan=config["plan"], workers=expected)
        until(
            lambda: len(prepared) == expected or any(prepared.values()) or team.lost() or coordinator.stopped,
            PREPARED_WITHIN_S,
        )
        fault = next((one for one in prepared.values() if one), "")
        if not fault and len(prepared) < expected:
            fault = coordinator.stopped or f"{expected - len(prepared)} of {expected} workers did not get ready"
    if fault:
        log(fault)
        team.dismiss(fault)
        return FAILED

    def watch() -> None:
        while True:
            gevent.sleep(1)
            if team.lost():
                coordinator.stopped = coordinator.stopped or "a worker was lost"

    watching = gevent.spawn(watch)
    runner.start_shape()
    coordinator.run()
    watching.kill()
    until(lambda: runner.user_count == 0 or team.lost(), USERS_END_WITHIN_S)
    team.send("finish", within_s=STOPPED_DRAIN_S if coordinator.stopped else DRAIN_S)
    until(lambda: len(finished.keys() | team.lost()) == expected, DRAIN_S + 10)
    shape.over = True
    collector.close()
    machines = [
        {"worker": number, "host": finished[one]["host"], "cores": finished[one]["cores"]}
        for number, one in enumerate(team.roster.members)
        if one in finished
    ]
    coordinator.write(Path(config["folder"]) / "generator.json", expected, expected - len(finished), machines)
    runner.quit()
    return OK
