"""Locust's part of the generator: users who do what the present step says, how many there are, its live page."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import locust.runners
import locust.stats
from locust import LoadTestShape, User, task
from locust.env import Environment
from locust.exception import RescheduleTaskImmediately, StopUser

from lab.role import GONE_S, log
from lab.samples import Sample
from lab.work import UserState, Work

if TYPE_CHECKING:
    from lab.coordinator import Coordinator

USERS_END_WITHIN_S = 10.0
"""Locust complains of users that are stopped twice."""


class Caller(User):
    """A user of Locust, who does what the present step says."""

    work: Work

    def on_start(self) -> None:
        self.state = UserState()

    def on_stop(self) -> None:
        if hasattr(self, "work"):
            self.work.leave(self.state)

    @task
    def act(self) -> None:
        if not hasattr(self, "work"):
            raise StopUser
        self.work.act(self.state)
        raise RescheduleTaskImmediately  # Locust would wait, behind everything else that is ready


class Steps(LoadTestShape):
    """As many users as the present step wants; Locust asks each second and spreads them over its workers."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.coordinator: Coordinator | None = None
        self.over = False

    def tick(self) -> tuple[int, float] | None:
        users = self.coordinator.users if self.coordinator else 0
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


def make_environment(shape: Steps | None) -> Environment:
    """Locust's environment of one process."""
    locust.stats.CONSOLE_STATS_INTERVAL_SEC = 3600
    locust.runners.HEARTBEAT_LIVENESS = round(GONE_S)
    return Environment(user_classes=[Caller], shape_class=shape, stop_timeout=30)


def live_page(environment: Environment, config: Mapping[str, Any]) -> None:
    """Locust's page, on the port that the operator chose, if any."""
    if port := config.get("page_port"):
        environment.create_web_ui("127.0.0.1", int(port))
        log(f"live page: http://127.0.0.1:{port}")
