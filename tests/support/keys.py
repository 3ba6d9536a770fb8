"""Makes API keys of a running stack."""

import os
import subprocess
import sys

import httpx
from stack.layout import ROOT

from . import web
from .running import RunningStack


def make_key(stack: RunningStack, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `make key ARGS='…'` for this stack; returns exit code, standard output and standard error."""
    environment = {**os.environ, **stack.secrets, "STACK_ENV_FILE": str(stack.settings.env_file)}
    command = [sys.executable, "-m", "stack", "key", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)


def admin(stack: RunningStack, *, retry_503: bool = True) -> httpx.Client:
    """A client with the all-rights key of `.env`."""
    headers = {"X-API-Key": stack.secrets["SDA_API_KEY"]}
    return web.Client(base_url=stack.http_url, headers=headers, timeout=20, retry_503=retry_503)


def named_key(stack: RunningStack, name: str, *rights: str, **more: object) -> str:
    """Make a key with that name and rights; an older key of that name is revoked."""
    with admin(stack) as caller:
        for known in caller.get("/api/v1/keys").json()["keys"]:
            if known["name"] == name:
                caller.delete(f"/api/v1/keys/{known['id']}").raise_for_status()
        made = caller.post("/api/v1/keys", json={"name": name, "rights": rights, **more})
        made.raise_for_status()
        key: str = made.json()["key"]
        return key


def asking(stack: RunningStack, key: str, *, retry_503: bool = True) -> httpx.Client:
    """A client with that key."""
    headers = {"Authorization": f"Bearer {key}"}
    return web.Client(base_url=stack.http_url, headers=headers, timeout=20, retry_503=retry_503)
