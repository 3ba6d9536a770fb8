"""What goes on beside the generator while a step lasts: simulated people, outages of a part, delayed connections."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from lab.plan import Load, Plan
from lab.scratch import Order
from lab.target import Target

PEOPLE_END_WITHIN_S = 60
TRUTH = "truth.csv"


class SideLoads:
    """Starts things when the generator says that a step has begun."""

    def __init__(
        self, plan: Plan, target: Target, folder: Path, order: Order | None, log: Callable[[str], None]
    ) -> None:
        self.people: list[dict[str, Any]] = []
        """Summaries of the simulator, one for each load of people."""
        self.pids: list[int] = []
        self._plan, self._target, self._folder, self._order, self._log = plan, target, folder, order, log
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()

    def follow(self, lines: IO[str]) -> None:
        """Read the generator's output until it ends."""
        for line in lines:
            if line.startswith("{"):
                self._begin(int(json.loads(line)["step"]))

    def _begin(self, index: int) -> None:
        step = self._plan.steps[index]
        for load in step.loads:
            work = {"people": self._play, "outage": self._stop_part, "delay": self._delay}.get(load.kind)
            if work is not None:
                thread = threading.Thread(target=work, args=(index, load, step.seconds), daemon=True)
                thread.start()
                self._threads.append(thread)

    def stop(self) -> None:
        """People leave, outages and delays end; the operator stops the run."""
        self._over.set()
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)

    def wait(self) -> None:
        """Until everything that was started has ended."""
        for thread in self._threads:
            thread.join(PEOPLE_END_WITHIN_S)

    def _stop_part(self, _: int, load: Load, __: float) -> None:
        if self._order is None:
            self._log(f"no outage of {load.part}: only a stack of the run's own is stopped")
            return
        self._over.wait(load.at_s)
        self._log(f"  {load.part} is stopped for {load.for_s:g} s")
        self._order(f"stop {load.part}")
        self._over.wait(load.for_s)
        self._order(f"start {load.part}")

    def _delay(self, _: int, load: Load, seconds: float) -> None:
        if self._order is None:
            self._log(f"no delay of {load.link}: only connections of a stack of the run's own are delayed")
            return
        self._log(f"  answers of {load.link} are held back for {load.delay_ms:g} ms")
        self._order(f"delay {load.link} {load.delay_ms:g}")
        self._over.wait(seconds)
        self._order(f"delay {load.link} 0")

    def _play(self, index: int, load: Load, seconds: float) -> None:
        target = self._target
        secure = ["--ca", target.ca] if target.mqtt_tls else []
        accounts = ["--accounts", target.accounts] if target.accounts else []
        truth = self._folder / f"step-{index}.{TRUTH}"
        building = self._folder / "building.json"
        building.write_text(self._plan.building["building"])
        rhythm = ["--interval", f"{load.interval_s:g}"] if load.who == "phones" and load.interval_s != 1.0 else []
        final = [] if load.who == "phones" else ["--final-status", "removed"]
        command = [
            sys.executable, "-m", "simulator", load.who, "-n", str(load.count), "--duration", f"{seconds:g}", "--json",
            "--progress", "0", "--building", str(building), "--truth", str(truth), *rhythm, *final, *secure, *accounts,
        ]  # fmt: skip
        environment = {
            **os.environ, "MQTT_HOST": target.mqtt_host, "MQTT_PORT": str(target.mqtt_port),
            "MQTTS_PORT": str(target.mqtt_port), "MQTT_SIMULATOR_PASSWORD": target.mqtt_password,
        }  # fmt: skip
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            self.pids.append(process.pid)
            output = process.communicate()[0]
        try:
            summary = json.loads(output)
        except ValueError:
            self._log(f"the simulator of {load.count} people ended with code {process.returncode} and no summary")
            summary = {}
        self.people.append({"step": index, "who": load.who, "count": load.count, **summary})
