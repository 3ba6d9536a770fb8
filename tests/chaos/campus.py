"""`make chaos ARGS=campus`: nodes of a campus' broker are killed under load, and nothing that was acknowledged is lost.

Two sites on a cluster of three NATS nodes, on free ports. A phone at each site publishes; the node that leads a site's
queue is killed (kill -9) again and again, each site's in turn, once all nodes have everything. In the end each store of
each site must have what the broker acknowledged there, and nothing of the other site.
"""

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from stack.install import print_line
from stack.layout import ROOT
from stack.stores import Store
from support.building import Building
from support.campus import RunningCampus, Sender, idle_cpu, running_campus
from support.running import RunningStack
from support.stack_client import eventually, influx

BUILDINGS = {"north": ROOT / "flows" / "building" / "demo.json", "south": ROOT / "flows" / "building" / "annex.json"}
WITHIN_S = 180.0
LOG_LINES = 40


def main(arguments: Sequence[str]) -> int:
    """Run it and print the figures; exit code 1 if anything was lost."""
    parser = argparse.ArgumentParser(
        prog="make chaos ARGS=campus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=6, help="of a leader (%(default)s)")
    parser.add_argument("--rate", type=float, default=50, help="batches a second at each site (%(default)s)")
    parser.add_argument("--stores", type=int, choices=(1, 2), default=1, help="InfluxDBs of each site (%(default)s)")
    parser.add_argument("--idle", type=float, default=30, metavar="S", help="to measure the idle nodes (%(default)s)")
    options = parser.parse_args(arguments)
    sites = [f'[[sites]]\nname = "{name}"\nbuilding = "{file}"\ndemo = true\nstores = {options.stores}'
             for name, file in BUILDINGS.items()]  # fmt: skip
    with running_campus("\n".join(["[broker]", *sites])) as campus:
        for name, share in idle_cpu(campus, options.idle).items():
            print_line(f"{name} idle: {100 * share:.1f} % of a core")
        senders = {name: Sender(stack, f"chaos-{name}", Building(BUILDINGS[name]).beacons[0].id, options.rate)
                   for name, stack in campus.sites.items()}  # fmt: skip
        with ExitStack() as running:
            for sender in senders.values():
                running.enter_context(sender.publishing())
            for number in range(options.kills):
                _kill(campus, list(senders)[number % len(senders)], senders)
        lost = [fault for name, sender in senders.items() for fault in _lost(campus, name, sender)]
        for line in lost:
            print_line(line)
        if lost:
            for node in campus.nodes:
                print_line(f"--- log of {node}\n{campus.log(node, LOG_LINES)}")
    print_line("FAILED" if lost else "nothing that was acknowledged is lost")
    return 1 if lost else 0


def _kill(campus: RunningCampus, site: str, senders: dict[str, Sender]) -> None:
    """Kill the node that leads a site's queue, and wait until it has everything again."""
    eventually(lambda: all(campus.is_whole(one) for one in senders), WITHIN_S, "all nodes to have everything")
    leader = eventually(lambda: campus.leader(site), WITHIN_S, f"a leader of {site}")
    before = {name: len(sender.acked) for name, sender in senders.items()}
    killed_s = time.monotonic()
    campus.crash(leader)

    def go_on() -> bool:
        return all(len(one.acked) > before[name] + one.rate_per_s for name, one in senders.items())

    eventually(go_on, WITHIN_S, "acknowledgements at all sites")
    pauses = {name: sender.longest_pause_s(killed_s) for name, sender in senders.items()}
    shown = ", ".join(f"{name} {pause:.1f} s" for name, pause in pauses.items())
    print_line(f"{leader}, which led {site}, was killed; longest time without PUBACK: {shown}")


def _lost(campus: RunningCampus, name: str, sender: Sender) -> list[str]:
    """What is not right in the stores of a site, in words."""
    stack, wanted, faults = campus.sites[name], sender.acknowledged, []
    others = [f"chaos-{other}" for other in campus.sites if other != name]
    for store in stack.settings.stores:
        missing = _missing(stack, store, sender.receiver, wanted)
        found = _stored(stack, store, sender.receiver)
        print_line(f"site {name}, store {store.number}: {len(wanted)} acknowledged, {len(found)} stored")
        if missing:
            faults.append(f"site {name}, store {store.number}: {len(missing)} acknowledged batches are missing")
        faults += [f"site {name} has readings of {other}" for other in others if _stored(stack, store, other)]
    return faults


def _missing(stack: RunningStack, store: Store, receiver: str, wanted: set[int]) -> set[int]:
    """Batches that a store does not have, also after a while."""
    with suppress(AssertionError):  # the caller reports what is missing even then
        eventually(lambda: wanted <= _stored(stack, store, receiver), WITHIN_S)
    return wanted - _stored(stack, store, receiver)


def _stored(stack: RunningStack, store: Store, receiver: str) -> set[int]:
    """Times of a receiver's batches in a store, epoch ms."""
    query = f"SELECT readings FROM batch WHERE receiver = '{receiver}'"  # noqa: S608 - our own name
    return {int(row["time"]) for row in influx(stack, "readings", query, store)}
