"""The generator's process: Locust starts users, knows the workers and shows a live page; due times are our own.

Run by `simulator lab`: `python -m simulator.lab.generator`, with the configuration as JSON on standard input, so that
secrets are on no command line. Roles: `local` (all in this process), `coordinator` (leads workers), `worker`."""

from gevent import monkey

monkey.patch_all()  # before anything that opens sockets is imported

import gc  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import resource  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Mapping  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import gevent  # noqa: E402
import locust.stats  # noqa: E402
from locust import LoadTestShape, User, task  # noqa: E402
from locust.env import Environment  # noqa: E402
from locust.exception import StopUser  # noqa: E402

from simulator.lab import plan as plans  # noqa: E402
from simulator.lab.calls import Place, Site  # noqa: E402
from simulator.lab.coordinator import DRAIN_S, STOPPED_DRAIN_S, Collector, Lead, Orders  # noqa: E402
from simulator.lab.samples import Sample  # noqa: E402
from simulator.lab.target import Target  # noqa: E402
from simulator.lab.work import UserState, Work  # noqa: E402

WORKERS_WITHIN_S = 60.0
FLUSH_S = 0.5
USERS_END_WITHIN_S = 10.0
"""Locust complains of users that are stopped twice."""


class Caller(User):
    """A user of Locust, who does what the present step says."""

    work: Work

    def on_start(self) -> None:
        self.state = UserState()

    def on_stop(self) -> None:
        self.work.leave(self.state)

    @task
    def act(self) -> None:
        if not hasattr(self, "work"):
            raise StopUser
        self.work.act(self.state)


class Steps(LoadTestShape):
    """As many users as the present step wants; Locust asks each second and spreads them over its workers."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lead: Lead | None = None
        self.over = False

    def tick(self) -> tuple[int, float] | None:
        users = self.lead.users if self.lead else 0
        return None if self.over else (users, max(100.0, float(users)))


class Recorder:
    """Keeps a worker's samples until they are taken, and reports each to Locust for its live page."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._kept: list[Sample] = []

    def __call__(self, sample: Sample) -> None:
        self._kept.append(sample)
        self._environment.events.request.fire(  # type: ignore[no-untyped-call]
            request_type="HTTP" if sample.status else "MQTT",
            name=sample.call,
            response_time=sample.latency_ms,
            response_length=sample.bytes,
            exception=RuntimeError(sample.fault) if sample.fault else None,
            context={},
        )

    def take(self) -> list[Sample]:
        kept, self._kept = self._kept, []
        return kept


def main() -> int:
    """Play one role to its end."""
    logging.basicConfig(level=logging.ERROR)
    config = json.loads(sys.stdin.readline())
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.set_threshold(50_000)  # thousands of connections live long
    return {"local": _local, "coordinator": _coordinate, "worker": _work}[config["role"]](config)


def _environment(shape: Steps | None) -> Environment:
    environment = Environment(user_classes=[Caller], shape_class=shape, stop_timeout=30)
    locust.stats.CONSOLE_STATS_INTERVAL_SEC = 3600
    return environment


def _local(config: Mapping[str, Any]) -> int:
    shape = Steps()
    environment = _environment(shape)
    runner = environment.create_local_runner()
    plan = plans.from_json(config["plan"])
    collector = Collector(Path(config["folder"]))
    record = Recorder(environment)
    work = Work(plan, Target(**config["target"]), _site(plan), 0, 1, record)
    Caller.work = work
    lead = shape.lead = Lead(plan, collector, Orders(work.begin, work.widen, work.end), _log, _report_step)
    _stop_on_signals(lead, work)
    _live_page(environment, config)
    if fault := work.prepare():
        _log(fault)
        return 3

    def flush() -> None:
        while True:
            gevent.sleep(FLUSH_S)
            collector.add(record.take())

    flushing = gevent.spawn(flush)
    work.lag_ms.clear()  # connecting is no part of the run
    runner.start_shape()
    lead.run()
    work.finish(STOPPED_DRAIN_S if lead.stopped else DRAIN_S)
    _until(lambda: runner.user_count == 0, USERS_END_WITHIN_S)
    shape.over = True
    flushing.kill()
    collector.add(record.take())
    collector.lag_ms += work.lag_ms
    collector.close()
    lead.write(Path(config["folder"]) / "generator.json", 1, 0)
    runner.quit()
    return 0


def _coordinate(config: Mapping[str, Any]) -> int:
    shape = Steps()
    environment = _environment(shape)
    host, _, port = str(config["bind"]).rpartition(":")
    runner = environment.create_master_runner(host or "*", int(port))
    plan = plans.from_json(config["plan"])
    collector = Collector(Path(config["folder"]))
    expected = int(config["workers"])
    prepared: dict[str, str] = {}
    finished: set[str] = set()

    def on_samples(environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG001 - Locust passes it by name
        collector.add([Sample(*one) for one in msg.data["rows"]])
        collector.lag_ms += msg.data["lag_ms"]

    def on_prepared(environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG001
        prepared[msg.node_id] = msg.data["fault"]

    def on_finished(environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG001
        finished.add(msg.node_id)

    for name, listener in (("samples", on_samples), ("prepared", on_prepared), ("finished", on_finished)):
        runner.register_message(name, listener)
    _live_page(environment, config)
    _log(f"waiting for {expected} workers on port {port}")
    if not _until(lambda: len(runner.clients.ready) >= expected, WORKERS_WITHIN_S):
        _log(f"only {len(runner.clients.ready)} of {expected} workers came within {WORKERS_WITHIN_S:g} s")
        return 3
    chosen = [one.id for one in runner.clients.ready][:expected]
    for number, client_id in enumerate(chosen):
        runner.send_message("plan", {"plan": config["plan"], "worker": number, "workers": expected}, client_id)
    if not _until(lambda: len(prepared) == expected, 180) or any(prepared.values()):
        _log(next((fault for fault in prepared.values() if fault), "the workers did not get ready"))
        return 3

    def begin(index: int, in_s: float) -> None:
        runner.send_message("begin", {"step": index, "in_s": in_s})

    def widen(share: float) -> None:
        runner.send_message("widen", {"share": share})

    def end() -> None:
        runner.send_message("end", {})

    lead = shape.lead = Lead(plan, collector, Orders(begin, widen, end), _log, _report_step)
    _stop_on_signals(lead, None)

    def watch() -> None:
        while True:
            gevent.sleep(1)
            if len(runner.clients.all) - len(runner.clients.missing) < expected and not lead.stopped:
                lead.stopped = "a worker was lost"

    watching = gevent.spawn(watch)
    runner.start_shape()
    lead.run()
    watching.kill()
    runner.send_message("finish", {"within_s": STOPPED_DRAIN_S if lead.stopped else DRAIN_S})
    _until(lambda: len(finished) == expected, DRAIN_S + 10)
    _until(lambda: runner.user_count == 0, USERS_END_WITHIN_S)
    shape.over = True
    collector.close()
    lead.write(Path(config["folder"]) / "generator.json", expected, expected - len(finished))
    runner.quit()
    return 0


def _work(config: Mapping[str, Any]) -> int:
    environment = _environment(None)
    host, _, port = str(config["coordinator"]).rpartition(":")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator ends the run
    runner = environment.create_worker_runner(host, int(port))
    record = Recorder(environment)
    orders: dict[str, Any] = {}

    def send() -> None:
        work: Work | None = orders.get("work")
        lag_ms = work.lag_ms if work else []
        rows = [list(one) for one in record.take()]
        runner.send_message("samples", {"rows": rows, "lag_ms": list(lag_ms)})
        lag_ms.clear()

    def on_plan(environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG001
        plan = plans.from_json(msg.data["plan"])
        work = Work(plan, Target(**config["target"]), _site(plan), msg.data["worker"], msg.data["workers"], record)
        Caller.work = work
        fault = work.prepare()
        work.lag_ms.clear()
        orders["work"] = work
        runner.send_message("prepared", {"fault": fault})

    def on_begin(environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG001
        orders["work"].begin(msg.data["step"], msg.data["in_s"])

    def on_widen(environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG001
        orders["work"].widen(msg.data["share"])

    def on_end(environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG001
        orders["work"].end()

    def on_finish(environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG001
        orders["work"].finish(msg.data["within_s"])
        send()
        runner.send_message("finished", {})
        orders["over"] = True

    for name, listener in (
        ("plan", on_plan),
        ("begin", on_begin),
        ("widen", on_widen),
        ("end", on_end),
        ("finish", on_finish),
    ):
        runner.register_message(name, listener, concurrent=name in ("plan", "finish"))
    while not orders.get("over"):
        gevent.sleep(FLUSH_S)
        if "work" in orders and not orders.get("over"):
            send()
    gevent.sleep(0.5)
    runner.quit()
    return 0


def _site(plan: plans.Plan) -> Site:
    """The truth that the coordinator put into the plan."""
    facts = plan.building
    return Site(tuple(Place(*one) for one in facts["places"]), facts["past_end_s"], facts["building"], facts["run"])


def _live_page(environment: Environment, config: Mapping[str, Any]) -> None:
    if port := config.get("page_port"):
        environment.create_web_ui("127.0.0.1", int(port))
        _log(f"live page: http://127.0.0.1:{port}")


def _stop_on_signals(lead: Lead, work: Work | None) -> None:
    def stop() -> None:
        lead.stopped = lead.stopped or "stopped by the operator"
        if work is not None:
            work.halt()

    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop)


def _until(condition: Any, within_s: float) -> bool:
    deadline_s = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline_s:
            return False
        gevent.sleep(0.05)
    return True


def _report_step(index: int) -> None:
    """The leading process starts what goes on beside the generator."""
    print(json.dumps({"step": index}), flush=True)  # noqa: T201


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - the operator's progress


if __name__ == "__main__":
    sys.exit(main())
