"""`gateway-agent doctor`: checks everything the agent needs and says what to do. Harmless beside a running agent."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

from gateway_agent import doctor_bluetooth, doctor_broker, doctor_host, state
from gateway_agent.checks import Check, Grade, fail, ok, warn
from gateway_agent.settings import Settings

STALE_AFTER_S = 120.0


async def examine(settings: Settings) -> AsyncIterator[Check]:
    """Run all checks in order and yield each result."""
    folder = Path(settings.state_dir)
    yield ok("configuration", f"gateway {settings.id}, every key is good")
    try:
        running = state.is_running(folder)
    except PermissionError:  # probing the account would disconnect an agent that we cannot see
        yield fail("agent", f"this user may not look into {folder}", "run doctor as the agent's: sudo -u sda-gateway …")
        return
    known = state.read(folder) if running else {}
    yield _agent(running, known, settings)
    yield doctor_host.disk(settings, running, known.get("outbox_error"))
    yield doctor_host.files(settings)
    async for check in doctor_bluetooth.examine(settings, known if running else None):
        yield check
    yield doctor_host.clock(settings, known)
    async for check in doctor_broker.examine(settings, known if running else None):
        yield check


def _agent(running: bool, known: dict[str, object], settings: Settings) -> Check:
    if not running:
        return warn("agent", "is not running; its account is tested below", "systemctl start sda-gateway-agent")
    age_s = time.time() - (Path(settings.state_dir) / "state.json").stat().st_mtime if known else None
    if age_s is None or age_s > max(STALE_AFTER_S, 3 * settings.health_s):
        return warn(
            "agent", "is running, but has not written its state lately", "see its log: journalctl -u sda-gateway-agent"
        )
    return ok("agent", f"is running; results are from its state of {age_s:.0f} s ago, not from a second connection")


async def run(settings: Settings) -> int:
    """Print the checks; 0 when none failed, else 1."""
    failed = 0
    async for check in examine(settings):
        print(check.lines(), flush=True)  # noqa: T201 - this is the command's output
        failed += check.grade is Grade.FAIL
    print(f"\n{failed or 'no'} fault{'' if failed == 1 else 's'} found")  # noqa: T201
    return 1 if failed else 0
