"""The programs of a campus: NATS, HAProxy, the libraries of the entry. Each is installed like those of the core."""

import os
import shutil
from pathlib import Path

from stack.install import Part, Shell, apt_part, go_install, which
from stack.layout import cache_dir, node_folder, read_versions

HERE = Path(__file__).resolve().parents[2]
VERSIONS = read_versions(HERE / "versions.env")
ENTRY = HERE / "entry"


def nats_program() -> Path:
    return cache_dir() / f"nats-server-{VERSIONS['NATS_VERSION']}" / "nats-server"


def haproxy_program() -> str:
    return which("haproxy") or "haproxy"


def nft_program() -> str:
    return which("nft") or "nft"


def nats_part() -> Part:
    version = VERSIONS["NATS_VERSION"]

    def build(shell: Shell) -> None:
        go_install(shell, nats_program(), f"github.com/nats-io/nats-server/v2@v{version}")

    return Part(f"NATS {version} (about 30 s)", ("go",), lambda: nats_program().exists(), build)


def haproxy_part() -> Part:
    return apt_part("HAProxy, before a campus", "haproxy", "haproxy", is_service=True)


def nftables_part() -> Part:
    """For partitions between the nodes of a campus."""
    return apt_part("nftables, for partitions", "nft", "nftables")


def entry_part() -> Part:
    """The libraries of the entry. The stamp is the lock file of the installation."""
    lock, stamp = ENTRY / "package-lock.json", ENTRY / "node_modules" / ".installed-lock.json"

    def fetch(shell: Shell) -> None:
        path = f"{node_folder()}:{os.environ['PATH']}"
        shell("npm", "ci", "--no-fund", "--no-audit", cwd=lock.parent, env={"PATH": path})
        shutil.copyfile(lock, stamp)

    return Part("The libraries of the entry (seconds)", ("npm",),
                lambda: stamp.exists() and stamp.read_bytes() == lock.read_bytes(), fetch)  # fmt: skip
