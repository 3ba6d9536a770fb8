#!/usr/bin/env python3
"""Erases a person from two InfluxDBs, also from one that is away at the moment.

    erase.py ask --data DIR PERSON [TAG …]     keep the request, wait until it is done where it can be
    erase.py list --data DIR                   what is owed to which InfluxDB
    erase.py serve --data DIR                  do what is owed, for ever

Environment of `serve`: for each store N `STORE_N_URL`, `STORE_N_SPOOL_URL`, `STORE_N_TOKEN`, which may read and write.
"""

import argparse
import json
import os
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from api import Api, ApiError
from erasures import APPLIED, ASKED, Erasure, Folder, StoreErasure, after, check, is_due, with_store

ORGANISATION = "sda"
STORES = ("1", "2")
POLL_S = 2.0
WAIT_S = 5.0
QUERY_TIMEOUT_S = 600.0
SPOOL_TIMEOUT_S = 5.0
EVER = {"start": "1970-01-01T00:00:00Z", "stop": "2100-01-01T00:00:00Z"}


class Erasable(Protocol):
    """An InfluxDB from which people can be erased. Both raise ApiError when it does not answer."""

    def is_past(self, requested_ms: int) -> bool:
        """Whether all that waited on disk at a time, epoch ms, is in it."""

    def erase(self, person: str, tags: Sequence[str]) -> None:
        """All of a person and of their tags; a second time changes nothing."""


@dataclass(frozen=True, slots=True)
class Target:
    """An InfluxDB and the spool before it."""

    api: Api
    spool_url: str

    def forget(self, bucket: str, tag: str, value: str) -> None:
        """Delete the points with a tag. Raises ApiError."""
        body = {**EVER, "predicate": f'{tag}="{value}"'}
        self.api.call("POST", "/api/v2/delete", body, org=ORGANISATION, bucket=bucket)

    def rewrite(self, which: str, value: str) -> None:
        """Change the readings that others share: which, and their new value. Raises ApiError."""
        flux = (
            'import "regexp"\n'
            'without = (r, v) => regexp.replaceAllString(r: r, v: v, t: "")\n'
            'from(bucket: "readings") |> range(start: -8d, stop: 1h) |> filter(fn: (r) => '
            f'{which}) |> map(fn: (r) => ({{r with _value: {value}}})) |> to(bucket: "readings") '
            "|> group() |> count()"  # the answer is a number, not all that was rewritten
        )
        self.api.query(flux, ORGANISATION, QUERY_TIMEOUT_S)

    def erase(self, person: str, tags: Sequence[str]) -> None:
        """The same as the commands of docs/privacy.md."""
        self.forget("locations", "staff_id", person)  # locations and stays
        self.forget("locations", "subject", person)  # events
        self.forget("readings", "receiver", person)  # what the person's phone heard; in two measurements it is a field
        phone = f'r._measurement != "batch" and r._field == "receiver" and r._value == "{person}"'
        self.rewrite(phone, '""')
        self.forget("health", "receiver", person)  # what was refused of it
        for tag in tags:
            self.forget("readings", "beacon", tag)
            self.rewrite(
                f'r._measurement == "batch" and r._value =~ /(^|,){tag} /',
                f"without(r: /^,/, v: without(r: /(^|,){tag} -?[0-9]+/, v: r._value))",
            )
            self.forget("telemetry", "beacon", tag)

    def is_past(self, requested_ms: int) -> bool:
        """Its spool has nothing that old, and a heartbeat that was sent later is stored."""
        try:
            with urllib.request.urlopen(f"{self.spool_url}/status", timeout=SPOOL_TIMEOUT_S) as answer:  # noqa: S310 - ours
                spool = json.load(answer)
        except (OSError, ValueError):
            return False
        if spool["fault"] or (spool["oldest_ms"] is not None and spool["oldest_ms"] <= requested_ms):
            return False
        newer = f'SELECT last("uptime_s") FROM "flows_health" WHERE time > {requested_ms}ms'  # noqa: S608 - our own number
        (result,) = self.api.call("GET", "/query", db="health", q=newer)["results"]
        return bool(result.get("series"))


def run_due(folder: Folder, targets: Mapping[str, Erasable], now_ms: int) -> list[str]:
    """Do what is due; returns why some of it could not be done, a sentence for each store."""
    faults: dict[str, str] = {}
    for file in folder.files():
        try:
            found = folder.read(file)
        except ValueError as error:
            faults[file.name] = str(error)
            continue
        if found is None:
            continue
        erasure = found
        for store, owed in found.owed.items():
            if store not in targets or store in faults:
                continue
            try:
                is_past = targets[store].is_past(erasure.requested_ms)
                if not is_due(owed, now_ms, is_past):
                    continue
                targets[store].erase(erasure.person, erasure.tags)
            except ApiError as error:
                faults[store] = f"store {store}: {error}"
                continue
            erasure = with_store(erasure, store, after(owed, now_ms, is_past))
            folder.save(file, erasure)
    return list(faults.values())


def read_targets(environment: Mapping[str, str]) -> dict[str, Target]:
    """The stores that the environment names."""
    return {
        store: Target(
            Api(environment[f"STORE_{store}_URL"], environment[f"STORE_{store}_TOKEN"]),
            environment[f"STORE_{store}_SPOOL_URL"],
        )
        for store in STORES
        if f"STORE_{store}_URL" in environment
    }


def serve(folder: Folder) -> None:
    """For ever; the file `alive` says that it goes on."""
    targets = read_targets(os.environ)
    logged: list[str] = []
    folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    while True:
        (folder.path / "alive").touch()
        try:
            faults = run_due(folder, targets, time.time_ns() // 1_000_000)
        except (ValueError, OSError) as error:
            faults = [str(error)]
        for fault in faults:
            if fault not in logged:
                log(f"{fault}; it is tried again")
        logged = faults
        time.sleep(POLL_S)


def request_erasure(folder: Folder, person: str, tags: Sequence[str], wait_s: float) -> list[str]:
    """Keep a request, and wait a while for its first step. Returns a sentence for each store."""
    check(person, tuple(tags))
    erasure = Erasure(person, tuple(tags), time.time_ns() // 1_000_000, dict.fromkeys(STORES, StoreErasure()))
    file = folder.add(erasure)
    deadline = time.monotonic() + wait_s
    left: Erasure | None = erasure
    while left and any(one.step == ASKED for one in left.owed.values()) and time.monotonic() < deadline:
        time.sleep(0.2)
        left = folder.read(file)
    return [f"store {store}: {_state(left.owed.get(store) if left else None)}" for store in STORES]


def _state(owed: StoreErasure | None) -> str:
    if owed is None:
        return "erased"
    if owed.step == ASKED:
        return "not erased yet; it will be as soon as that InfluxDB answers"
    if owed.step == APPLIED:
        return "erased; again when all that still waits for it is stored"
    return "erased; once more in five minutes, for what may be late"


def log(text: str) -> None:
    """One line for the service's log; it names no person."""
    sys.stderr.write(f"erase: {text}\n")
    sys.stderr.flush()


def parse() -> argparse.Namespace:
    """Command-line options."""
    parser = argparse.ArgumentParser(
        prog="erase.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["ask", "list", "serve"])
    parser.add_argument("--data", type=Path, required=True, help="folder of what is owed")
    parser.add_argument("--wait", type=float, default=WAIT_S, help="seconds that `ask` waits (default %(default)s)")
    parser.add_argument("ids", nargs="*", help="the person, and the tags")
    return parser.parse_args()


def main() -> int:
    """One of the three. Exit code 1 with a message if it fails."""
    options = parse()
    folder = Folder(options.data.absolute())
    try:
        if options.what == "serve":
            serve(folder)
        elif options.what == "ask":
            person, *tags = options.ids or [""]
            sys.stdout.write("".join(f"{line}\n" for line in request_erasure(folder, person, tags, options.wait)))
        else:
            lines = [
                f"{erasure.person}, store {store}: {_state(owed)}"
                for erasure in map(folder.read, folder.files())
                if erasure is not None
                for store, owed in sorted(erasure.owed.items())
            ]
            sys.stdout.write("".join(f"{line}\n" for line in lines or ["nothing is owed"]))
    except (ValueError, OSError) as error:
        log(str(error))
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
