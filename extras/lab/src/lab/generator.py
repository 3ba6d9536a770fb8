"""The generator's process: Locust starts users, knows the workers and shows a live page; due times are our own.

Run by `simulator lab`: `python -m lab.generator`, with the configuration as JSON on standard input, so that
secrets are on no command line; it ends when standard input does. Roles: `local` (all in this process), `coordinator`
(leads workers), `worker`."""

from gevent import monkey

monkey.patch_all()  # before anything that opens sockets is imported

import gc  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
from collections.abc import Mapping  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import gevent  # noqa: E402

from lab import plan as plans  # noqa: E402
from lab.coordinator import DRAIN_S, STOPPED_DRAIN_S, Collector, Coordinator, Orders  # noqa: E402
from lab.leader import coordinate  # noqa: E402
from lab.role import (  # noqa: E402
    FAILED,
    FLUSH_S,
    OK,
    end_with_parent,
    log,
    report_step,
    site_of,
    stop_on_signals,
    until,
)
from lab.target import Target  # noqa: E402
from lab.users import USERS_END_WITHIN_S, Caller, Recorder, Steps, live_page, make_environment  # noqa: E402
from lab.work import Work  # noqa: E402
from lab.worker import work_for  # noqa: E402


def main() -> int:
    """Play one role to its end."""
    logging.basicConfig(level=logging.ERROR)
    config = json.loads(sys.stdin.readline())
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.set_threshold(50_000)  # thousands of connections live long
    end_with_parent()
    return {"local": _local, "coordinator": coordinate, "worker": work_for}[config["role"]](config)


def _local(config: Mapping[str, Any]) -> int:
    shape = Steps()
    environment = make_environment(shape)
    runner = environment.create_local_runner()
    plan = plans.from_json(config["plan"])
    collector = Collector(Path(config["folder"]))
    record = Recorder(environment)
    work = Work(plan, Target(**config["target"]), site_of(plan), 0, 1, record)
    Caller.work = work
    coordinator = shape.coordinator = Coordinator(
        plan, collector, Orders(work.begin, work.widen, work.end), log, report_step
    )
    stop_on_signals(coordinator, work.halt)
    live_page(environment, config)
    if fault := work.prepare():
        log(fault)
        return FAILED

    def flush() -> None:
        while True:
            gevent.sleep(FLUSH_S)
            collector.add(record.take())

    flushing = gevent.spawn(flush)
    work.lag_ms.clear()  # connecting is no part of the run
    runner.start_shape()
    coordinator.run()
    work.finish(STOPPED_DRAIN_S if coordinator.stopped else DRAIN_S)
    until(lambda: runner.user_count == 0, USERS_END_WITHIN_S)
    shape.over = True
    flushing.kill()
    collector.add(record.take())
    collector.lag_ms += work.lag_ms
    collector.close()
    coordinator.write(Path(config["folder"]) / "generator.json", 1, 0, [])
    runner.quit()
    return OK


if __name__ == "__main__":
    sys.exit(main())
