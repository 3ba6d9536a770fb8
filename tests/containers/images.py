"""Substitutes for the pinned images without a registry: the vendors' users, folders and tools with the native
programs."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from stack.install import Shell, telegraf_program
from stack.layout import ROOT, VERSIONS, influxd_program, node_folder

from . import packages
from .cache import CACHE, built_once
from .daemon import Engine

RELEASE = "unstable"
"""A Debian release with Mosquitto in the series of the pinned image."""
PACKAGES = ("busybox", "ca-certificates", "curl", "mosquitto", "mosquitto-clients", "openssl", "python3",
            "python3-pip", "procps")  # fmt: skip
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
"""Debian's file of trusted authorities; in the substitutes with those of SSL_CERT_FILE, if set."""
NPM = "11.6.2"
BASE = "substitute/base:1"

INFLUXDB = """
RUN useradd --uid 1000 --create-home influxdb && mkdir -p /var/lib/influxdb2 /etc/influxdb2 \\
  && chown influxdb: /var/lib/influxdb2 /etc/influxdb2
VOLUME ["/var/lib/influxdb2", "/etc/influxdb2"]
ENTRYPOINT ["influxd"]
"""
TELEGRAF = """
RUN useradd --uid 999 --create-home telegraf
ENTRYPOINT ["telegraf"]
"""
MOSQUITTO = """
RUN userdel mosquitto && groupadd --gid 1883 mosquitto && useradd --uid 1883 --gid 1883 --no-create-home mosquitto \\
  && mkdir -p /mosquitto/config /mosquitto/data /mosquitto/log && chown -R mosquitto: /mosquitto
VOLUME ["/mosquitto/data", "/mosquitto/log"]
CMD ["mosquitto", "-c", "/mosquitto/config/mosquitto.conf"]
"""
PYTHON = """
RUN ln -s python3 /usr/bin/python && rm -f /usr/lib/python3*/EXTERNALLY-MANAGED
CMD ["python"]
"""
NODE = """
RUN useradd --uid 1000 --create-home node && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
CMD ["node"]
"""
Recipe = tuple[dict[Path, str], str]
"""Program here -> its place in the image; lines of its Dockerfile."""
RECIPE = "sda-recipe"
"""Label of an image with the digest of what it was made of: the same version may be built anew with other plugins."""


def provide(engine: Engine, recipes: Mapping[str, Recipe] | None = None) -> None:
    """Make missing pinned images for a private engine; other engines use their registry.

    Args:
        engine: the engine.
        recipes: of images by name; None: of those that the core pins.
    """
    if not engine.private:
        return
    known = engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split()
    for name, (programs, lines) in (_recipes() if recipes is None else recipes).items():
        label = f"{RECIPE}={_digest(programs, lines)}"
        made = engine.docker("images", "--filter", f"label={label}", "--format", "{{.Repository}}:{{.Tag}}").split()
        if name not in made:
            if BASE not in known:
                engine.docker("import", _root(), BASE)
                known.append(BASE)
            _build(engine, name, programs, lines, label)


def _recipes() -> dict[str, Recipe]:
    node = {node_folder() / "node": "usr/local/bin/node"}
    return {
        f"influxdb:{VERSIONS['INFLUXDB_VERSION']}": ({influxd_program(): "usr/local/bin/influxd"}, INFLUXDB),
        f"telegraf:{VERSIONS['TELEGRAF_VERSION']}": ({telegraf_program(): "usr/bin/telegraf"}, TELEGRAF),
        f"eclipse-mosquitto:{VERSIONS['MOSQUITTO_IMAGE_VERSION']}": ({}, MOSQUITTO),
        f"python:{VERSIONS['PYTHON_IMAGE_VERSION']}": ({}, PYTHON),
        f"node:{VERSIONS['NODE_VERSION']}-bookworm-slim": ({**node, _npm(): "usr/local/lib/node_modules/npm"}, NODE),
    }


def _digest(programs: dict[Path, str], lines: str) -> str:
    """Of what an image is made of: programs here have their version, or what they were built with, in their path."""
    return hashlib.sha256("\0".join([*map(str, programs), lines]).encode()).hexdigest()[:12]


def _build(engine: Engine, name: str, programs: dict[Path, str], lines: str, label: str) -> None:
    context = CACHE / "context"
    shutil.rmtree(context, ignore_errors=True)
    (context / "files").mkdir(parents=True)
    for source, place in programs.items():
        target = context / "files" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy(source.resolve(), target)
    (context / "Dockerfile").write_text(f"FROM {BASE}\nCOPY files /\n{_trust()}\n{lines}")
    engine.docker("build", "--quiet", "--provenance=false", "--label", label, "--tag", name, context)
    shutil.rmtree(context)


def _trust() -> str:
    """Makes the programs inside trust this machine's authorities, if they differ from Debian's."""
    if not os.environ.get("SSL_CERT_FILE"):
        return ""
    variables = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE")
    return f"ENV {' '.join(f'{variable}={CERTIFICATES}' for variable in variables)}"


def _root() -> Path:
    """A small Debian as a tar archive."""
    uri, _ = packages.mirror()
    certificates = Path(os.environ["SSL_CERT_FILE"]) if os.environ.get("SSL_CERT_FILE") else None
    trusted = certificates.read_text() if certificates else ""
    return (
        built_once("root", [RELEASE, *PACKAGES, trusted], lambda folder: _bootstrap(folder, uri, trusted)) / "root.tar"
    )


def _bootstrap(folder: Path, uri: str, trusted: str) -> None:
    programs = packages.fetch()
    root = folder / "root"
    environment = packages.environment(programs) | {"DEBOOTSTRAP_DIR": str(programs / "usr" / "share" / "debootstrap")}
    shell = Shell(CACHE / "root.log")
    shell("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", RELEASE, root, uri, env=environment)
    shutil.rmtree(root / "var" / "cache" / "apt")
    shutil.rmtree(root / "var" / "lib" / "apt" / "lists")
    if trusted:
        (root / CERTIFICATES.lstrip("/")).write_text(trusted)
    with (folder / "root.tar").open("wb") as archive:
        subprocess.run(["tar", "-c", "--exclude=./dev/*", "-C", root, "."], stdout=archive, check=True)
    shutil.rmtree(root)


def _npm() -> Path:
    def fetch(folder: Path) -> None:
        Shell(CACHE / "npm.log")("npm", "install", "--no-audit", "--no-fund", "--prefix", folder, f"npm@{NPM}")

    return built_once("npm", [NPM], fetch) / "node_modules" / "npm"


def tracked() -> Iterator[Path]:
    """The repository's files as in a clone, with local changes and new files."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, check=True).stdout  # fmt: skip
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            yield Path(name)
