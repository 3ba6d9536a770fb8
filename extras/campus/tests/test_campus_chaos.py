"""What `make chaos ARGS=campus` works out by itself: roles of nodes, pauses, rules of a partition."""

from campus.topology import Node
from campus_chaos.faults import FAULTS, ROLES, roles_of
from campus_chaos.figures import Hit, Poll, fault_table, longest_gap_s, longest_wait_s
from campus_chaos.partition import drops, no_new_routes
from chaos.comparing import nearest
from chaos.history import History
from chaos.load import Acked

NODES = ["nats-1", "nats-2", "nats-3"]


def acked(acked_s: float, ts_s: float) -> Acked:
    return Acked(round(acked_s * 1000), "phone", "7", round(ts_s * 1000), 4)


def test_a_node_has_a_role_at_each_site() -> None:
    roles = roles_of(NODES, {"north": "nats-2", "south": "nats-1"}, "nats-2")
    assert roles == {
        "nats-1": ["follower of north", "leader of south"],
        "nats-2": ["leader of north", "follower of south", "meta leader"],
        "nats-3": ["follower of north", "follower of south"],
    }


def test_no_roles_are_known_while_one_is_elected() -> None:
    assert roles_of(NODES, {"north": "nats-2", "south": ""}, "nats-2") == {}
    assert roles_of(NODES, {"north": "nats-2", "south": "nats-1"}, "") == {}


def test_each_role_is_killed_frozen_and_cut_off() -> None:
    of_roles = [fault for fault in FAULTS if fault.targets[0] in ROLES and len(fault.targets) == 1]
    assert len({(fault.targets, fault.cause) for fault in of_roles}) == len(ROLES) * 4
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_pause_counts_from_the_fault_and_up_to_its_end() -> None:
    assert longest_gap_s([1, 2, 9.5, 11], 3, 10) == 6.5
    assert longest_gap_s([4, 5], 3, 10) == 5
    assert longest_gap_s([], 3, 10) == 7


def test_a_batch_waits_from_its_time_to_its_acknowledgement() -> None:
    assert longest_wait_s([acked(2, 1), acked(8, 3.5), acked(20, 1)], 3, 10) == 4.5
    assert longest_wait_s([], 3, 10) == 0


def test_the_table_has_a_row_for_each_fault() -> None:
    hit = Hit("leader killed", ["nats-1 (leader of north)"], 100, 100, 105, 120)
    polls = [Poll(101, 101.1, 200), Poll(102, 102.1, 503), Poll(103, 108, 0), Poll(118, 119, 200)]
    batches = [acked(second, second - 0.1) for second in range(90, 130) if not 101 < second < 107]
    assert fault_table([hit], {"north": batches}, polls).splitlines()[-1] == (
        "| leader killed | nats-1 (leader of north) | 6.0 s, 0.1 s | 17.9 s | 2, 1, 1 | 5 s |"
    )


def test_a_partition_lets_nobody_open_a_route_and_belongs_to_its_process() -> None:
    nodes = [Node("nats-1", 1, 2, 3), Node("nats-2", 4, 5, 6)]
    table, chain, rule = no_new_routes("cut", nodes)
    assert "flags owner" in table
    assert "hook input" in chain
    assert "tcp dport { 3, 6 } tcp flags & (syn | ack) == syn drop" in rule
    assert [line.split("received ")[1] for line in drops("cut", [3, 40_001])] == [
        "tcp dport { 3, 40001 } drop",
        "tcp sport { 3, 40001 } drop",
    ]


def test_each_person_is_compared_with_the_nearest_reference() -> None:
    def at(person: str, room: str) -> tuple[str, int, str, str, str, int]:
        return (person, 1000, "L1", room, "B1", -60)

    first = History({at("1", "hall"), at("2", "hall")}, {("1", "hall", 0, 9)})
    second = History({at("1", "shop"), at("2", "shop")}, {("1", "shop", 0, 9)})
    stored = History({at("1", "shop"), at("2", "hall")}, {("1", "shop", 0, 9)})
    assert nearest(stored, [first, second]) == stored
    assert nearest(History(set(), set()), [first, second]) == first, "who is missing is missed"
