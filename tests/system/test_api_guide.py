"""Runs the examples of docs/api.md against the real stack."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from stack.layout import ROOT
from support.building import Building
from support.keys import named_key
from support.running import RunningStack
from support.stack_client import batch, eventually, history, publish

GUIDE = ROOT / "docs" / "api.md"
FOR_READERS = ("make key", "export SDA_URL")
"""Replaced by the test: making a key and finding it."""


def _blocks(language: str) -> list[str]:
    """The page's examples in one language, in order."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return [block for block in found if not block.startswith(FOR_READERS)]


def _run(stack: RunningStack, folder: Path, *command: str) -> str:
    key = named_key(stack, f"guide-{folder.name}", "history", "presence")
    environment = {**os.environ, "SDA_URL": stack.http_url, "SDA_KEY": key}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _here(stack: RunningStack, demo: Building) -> None:
    """A person who has been present for some seconds."""

    def seen() -> bool:
        publish(stack, ("phone/0/readings", batch((demo.beacons[0].id, -45))))
        return bool(history(stack, "0", time.time() - 20, time.time() - 12))

    eventually(seen, 60)


def test_the_curl_examples_work(stack: RunningStack, demo: Building, tmp_path: Path) -> None:
    _here(stack, demo)
    said = _run(stack, tmp_path, "bash", "-euc", "\n".join(_blocks("sh")))
    assert "New Beacon Detection Added" in said
    assert json.loads((tmp_path / "building.json").read_text()) == demo.raw


def test_the_python_examples_work(stack: RunningStack, demo: Building, tmp_path: Path) -> None:
    _here(stack, demo)
    began_s = int(time.time())
    said = _run(stack, tmp_path, sys.executable, "-c", "\n".join(_blocks("python")))
    assert "400 start is no time" in said
    found = re.findall(r"^0 .+ (\d+)$", said, re.MULTILINE)
    assert found, said
    assert all(began_s - 40 <= int(at_s) <= time.time() for at_s in found), said
