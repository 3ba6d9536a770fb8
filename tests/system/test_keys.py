"""Named keys: made and revoked while everything runs, with rights, stored as fingerprints."""

import stat
import time
from pathlib import Path

import pytest
from support import web
from support.keys import admin, asking, make_key, named_key
from support.running import RunningStack
from support.stack_client import eventually, get

HISTORY = "/extractbeacon?staff_id=0&start_time=1&end_time=2"
PRESENCE = "/retrieveformonitoring"
ADMIN = "/api/v1/keys"
WITHIN_S = 30.0
REFUSED = (401, 429)
"""429: asking until a new key worked were too many wrong ones."""
"""The flows check the file once a second."""


def _file(stack: RunningStack) -> Path:
    return stack.data_dir / "node-red" / "keys.json"


def _status(stack: RunningStack, key: str, path: str = HISTORY) -> int:
    with asking(stack, key) as caller:
        return caller.get(path).status_code


@pytest.mark.parametrize(
    ("rights", "statuses"),
    [
        (("history",), (200, 403, 403)),
        (("presence",), (403, 200, 403)),
        (("admin",), (403, 403, 200)),
        (("history", "presence", "admin"), (200, 200, 200)),
    ],
)
def test_a_key_has_only_its_rights(
    stack: RunningStack, rights: tuple[str, ...], statuses: tuple[int, int, int]
) -> None:
    key = named_key(stack, "of-" + "-".join(rights), *rights)
    assert tuple(_status(stack, key, path) for path in (HISTORY, PRESENCE, ADMIN)) == statuses


def test_the_missing_right_is_named(stack: RunningStack) -> None:
    with asking(stack, named_key(stack, "curious", "presence")) as caller:
        answer = caller.get(HISTORY)
    assert answer.status_code == 403
    assert answer.json() == {"error": 'curious does not have the right "history"', "location": []}


def test_a_trusted_address_cannot_make_keys(stack: RunningStack) -> None:
    assert get(stack, PRESENCE).status_code == 200
    for answer in (get(stack, ADMIN), web.post(stack.http_url + ADMIN, json={"name": "x", "rights": ["admin"]})):
        assert answer.status_code == 401


def test_the_command_adds_lists_and_revokes_without_a_restart(stack: RunningStack) -> None:
    pid = stack.pid("node-red")
    added = make_key(stack, "add", "by-command", "--right", "history", "--expires", "90d")
    assert added.returncode == 0, added.stderr
    key = added.stdout.strip()
    eventually(lambda: _status(stack, key) == 200, WITHIN_S, "the key works")
    listed = make_key(stack, "list").stdout
    assert "by-command" in listed
    assert key not in listed
    assert make_key(stack, "revoke", "by-command").returncode == 0
    eventually(lambda: _status(stack, key) in REFUSED, WITHIN_S, "the key is refused")
    assert stack.pid("node-red") == pid
    assert "--right history" in make_key(stack, "--help").stdout


def test_the_private_file_has_only_fingerprints(stack: RunningStack) -> None:
    key = named_key(stack, "secret", "history")
    text = _file(stack).read_text()
    assert key not in text
    assert key.split("_", 2)[2] not in text
    assert stat.S_IMODE(_file(stack).stat().st_mode) == 0o600


def test_keys_survive_a_kill(stack: RunningStack) -> None:
    key = named_key(stack, "lasting", "history")
    stack.kill("node-red")
    stack.start("node-red")
    assert _status(stack, key) == 200


def test_an_expired_key_is_named_as_expired(stack: RunningStack) -> None:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
    key = named_key(stack, "short", "history", expires=moment)
    with asking(stack, key) as caller:
        eventually(lambda: caller.get(HISTORY).status_code in REFUSED, WITHIN_S, "the key expires")
        assert 'the key "short" expired at' in caller.get(HISTORY).json()["error"]


def test_a_damaged_file_is_refused_and_the_keys_stay(stack: RunningStack) -> None:
    key = named_key(stack, "steady", "history")
    good = _file(stack).read_text()
    _file(stack).write_text(good[:-20])
    try:
        part = eventually(
            lambda: (one := get(stack, "/health").json()["parts"]["keys"])["status"] == "degraded" and one,
            WITHIN_S,
            "health says so",
        )
        assert "is no JSON" in part["reason"]
        assert "keys.json" in part["remedy"]
        assert _status(stack, key) == 200
        with admin(stack, retry_503=False) as caller:
            refused = caller.post(ADMIN, json={"name": "y", "rights": ["history"]})
        assert refused.status_code == 503
        assert "is no JSON" in make_key(stack, "add", "y", "--right", "history").stderr
    finally:
        _file(stack).write_text(good)
    eventually(lambda: get(stack, "/health").json()["parts"]["keys"]["status"] == "up", WITHIN_S, "restored")


@pytest.mark.parametrize(
    ("wish", "status", "said"),
    [
        ({"rights": ["history"]}, 400, "name is missing"),
        ({"name": "a b", "rights": ["history"]}, 400, "name must be 1 to 64 letters"),
        ({"name": ["z"], "rights": ["history"]}, 400, "name must be given once"),
        ({"name": "z", "rights": 5}, 400, "rights must be one or more of history, presence, admin"),
        ({"name": "z", "rights": ["all"]}, 400, "rights must be one or more of history, presence, admin"),
        ({"name": "z", "rights": ["history"], "expires": "soon"}, 400, "is no time"),
        ({"name": "z", "rights": ["history"], "rate_per_s": -1}, 400, "rate_per_s must be"),
        ({"name": "taken", "rights": ["history"]}, 409, 'there is a key "taken" already'),
    ],
)
def test_invalid_requests_for_keys_are_refused(
    stack: RunningStack, wish: dict[str, object], status: int, said: str
) -> None:
    named_key(stack, "taken", "history")
    with admin(stack) as caller:
        answer = caller.post(ADMIN, json=wish)
    assert answer.status_code == status
    assert said in answer.json()["error"]
