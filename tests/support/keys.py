"""Keys of a running stack, as `make key` and admins make them."""

import os
import subprocess
import sys

import httpx
from stack.layout import ROOT

from . import web
from .running import RunningStack


def make_key(stack: RunningStack, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`make key ARGS='…'` for this stack: exit code, what it prints, what it tells beside."""
    environment = {**os.environ, **stack.secrets, "STACK_ENV_FILE": str(stack.settings.env_file)}
    command = [sys.executable, "-m", "stack", "key", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)


def admin(stack: RunningStack, *, patient: bool = True) -> httpx.Client:
    """A caller with the key of `.env`, which has every right."""
    headers = {"X-API-Key": stack.secrets["SDA_API_KEY"]}
    return web.Client(base_url=stack.http_url, headers=headers, timeout=20, patient=patient)


def named_key(stack: RunningStack, name: str, *rights: str, **more: object) -> str:
    """A fresh key of that name and those rights; one of the same name from before is revoked."""
    with admin(stack) as caller:
        for known in caller.get("/api/v1/keys").json()["keys"]:
            if known["name"] == name:
                caller.delete(f"/api/v1/keys/{known['id']}").raise_for_status()
        made = caller.post("/api/v1/keys", json={"name": name, "rights": rights, **more})
        made.raise_for_status()
        key: str = made.json()["key"]
        return key


def asking(stack: RunningStack, key: str, *, patient: bool = True) -> httpx.Client:
    """A caller with that key."""
    headers = {"Authorization": f"Bearer {key}"}
    return web.Client(base_url=stack.http_url, headers=headers, timeout=20, patient=patient)
