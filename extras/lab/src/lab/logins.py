"""Under which accounts receivers log in, and what is missing for that."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.target import Target
from simulator import settings

USERNAME = "simulator"
"""The account of all receivers that have none of their own."""
SHOWN = 5


def accounts_of(target: Target) -> dict[str, str]:
    """Password by receiver id, from the target's file; empty without one. Raises SettingsError."""
    return settings.accounts(Path(target.accounts)) if target.accounts else {}


def fault(receivers: Sequence[str], target: Target, accounts: Mapping[str, str]) -> str:
    """Why these receivers cannot log in, and what to do; empty: they can. Pure.

    Over TLS the broker takes the account's name as client id, and a client id has one connection: of several receivers
    under the account `simulator` each would cut off the one before.
    """
    if not receivers:
        return ""
    if target.accounts:
        missing = [one for one in receivers if one not in accounts]
        if not missing:
            return ""
        what = f"{target.accounts} has no password for {len(missing)} of {len(receivers)} receivers ({missing[0]} …)"
        return f"{what}. On the platform's machine: {command(missing)} >> accounts.tsv"
    if target.mqtt_tls:
        what = f"over TLS each of the {len(receivers)} receivers needs an account of its own, not {USERNAME!r}"
        made = command([f"lab-{number}" for number in range(len(receivers))])
        return f'{what}. On the platform\'s machine: {made} > accounts.tsv; then accounts = "accounts.tsv" in --target'
    if not target.mqtt_password:
        return f"the password of {USERNAME!r} is missing: give MQTT_SIMULATOR_PASSWORD in the environment"
    return ""


def command(receivers: Sequence[str]) -> str:
    """What makes the accounts."""
    prefix, _, first = receivers[0].rpartition("-")
    run = [f"{prefix}-{int(first) + number}" for number in range(len(receivers))] if first.isdecimal() else []
    if list(receivers) == run and len(run) > SHOWN:
        numbers = f"$(seq -s ' ' -f {prefix}-%.0f {first} {int(first) + len(run) - 1})"
        return f'make account ARGS="add phone {numbers}"'
    more = " …" if len(receivers) > SHOWN else ""
    return f"make account ARGS='add phone {' '.join(receivers[:SHOWN])}{more}'"
