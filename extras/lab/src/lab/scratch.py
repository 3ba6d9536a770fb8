"""A stack of the run's own: a process of `lab.own_stack`, which ends, and deletes everything, when its input does."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.synthetic_building import SyntheticBuilding
from lab.target import Target, TargetError

END_WITHIN_S = 90
Order = Callable[[str], None]
"""Stops, starts and delays parts of the stack: `stop influxd`, `delay node-red-influxd 150`."""


@contextmanager
def scratch_target(
    log: Callable[[str], None], *, with_delays: bool, drawn: SyntheticBuilding | None
) -> Iterator[tuple[Target, Order]]:
    """Run a stack during the block; with delays its parts reach each other through proxies. Raises TargetError.

    Args:
        drawn: its building; None: the demo's.
    """
    folder = Path(tempfile.mkdtemp(prefix="sda-lab-"))
    settings = []
    if drawn:
        building = folder / "building.json"
        building.write_text(json.dumps(drawn.building()))
        settings = [f"SDA_BUILDING={building}"]
    log(f"starting a stack of its own{f': {drawn.name}' if drawn else ''} …")
    links = ["--links"] if with_delays else []
    process = subprocess.Popen(
        [sys.executable, "-m", "lab.own_stack", *links, str(folder / "stack"), *settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin  # noqa: S101 - of PIPE
    assert process.stdout  # noqa: S101
    try:
        described = next((line for line in process.stdout if line.startswith("{")), "")
        if not described:
            raise TargetError("the stack did not start; the lines above say why (or give one with --target)")
        target = Target(**json.loads(described))

        def order(line: str) -> None:
            assert process.stdin  # noqa: S101 - of PIPE
            process.stdin.write(line + "\n")
            process.stdin.flush()

        yield target, order
    finally:
        process.stdin.close()
        process.wait(END_WITHIN_S)
        shutil.rmtree(folder)
