"""A worker's role: does its share of one run, and ends with it."""

import signal
import socket
import time
from collections.abc import Mapping
from typing import Any

import gevent
from locust.env import Environment
from locust.runners import WorkerRunner
from simulator.settings import SettingsError

from lab import plan as plans
from lab.role import FAILED, FLUSH_S, GONE_S, OK, log, site_of
from lab.target import Target
from lab.users import Caller, Recorder, make_environment
from lab.work import Work

LEAVE_WITHIN_S = 5.0
LINGER_MS = 1000
"""The last messages are on their way for so long at most."""


def work_for(config: Mapping[str, Any]) -> int:
    """Wait for the coordinator, and do what it orders."""
    environment = make_environment(None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator ends the run
    address = str(config["coordinator"])
    host, _, port = address.rpartition(":")
    try:
        runner = environment.create_worker_runner(host, int(port))
    except ConnectionError:
        log(f"there is no coordinator at {address}: start it with `simulator lab run … --expect N --bind {address}`")
        return FAILED
    worker = Worker(environment, runner, Target(**config["target"]), address)
    return worker.run(float(config.get("gone_s", GONE_S)))


class Worker:
    """One worker of one run."""

    def __init__(self, environment: Environment, runner: WorkerRunner, target: Target, address: str) -> None:
        self._runner, self._target, self._address = runner, target, address
        self._record = Recorder(environment)
        self._work: Work | None = None
        self._run = ""
        """Of which run it is; empty: of none yet."""
        self._heard_s = time.monotonic()
        """When the coordinator was last heard of."""
        self._began = (0.0, 0.0)
        """Time and CPU time at the first step, in s."""
        self._code: int | None = None
        """Exit code; None: the run goes on."""
        environment.events.heartbeat_received.add_listener(self._heard)  # type: ignore[no-untyped-call]
        for kind in ("plan", "begin", "widen", "end", "finish", "over"):
            runner.register_message(kind, self._obey, concurrent=kind in ("plan", "finish"))

    def run(self, gone_s: float) -> int:
        """Until the run is over, or the coordinator was silent for `gone_s`; returns the exit code."""
        while self._code is None:
            gevent.sleep(FLUSH_S)
            if time.monotonic() - self._heard_s > gone_s:
                self._end(f"the coordinator at {self._address} has been silent for {gone_s:g} s", FAILED)
            elif self._code is None:
                self._send_samples()
        if self._work is not None and self._code:
            self._work.finish(0.0)
        with gevent.Timeout(LEAVE_WITHIN_S, False):
            self._runner.quit()
        self._runner.client.close(linger=LINGER_MS)  # type: ignore[no-untyped-call]
        return self._code

    def _heard(self, **_: Any) -> None:
        self._heard_s = time.monotonic()

    def _obey(self, environment: Environment, msg: Any, **_: Any) -> None:  # noqa: ARG002 - Locust passes it by name
        order, data = msg.type, msg.data
        if order == "over":
            self._end(data["why"], FAILED)
        elif order == "plan" and not self._run:
            self._prepare(data)
        elif self._work is not None and data["run"] == self._run:
            if order == "begin":
                self._began = self._began if self._began[0] else (time.monotonic(), time.process_time())
                self._work.begin(data["step"], data["in_s"])
            elif order == "widen":
                self._work.widen(data["share"])
            elif order == "end":
                self._work.end()
            elif order == "finish":
                self._finish(self._work, data["within_s"])

    def _prepare(self, data: Mapping[str, Any]) -> None:
        self._run = data["run"]
        try:
            plan = plans.from_json(data["plan"])
            work = Work(plan, self._target, site_of(plan), data["worker"], data["workers"], self._record)
            Caller.work = work
            fault = work.prepare()
            work.lag_ms.clear()  # connecting is no part of the run
            self._work = work
        except (KeyError, TypeError) as error:
            fault = f"it does not understand the plan ({error}): install the same version on all machines"
        except (OSError, ValueError, SettingsError) as error:
            fault = str(error)
        self._send("prepared", fault=fault, host=socket.gethostname(), clock_s=time.time())

    def _finish(self, work: Work, within_s: float) -> None:
        seconds = time.monotonic() - self._began[0]
        cores = (time.process_time() - self._began[1]) / seconds if self._began[0] else 0.0
        work.finish(within_s)
        self._send_samples()
        self._send("finished", host=socket.gethostname(), cores=round(cores, 3))
        self._code = OK

    def _send_samples(self) -> None:
        if self._work is not None:
            lag_ms = list(self._work.lag_ms)
            self._work.lag_ms.clear()
            self._send("samples", rows=[list(one) for one in self._record.take()], lag_ms=lag_ms)

    def _send(self, kind: str, **data: Any) -> None:
        self._runner.send_message(kind, {"run": self._run, **data})

    def _end(self, why: str, code: int) -> None:
        if self._code is None:
            log(f"this worker ends: {why}")
            self._code = code
