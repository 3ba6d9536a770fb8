"""Properties of the pure parts of the broker's and InfluxDB's tools."""

import importlib.util
import string
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stack.layout import ROOT


def tool(path: str) -> ModuleType:
    """A module of a folder whose scripts are run, not installed."""
    file = ROOT / path
    spec = importlib.util.spec_from_file_location(f"tool_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


passwords, rights, env_file = (tool(path) for path in ("broker/passwords.py", "broker/rights.py", "influx/env_file.py"))

IDS = st.text(string.ascii_letters + string.digits + "_.-/+# $", min_size=1, max_size=70)
NAMES = st.text(string.ascii_uppercase + "_", min_size=1, max_size=8)
VALUES = st.text(string.ascii_letters + string.digits + "-_=/:", max_size=20)
VARIABLES = st.dictionaries(NAMES, VALUES)
OTHER_LINES = st.lists(st.sampled_from(["", "# KEY=x", "odd"]))


@given(st.text(), st.text())
def test_a_hash_fits_its_own_password_only(password: str, other: str) -> None:
    hashed = passwords.hash_password(password)
    assert passwords.matches(password, hashed)
    assert passwords.matches(other, hashed) == (other == password)


@given(st.text(), st.one_of(st.text(), st.from_regex(r"\$7\$\w*\$[\w=+/]*\$[\w=+/]*", fullmatch=True)))
def test_what_is_no_hash_fits_nothing(password: str, junk: str) -> None:
    assert not passwords.matches(password, junk)


@given(IDS)
def test_an_id_that_is_taken_cannot_reach_beyond_its_own_topic(account: str) -> None:
    try:
        rights.check_id(account)
    except ValueError:
        return
    assert not set(account) & set("/+# $")
    for kind in rights.RIGHTS:
        *_, block = rights.render_acl("", {account: kind}).split("\n\n")
        user, *topics = block.splitlines()
        assert user == f"user {account}"
        if kind != "reader":
            others = [topic for topic in topics if not topic.split()[2].startswith(f"sda/v1/{kind}/{account}/")]
            assert others == (["topic read $SYS/broker/uptime"] if kind == "gateway" else [])


@pytest.mark.parametrize("account", ["telegraf", "nodered", "simulator", "", "-x", ".x", "x\n", "x" * 65, "é"])
def test_ids_that_are_not_taken(account: str) -> None:
    with pytest.raises(ValueError, match=r"not a usable id|own services"):
        rights.check_id(account)


@given(VARIABLES, VARIABLES, OTHER_LINES)
def test_env_file_keeps_what_it_is_not_asked_to_change(
    before: dict[str, str], changes: dict[str, str], others: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / ".env"
        lines = [*others, *(f"{key}={value}" for key, value in before.items())]
        file.write_text("".join(f"{line}\n" for line in lines))
        env_file.update(file, changes)
        assert env_file.read(file) == before | changes
        once = file.read_text()
        assert once.splitlines()[: len(others)] == others
        env_file.update(file, changes)
        assert file.read_text() == once
