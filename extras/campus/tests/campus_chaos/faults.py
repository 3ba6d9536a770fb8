"""What is done to a campus: a list of faults, each with its targets, how it is caused and how it ends."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP

from running_campus import RunningCampus
from stack.supervisor import Supervisor
from support.stack_client import eventually

from .partition import cut_off

ELECTED_WITHIN_S = 120.0
LEADER, FOLLOWER, META_LEADER = "leader", "follower", "meta leader"
ROLES = (LEADER, FOLLOWER, META_LEADER)
"""Of a node: leads a site's queue, follows another that leads it, leads the cluster itself."""
OF_THE_CLUSTER, OF_THE_ENTRY = ("callout-1", "haproxy"), ("entry-1",)
"""Targets that are no node. All others are processes of a site."""


@dataclass(frozen=True, slots=True)
class Part:
    """A process of the campus; `folder` is that of its supervisord."""

    name: str
    folder: Path
    description: str

    @property
    def pid(self) -> int:
        """0 when it does not run."""
        return int(self.supervisor.info(self.name).get("pid", 0))

    @property
    def runs(self) -> bool:
        return self.supervisor.info(self.name).get("statename") == "RUNNING"

    @property
    def supervisor(self) -> Supervisor:
        return Supervisor(self.folder)


Cause = Callable[[RunningCampus, Part], AbstractContextManager[None]]
"""Causes it at the begin of the block, and ends it with the block."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`targets`: roles of nodes, or names of processes, all hit at the same time; `lasts_s`: until it is ended."""

    name: str
    targets: tuple[str, ...]
    cause: Cause
    lasts_s: float = 0.0


@contextmanager
def killed(_campus: RunningCampus, part: Part) -> Iterator[None]:
    """kill -9; supervisord starts it again."""
    part.supervisor.signal(part.name, SIGKILL)
    yield


@contextmanager
def frozen(_campus: RunningCampus, part: Part) -> Iterator[None]:
    """SIGSTOP, and in the end SIGCONT."""
    part.supervisor.signal(part.name, SIGSTOP)
    try:
        yield
    finally:
        part.supervisor.signal(part.name, SIGCONT)


def _cut_off(campus: RunningCampus, part: Part, *, from_everybody: bool) -> AbstractContextManager[None]:
    assert campus.topology.cluster
    nodes = {node.name: node for node in campus.topology.cluster.nodes}
    node = nodes.pop(part.name)
    return cut_off(node, part.pid, nodes.values(), from_everybody=from_everybody)


cut_from_nodes = partial(_cut_off, from_everybody=False)
"""Its clients still reach it."""
cut_from_all = partial(_cut_off, from_everybody=True)

ALL_AT_ONCE = (LEADER, "influxd", "telegraf", "entry-1", "haproxy", "callout-1", "node-red")
FAULTS = (
    *(Fault(f"{role} killed", (role,), killed) for role in ROLES),
    *(Fault(f"{role} frozen", (role,), frozen, 30) for role in ROLES),
    *(Fault(f"{role} cut off from the other nodes", (role,), cut_from_nodes, 30) for role in ROLES),
    *(Fault(f"{role} cut off from all", (role,), cut_from_all, 30) for role in ROLES),
    Fault("callout killed", ("callout-1",), killed),
    Fault("HAProxy killed", ("haproxy",), killed),
    Fault("entry process killed", ("entry-1",), killed),
    Fault("entry process frozen", ("entry-1",), frozen, 15),
    Fault("InfluxDB killed", ("influxd",), killed),
    Fault("second InfluxDB frozen", ("influxd-2",), frozen, 20),
    Fault("Telegraf killed", ("telegraf",), killed),
    Fault("Telegraf frozen", ("telegraf",), frozen, 20),
    Fault("spool killed", ("spool",), killed),
    Fault("Node-RED killed", ("node-red",), killed),
    Fault("all at once killed", ALL_AT_ONCE, killed),
)


@dataclass(slots=True)
class Chooser:
    """Finds the part that a target means now: of several that which was hit the least often."""

    campus: RunningCampus
    hits: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By target and name of the process, with that of its site."""

    def part(self, target: str) -> Part:
        """The part to hit."""
        if target in ROLES:
            node = eventually(lambda: self._node(target), ELECTED_WITHIN_S, f"a node that is {target}")
            assert node
            return node
        if target in OF_THE_CLUSTER:
            return self._hit(target, Part(target, self._cluster, target))
        if target in OF_THE_ENTRY:
            return self._hit(target, Part(target, self.campus.folder / "entry", target))
        name = min(self.campus.sites, key=lambda site: self.hits[target, f"{target} of {site}"])
        return self._hit(target, Part(target, self.campus.sites[name].data_dir, f"{target} of {name}"))

    @property
    def _cluster(self) -> Path:
        return self.campus.folder / "cluster"

    def _node(self, role: str) -> Part | None:
        roles = roles_of(self.campus.nodes, {site: self.campus.leader(site) for site in self.campus.sites},
                         self.campus.meta_leader())  # fmt: skip
        having = [name for name, own in roles.items() if any(one.startswith(role) for one in own)]
        if not having:
            return None
        name = min(having, key=lambda one: (self.hits[role, one], sum(FOLLOWER not in own for own in roles[one])))
        part = Part(name, self._cluster, f"{name} ({', '.join(roles[name])})")
        self.hits[role, name] += 1
        return part

    def _hit(self, target: str, part: Part) -> Part:
        self.hits[target, part.description] += 1
        return part


def roles_of(nodes: list[str], leaders: dict[str, str], meta_leader: str) -> dict[str, list[str]]:
    """The roles of each node; none are known while one is elected. Pure."""
    if not meta_leader or not all(leaders.values()):
        return {}
    found = {
        node: [f"{LEADER if leader == node else FOLLOWER} of {site}" for site, leader in leaders.items()]
        for node in nodes
    }
    found[meta_leader].append(META_LEADER)
    return found
