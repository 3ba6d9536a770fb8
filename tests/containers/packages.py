"""The programs of a private container engine, from unpacked Debian packages that are not installed."""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from stack.layout import compose_program

from .cache import CACHE, built_once

UNSTABLE = ("docker.io", "docker-cli", "docker-buildx", "containerd")
"""From Debian unstable, which has a current engine."""
STABLE = ("runc", "iptables", "libip4tc2", "libip6tc2", "libxtables12", "libnetfilter-conntrack3", "libnfnetlink0",
          "libnftnl11", "libmnl0", "libseccomp2", "tini", "debootstrap", "busybox-static")  # fmt: skip
"""From this machine's release, since they need its libraries."""
APPLETS = ("iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore")


class NoEngineError(Exception):
    """No engine is possible here; the message says why."""


def fetch() -> Path:
    """The folder of the unpacked packages, downloaded if missing.

    Raises:
        NoEngineError: where this machine is no Debian, or the caller not root.
    """
    if platform.system() != "Linux" or shutil.which("apt-get") is None:
        raise NoEngineError("an engine of its own needs a Debian machine; start Docker and run this again")
    if os.geteuid() != 0:
        raise NoEngineError("an engine of its own needs root; start Docker, or run this as root")
    return built_once("programs", [*UNSTABLE, *STABLE], _unpack)


def environment(programs: Path) -> dict[str, str]:
    """PATH and library paths of the unpacked programs."""
    library = programs / "usr" / "lib" / f"{platform.machine()}-linux-gnu"
    path = [programs / part for part in ("bin", "usr/bin", "usr/sbin", "sbin", "usr/lib/docker")]
    return {
        "PATH": ":".join([*map(str, path), os.environ["PATH"], "/usr/sbin", "/sbin"]),
        "LD_LIBRARY_PATH": str(library),
        "XTABLES_LIBDIR": str(library / "xtables"),
    }


def mirror() -> tuple[str, str]:
    """Address of this machine's Debian mirror, and its release."""
    lines = _output("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(CREATED_BY)").splitlines()
    debian = [line.split() for line in lines if line.split()[0].rstrip("/").endswith("/debian")]
    if not debian:
        raise NoEngineError("apt knows no Debian mirror; start Docker and run this again")
    return debian[0][0].rstrip("/"), debian[0][1]


def _unpack(target: Path) -> None:
    uri, release = mirror()
    apt = CACHE / "apt"
    for folder in ("state/lists/partial", "cache/archives/partial", "packages"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    suites = ("unstable", release)
    (apt / "sources.list").write_text("".join(f"deb [signed-by={keyring}] {uri} {suite} main\n" for suite in suites))
    (apt / "status").touch()
    options = {
        "Dir::State": apt / "state", "Dir::State::status": apt / "status", "Dir::Cache": apt / "cache",
        "Dir::Etc::sourcelist": apt / "sources.list", "Dir::Etc::sourceparts": "-", "APT::Sandbox::User": "root",
    }  # fmt: skip
    given = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
    _output("apt-get", *given, "update", "-q")
    wanted = [*(f"{name}/unstable" for name in UNSTABLE), *(f"{name}/{release}" for name in STABLE)]
    _output("apt-get", *given, "download", "-q", *wanted, cwd=apt / "packages")
    for package in (apt / "packages").glob("*.deb"):
        _output("dpkg", "-x", package, target)
    shutil.rmtree(apt)
    (target / "bin").mkdir(exist_ok=True)
    for applet in APPLETS:
        link = target / "bin" / applet
        link.unlink(missing_ok=True)
        link.symlink_to("../usr/sbin/xtables-nft-multi")
    plugins = target / "cli-plugins"
    plugins.mkdir()
    (plugins / "docker-buildx").symlink_to("../usr/libexec/docker/cli-plugins/docker-buildx")
    (plugins / "docker-compose").symlink_to(compose_program())


def _output(*command: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, env={**os.environ, **(env or {})},
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        raise NoEngineError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout
