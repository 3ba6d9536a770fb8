"""What a run does: steps of loads, as data that go from the coordinator to its workers. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from lab.synthetic_building import SyntheticBuilding

Kind = Literal["calls", "users", "devices", "batches", "switches", "sockets", "people", "outage", "delay"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PAUSE_S = 2.0
"""Between two steps: answers that are still due come in, and users of the next step start."""
BATCHES_PER_S = 2500.0
"""Of workers that wait for each answer, on two cores: to say in advance how long a step takes."""
DRAIN_S = 3.0
LEAD_S = 1.5
"""Before the first step: every worker has its start time before that time comes."""


@dataclass(frozen=True, slots=True)
class Load:
    """One stream of work within a step.

    `calls`: `rate` requests a second of `call`, at due times (open loop). `users`: `count` users, each waits for its
    answer and thinks for `think_s` (closed loop). `devices`: `count` MQTT receivers, each with a batch of `readings`
    every `interval_s` at due times. `batches`: `count` workers in phases, each sends `requests` batches of `readings`
    and waits for each answer. `people`: `count` simulated people of the simulator's command `who`.
    `switches`: `rate` changes of a gateway's settings a second, each until the gateway has them.
    `sockets`: `count` open dashboard pages without their browsers: each is logged in and watches `topic`.
    `outage`: the part is stopped at `at_s` for `for_s`, of a stack of the run's own.
    `delay`: answers on `link` are held back for `delay_ms` during the step, on a stack of the run's own.
    """

    kind: Kind
    call: str = ""
    rate: float = 0.0
    arrival: Literal["constant", "poisson"] = "constant"
    count: int = 0
    first: int = 0
    think_s: tuple[float, float] = (0.0, 0.0)
    mix: Mapping[str, float] = field(default_factory=dict)
    """Weight by call, of `users`."""
    interval_s: float = 1.0
    readings: int = 1
    requests: int = 0
    via: Literal["mqtt", "http"] = "mqtt"
    phases: tuple[float, ...] = (1.0,)
    """Shares of the workers of `batches` that start together."""
    next_phase_share: float = 1.0
    """The next phase starts when this share of the requests of those before is answered."""
    window_rows: int = 0
    """Rows that a history call asks for; 0: the last ten seconds."""
    staff: int = 1
    """How many staff the calls are about, one after the other."""
    who: Literal["phones", "gateways", "mixed"] = "phones"
    """Command of the simulator that plays `people`."""
    part: str = ""
    """Of `outage`."""
    at_s: float = 0.0
    """When within the step an outage begins, or all devices lose their connections; 0: never."""
    for_s: float = 0.0
    link: str = ""
    """Of `delay`: who connects to what, as in `node-red-influxd`."""
    delay_ms: float = 0.0
    topic: str = "floor:L1"
    """Of `sockets`: what the page shows."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one repeat: from `start_s` after the beginning, for `seconds`; loads go on at the same time."""

    name: str
    repeat: int
    start_s: float
    seconds: float
    loads: tuple[Load, ...]
    theirs: str = ""
    ends_itself: bool = False
    """It ends when its batches are answered; `seconds` is then the longest time."""

    @property
    def end_s(self) -> float:
        return self.start_s + self.seconds

    @property
    def expected_s(self) -> float:
        if not self.ends_itself:
            return self.seconds
        batches = sum(load.count * load.requests for load in self.loads if load.kind == "batches")
        return min(self.seconds, batches / BATCHES_PER_S + DRAIN_S)


@dataclass(frozen=True, slots=True)
class Wanted:
    """At least `share` of a call's answers take at most `at_most_ms`."""

    call: str
    at_most_ms: float
    share: float = 0.99


@dataclass(frozen=True, slots=True)
class Seed:
    """History that is stored before the run: `rows` locations a second apart, of each of `staff`; and telemetry."""

    staff: int = 0
    rows: int = 0
    telemetry_days: float = 0.0
    events: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole run of one form of a scenario."""

    scenario: str
    title: str
    about: str
    form: str
    steps: tuple[Step, ...]
    wanted: tuple[Wanted, ...] = ()
    seed: Seed = field(default_factory=Seed)
    theirs_name: str = ""
    retries: int = 3
    own: str = ""
    """What of the form was changed for this run, in words; empty: nothing."""
    drawn: SyntheticBuilding | None = None
    """The building of a stack of the run's own; None: the demo's."""
    building: Mapping[str, Any] = field(default_factory=dict)
    """Beacons and gateways that the loads use, filled in before the run."""

    @property
    def planned_s(self) -> float:
        """From the first step's start to the last one's end."""
        return self.steps[-1].end_s - self.steps[0].start_s if self.steps else 0.0

    @property
    def expected_s(self) -> float:
        """The same, but for steps that end themselves, which are given more time than they need."""
        longest = sum(step.seconds - step.expected_s for step in self.steps)
        return self.planned_s - longest

    @property
    def has_delays(self) -> bool:
        """Whether connections between parts must go through a proxy."""
        return any(load.kind == "delay" for step in self.steps for load in step.loads)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(document: Mapping[str, Any]) -> Plan:
    """The plan of `to_json`."""
    steps = tuple(
        Step(**{**step, "loads": tuple(_load(one) for one in step["loads"])})  # as JSON made lists of tuples
        for step in document["steps"]
    )
    wanted = tuple(Wanted(**one) for one in document["wanted"])
    drawn = SyntheticBuilding(**document["drawn"]) if document.get("drawn") else None
    return Plan(**{**document, "steps": steps, "wanted": wanted, "seed": Seed(**document["seed"]), "drawn": drawn})


def _load(document: Mapping[str, Any]) -> Load:
    return Load(**{**document, "think_s": tuple(document["think_s"]), "phases": tuple(document["phases"])})


def in_time(steps: Sequence[tuple[str, float, tuple[Load, ...], str]], repeats: int) -> tuple[Step, ...]:
    """Steps of (name, seconds, loads, theirs), `repeats` times over, one after the other with a pause."""
    placed, at_s = [], LEAD_S
    for repeat in range(repeats):
        for name, seconds, loads, theirs in steps:
            ends_itself = any(one.kind == "batches" for one in loads)
            placed.append(Step(name, repeat, at_s, seconds, loads, theirs, ends_itself))
            at_s += seconds + PAUSE_S
    return tuple(placed)


def receivers_of(plan: Plan) -> int:
    """How many receivers of `devices` and `batches` the run needs at the same time."""
    loads = [load for step in plan.steps for load in step.loads]
    devices = [load.first + load.count for load in loads if load.kind == "devices"]
    waiting = [load.count for load in loads if load.kind == "batches" and load.via == "mqtt"]
    return max([*devices, *waiting], default=0)


def asks_by_http(plan: Plan) -> bool:
    """Whether workers call the platform over HTTP."""
    kinds = ("calls", "users", "switches", "sockets")
    return any(load.kind in kinds or load.via == "http" for step in plan.steps for load in step.loads)


def users_at(plan: Plan, time_s: float) -> int:
    """How many users shall be there at a time; they come before their step starts, and wait for it."""
    step = next((one for one in plan.steps if one.start_s - LEAD_S <= time_s < one.end_s), None)
    return sum(load.count for load in step.loads if load.kind in ("users", "batches")) if step else 0
