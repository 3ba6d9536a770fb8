"""Ten open dashboards without the browsers' load: logged-in sockets that watch a level like pages do."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stack.layout import ROOT, node_folder
from support.running import RunningStack


@contextmanager
def open_pages(stack: RunningStack, count: int, level: str) -> Iterator[Callable[[], dict[str, int]]]:
    """Open the sockets; yields the received snapshots and the bytes of the last one."""
    environment = {**os.environ, "URL": stack.http_url, "LEVEL": level, "COUNT": str(count),
                   "NAME": stack.secrets["SDA_VIEWER_USER"], "WORD": stack.secrets["SDA_VIEWER_PASSWORD"]}  # fmt: skip
    script = Path(__file__).with_name("pages.cjs")
    process = subprocess.Popen([str(node_folder() / "node"), str(script)], env=environment, cwd=ROOT / "flows",
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip

    def got() -> dict[str, int]:
        assert process.stdin
        assert process.stdout
        process.stdin.write("?\n")
        process.stdin.flush()
        counts: dict[str, int] = json.loads(process.stdout.readline())
        return counts

    try:
        got()
        yield got
    finally:
        process.terminate()
        process.wait()
