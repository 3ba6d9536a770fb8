#!/usr/bin/env python3
"""Brings InfluxDB to the state of buckets.json, tasks/ and tokens.json. Running it again changes nothing.

Waits until InfluxDB is healthy, sets it up when it is empty (organisation `sda`, operator token
INFLUX_ADMIN_TOKEN), creates or changes buckets and tasks, issues the tokens and writes them into the .env file.
InfluxDB chooses tokens itself, so INFLUX_WRITE_TOKEN and INFLUX_READ_TOKEN need not, and cannot, be chosen
beforehand. Needs Python 3.11 and nothing else.
"""

import argparse
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import env_file
from api import Api, ApiError

HERE = Path(__file__).parent
ORGANISATION = "sda"
DAY_S = 86400


class ApplyError(Exception):
    """An error that only the operator can correct; the message says how."""


def set_up(api: Api, first_bucket: str) -> Iterator[str]:
    """First start only: make organisation, operator token, and a user with a discarded password."""
    if not api.call("GET", "/api/v2/setup")["allowed"]:
        return
    user = {"username": "admin", "password": secrets.token_urlsafe(32)}
    api.call("POST", "/api/v2/setup", user | {"org": ORGANISATION, "bucket": first_bucket, "token": api.token})
    yield f"set up organisation {ORGANISATION}"


def organisation_id(api: Api) -> str:
    """Id of the organisation. Raises ApplyError if the operator token belongs to another InfluxDB."""
    try:
        found = api.call("GET", "/api/v2/orgs", org=ORGANISATION)["orgs"]
    except ApiError as error:
        if error.status not in (401, 404):
            raise
        raise ApplyError(
            "INFLUX_ADMIN_TOKEN is not the one this InfluxDB was set up with: put back the .env that belongs to its "
            "data folder, or start anew with an empty one (`make clean`)"
        ) from error
    return str(found[0]["id"])


def apply_buckets(api: Api, org_id: str, wanted: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Create missing buckets; change retention or shard length where they differ."""
    existing = {
        bucket["name"]: bucket for bucket in api.call("GET", "/api/v2/buckets", orgID=org_id, limit="100")["buckets"]
    }
    for name, sizes in wanted.items():
        rule = {
            "type": "expire",
            "everySeconds": sizes["retention_days"] * DAY_S,
            "shardGroupDurationSeconds": sizes["shard_days"] * DAY_S,
        }
        if name not in existing:
            api.call("POST", "/api/v2/buckets", {"orgID": org_id, "name": name, "retentionRules": [rule]})
            yield f"created bucket {name}, kept {sizes['retention_days']} days"
        elif existing[name]["retentionRules"] != [rule]:
            api.call("PATCH", f"/api/v2/buckets/{existing[name]['id']}", {"retentionRules": [rule]})
            yield f"changed bucket {name}: kept {sizes['retention_days']} days, shards of {sizes['shard_days']}"


def apply_tasks(api: Api, org_id: str, wanted: Mapping[str, str]) -> Iterator[str]:
    """Create missing tasks; change tasks whose Flux differs or that are inactive."""
    existing = {task["name"]: task for task in api.call("GET", "/api/v2/tasks", orgID=org_id, limit="500")["tasks"]}
    for name, flux in wanted.items():
        if name not in existing:
            api.call("POST", "/api/v2/tasks", {"orgID": org_id, "flux": flux, "status": "active"})
            yield f"created task {name}"
        elif (existing[name]["flux"], existing[name]["status"]) != (flux, "active"):
            api.call("PATCH", f"/api/v2/tasks/{existing[name]['id']}", {"flux": flux, "status": "active"})
            yield f"changed task {name}"


def read_tasks() -> dict[str, str]:
    """Name -> Flux of every file in tasks/. Raises ApplyError if a file's task has another name."""
    tasks = {path.stem: path.read_text() for path in sorted((HERE / "tasks").glob("*.flux"))}
    for name, flux in tasks.items():
        if f'option task = {{name: "{name}",' not in flux:
            raise ApplyError(f'tasks/{name}.flux must say: option task = {{name: "{name}", …}}')
    return tasks


def apply_tokens(
    api: Api, org_id: str, wanted: Mapping[str, Any], known: Mapping[str, str], issued: dict[str, str]
) -> Iterator[str]:
    """Keep each token with exactly the wanted rights, else issue a new one; revoke others with its description.

    ``known`` are the present variables; the caller must store those put into ``issued``.
    """
    ids = {bucket["name"]: bucket["id"] for bucket in _buckets(api, org_id)}
    existing = api.call("GET", "/api/v2/authorizations", orgID=org_id)["authorizations"]
    for variable, token in wanted.items():
        actions = token["action"].split(", ")
        rights = {(action, "buckets", ids[name]) for name in token["buckets"] for action in actions}
        same = [entry for entry in existing if entry["description"] == token["description"]]
        good = [entry for entry in same if entry["status"] == "active" and _rights(entry) == rights]
        kept = next((entry for entry in good if entry["token"] == known.get(variable)), None) or next(iter(good), None)
        if kept is None:
            permissions = [
                {"action": action, "resource": {"type": kind, "id": bucket, "orgID": org_id}}
                for action, kind, bucket in sorted(rights)
            ]
            body = {"orgID": org_id, "description": token["description"], "permissions": permissions}
            kept = api.call("POST", "/api/v2/authorizations", body)
            yield f"issued {variable}: may {token['action']} {', '.join(token['buckets'])}"
        for entry in same:
            if entry["id"] != kept["id"]:
                api.call("DELETE", f"/api/v2/authorizations/{entry['id']}")
                yield f"revoked an older token of {token['description']}"
        if known.get(variable) != kept["token"]:
            issued[variable] = kept["token"]


def _buckets(api: Api, org_id: str) -> list[dict[str, Any]]:
    return list(api.call("GET", "/api/v2/buckets", orgID=org_id, limit="100")["buckets"])


def _rights(entry: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    resources = [(permission["action"], permission["resource"]) for permission in entry["permissions"]]
    return {(action, resource["type"], resource.get("id", "")) for action, resource in resources}


def named(variable: str, store: int) -> str:
    """The variable of a store's token: INFLUX_READ_TOKEN of the first is INFLUX_2_READ_TOKEN of the second."""
    return variable if store <= 1 else variable.replace("_", f"_{store}_", 1)


def apply(
    url: str,
    env_path: Path,
    environment: Mapping[str, str],
    wait_s: float,
    store: int = 0,
    more_tokens: Path | None = None,
) -> Iterator[str]:
    """Apply everything; yields a sentence for each change.

    Args:
        url: of the InfluxDB.
        env_path: the file for the tokens.
        environment: may have INFLUX_ADMIN_TOKEN.
        wait_s: so long it may take until InfluxDB is healthy.
        store: its number where there are several, else 0.
        more_tokens: a file like tokens.json, with further ones.
    """
    wanted_buckets = json.loads((HERE / "buckets.json").read_text())
    in_json = json.loads((HERE / "tokens.json").read_text())
    if more_tokens:
        in_json |= json.loads(more_tokens.read_text())
    wanted_tokens = {named(variable, store): token for variable, token in in_json.items()}
    in_file = env_file.read(env_path)
    admin = environment.get("INFLUX_ADMIN_TOKEN") or in_file.get("INFLUX_ADMIN_TOKEN")
    if not admin:
        raise ApplyError(f"INFLUX_ADMIN_TOKEN is neither in the environment nor in {env_path}; `make up` chooses one")
    api = Api(url.rstrip("/"), admin)
    api.wait(wait_s)
    yield from set_up(api, next(iter(wanted_buckets)))
    org_id = organisation_id(api)
    yield from apply_buckets(api, org_id, wanted_buckets)
    yield from apply_tasks(api, org_id, read_tasks())
    issued: dict[str, str] = {}
    known = {name: environment.get(name) or in_file.get(name, "") for name in wanted_tokens}
    yield from apply_tokens(api, org_id, wanted_tokens, known, issued)
    if issued:
        env_file.update(env_path, issued)
        yield f"wrote {', '.join(issued)} into {env_path}"
    for variable in issued:
        if environment.get(variable, "") not in ("", in_file.get(variable)):
            raise ApplyError(
                f"{variable} in the environment wins over {env_path} but is no token InfluxDB issued: unset it"
            )


def main() -> int:
    """Apply and print each change. Exit code 1 with a message if it fails."""
    parser = argparse.ArgumentParser(
        prog="apply.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default="http://127.0.0.1:8086", help="InfluxDB's URL (default %(default)s)")
    parser.add_argument(
        "--env-file", type=Path, default=Path(".env"), help="file to read, and to write issued tokens to"
    )
    parser.add_argument("--wait", type=float, default=60, help="seconds InfluxDB may take (default %(default)s)")
    parser.add_argument("--store", type=int, default=0, choices=(1, 2), help="which one it is, where there are two")
    parser.add_argument("--more-tokens", type=Path, help="a file like tokens.json, with further ones")
    options = parser.parse_args()
    try:
        done = 0
        for line in apply(options.url, options.env_file, os.environ, options.wait, options.store, options.more_tokens):
            done += 1
            sys.stdout.write(f"influx: {line}\n")
    except (ApplyError, ApiError, OSError, ValueError) as error:
        sys.stderr.write(f"influx: {error}\n")
        return 1
    if not done:
        sys.stdout.write("influx: nothing to change\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
