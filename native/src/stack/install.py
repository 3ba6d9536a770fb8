"""Installs every program that runs natively: from apt, Go and npm, into a cache outside the work tree."""

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .digest import digest
from .errors import StackError
from .layout import (
    ROOT,
    VERSIONS,
    cache_dir,
    compose_program,
    influxd_program,
    node_folder,
)

BUILD_SPACE_BYTES = 4 * 2**30
"""Measured size of Go's and cargo's caches and the build trees of InfluxDB and Telegraf, rounded up."""
PROGRESS_EVERY_S = 15.0
REMEDIES = {
    "go": "install Go 1.24 or newer (Debian backports, or go.dev/dl)",
    "cargo": "install Rust with cargo (rustup.rs); InfluxDB's query engine needs it to build",
    "npm": "install Node.js with npm in any version (Debian: apt-get install nodejs npm); it fetches the right one",
    "cc": "install a C compiler (Debian: apt-get install build-essential)",
    "apt-get": f"install Mosquitto {VERSIONS['MOSQUITTO_SERIES']} with this system's own packages",
    "openssl": "install openssl (Debian: apt-get install openssl); it makes the broker's certificate",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A program to install. `ready` is cheap and has no side effects."""

    title: str
    needs: tuple[str, ...]
    ready: Callable[[], bool]
    install: Callable[["Shell"], None]


class Shell:
    """Runs an installer's commands with output in a log file and progress on the screen."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def __call__(self, *command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
        started = time.monotonic()
        with self._log.open("ab") as log:
            log.write(f"$ {' '.join(map(str, command))}\n".encode())
            log.flush()
            process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=subprocess.STDOUT)  # fmt: skip
            while True:
                try:
                    code = process.wait(PROGRESS_EVERY_S)
                    break
                except subprocess.TimeoutExpired:
                    print_line(f"      … {Path(command[0]).name} {command[1]}, {time.monotonic() - started:.0f} s")
        if code:
            tail = "\n".join(self._log.read_text(errors="replace").splitlines()[-15:])
            raise StackError(f"{' '.join(map(str, command))} failed:\n{tail}\nThe whole log: {self._log}")


def print_line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def run_parts() -> list[Part]:
    """Parts for `make up`."""
    return [mosquitto_part(), *wanted_parts()]


def flows_parts() -> list[Part]:
    """Parts for running the flows' code."""
    return [_node(), _flows()]


def test_parts() -> list[Part]:
    """Additional parts for `make check` and `make test`."""
    return [
        apt_part("Chromium", "chromium-headless-shell", "chromium-headless-shell"),
        apt_part("D-Bus", "dbus-daemon", "dbus"),
        apt_part("shellcheck", "shellcheck", "shellcheck"),
        apt_part("nginx, a proxy to test with", "nginx", "nginx-light", is_service=True),
        apt_part("Caddy, another", "caddy", "caddy", is_service=True),
        apt_part("systemd-analyze", "systemd-analyze", "systemd"),
        _compose(),
    ]


def wanted_parts() -> list[Part]:
    """Parts for an installation, but for its broker."""
    return [_telegraf(), _influxd(), *flows_parts(), _dashboard()]


def install(parts: Iterable[Part]) -> None:
    """Install missing parts one after the other and print each; silent if nothing is missing.

    Raises:
        StackError: for a missing tool, missing rights, a full disk or a failed command, with the remedy.
    """
    if not (missing := [part for part in parts if not part.ready()]):
        return
    _require({need for part in missing for need in part.needs})
    with _install_lock():
        for number, part in enumerate(missing, 1):
            if part.ready():  # another run installed it meanwhile
                continue
            print_line(f"[{number}/{len(missing)}] {part.title}")
            started = time.monotonic()
            part.install(Shell(cache_dir() / "install.log"))
            print_line(f"      done in {time.monotonic() - started:.0f} s")


def _require(tools: set[str]) -> None:
    if missing := [tool for tool in sorted(tools) if shutil.which(tool) is None]:
        remedies = "; ".join(f"{tool} is missing: {REMEDIES[tool]}" for tool in missing)
        raise StackError(f"{remedies}; then run this again")
    cache_dir().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache_dir()).free
    if "cargo" in tools and free < BUILD_SPACE_BYTES:
        raise StackError(
            f"{cache_dir()} has {free / 2**30:.1f} GiB free and building needs {BUILD_SPACE_BYTES / 2**30:.0f} GiB; "
            "free some space, or set SDA_CACHE to a folder on a larger disk"
        )


@contextmanager
def _install_lock() -> Iterator[None]:
    cache_dir().mkdir(parents=True, exist_ok=True)
    with (cache_dir() / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _atomic_folder(target: Path) -> Iterator[Path]:
    """A temporary folder that is renamed to `target` when the block succeeds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}-") as folder:
        staged = Path(folder) / "new"
        staged.mkdir()
        yield staged
        shutil.rmtree(target, ignore_errors=True)
        staged.rename(target)


def apt_part(title: str, program: str, *packages: str, is_service: bool = False) -> Part:
    """A program of the system's packages. `is_service`: its package starts a service."""

    def install_it(shell: Shell) -> None:
        sudo = _apt_install(shell, title, *packages)
        if is_service and Path("/run/systemd/system").exists():
            # Debian starts its own service on the usual port; this installation runs its own.
            shell(*sudo, "systemctl", "disable", "--now", program)

    return Part(f"{title} (from apt)", (), lambda: which(program) is not None, install_it)


def _apt_install(shell: Shell, title: str, *packages: str) -> list[str]:
    """Install packages from apt; returns the command prefix with which root's commands run."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not packages:
        return sudo
    allowed = not sudo or (
        shutil.which("sudo") and not subprocess.run([*sudo, "true"], capture_output=True, check=False).returncode
    )
    if not allowed:
        raise StackError(
            f"{title} is missing and this user may not install packages; "
            f"have it installed with: apt-get install {' '.join(packages)}"
        )
    if shutil.which("apt-get") is None:
        raise StackError(f"{title} is missing and there is no apt-get; install it with this system's own packages")
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    shell(*sudo, "apt-get", "update", "-q", env=environment)
    shell(*sudo, "apt-get", "install", "-q", "-y", "--no-install-recommends", *packages, env=environment)
    return sudo


def which(program: str) -> str | None:
    """Like shutil.which, but also searches Debian's folders of daemons, which an ordinary user's PATH lacks."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


DEBIAN = "http://deb.debian.org/debian"
DEBIAN_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
MOSQUITTO_NEEDS = ("build-essential", "cmake", "debian-archive-keyring", "dpkg-dev", "libcjson-dev", "libssl-dev",
                   "mosquitto-clients")  # fmt: skip
"""Packages for the build, and the clients that the docs use on PATH."""
MOSQUITTO_WITHOUT = (
    "TESTS", "DOCS", "LIB_CPP", "CTRL_SHELL", "HTTP_API", "WEBSOCKETS", "PLUGIN_PERSIST_SQLITE", "PLUGIN_EXAMPLES",
    "PLUGIN_SPARKPLUG_AWARE",
)  # fmt: skip
"""What of Mosquitto nothing here uses."""


def mosquitto_folder() -> Path:
    """The folder with `mosquitto` and its clients, to be put first on PATH: the system's if it is of the series."""
    own = which("mosquitto")
    return Path(own).parent if own and _is_of_series(own) else _built_mosquitto() / "bin"


def mosquitto_program() -> str:
    return str(mosquitto_folder() / "mosquitto")


@functools.cache
def _is_of_series(program: str) -> bool:
    said = subprocess.run([program, "-h"], capture_output=True, text=True, check=False).stdout
    return said.startswith(f"mosquitto version {VERSIONS['MOSQUITTO_SERIES']}.")


def _built_mosquitto() -> Path:
    return cache_dir() / f"mosquitto-{VERSIONS['MOSQUITTO_SERIES']}"


def mosquitto_part() -> Part:
    """Mosquitto from the source package of a newer Debian, linked with the libraries of this system."""
    series, suite = VERSIONS["MOSQUITTO_SERIES"], VERSIONS["MOSQUITTO_SUITE"]

    def build(shell: Shell) -> None:
        _apt_install(shell, f"What builds Mosquitto {series}", *_not_installed(MOSQUITTO_NEEDS))
        target = _built_mosquitto()
        with _atomic_folder(target) as folder, tempfile.TemporaryDirectory(dir=cache_dir()) as sources:
            source = _debian_source(shell, Path(sources), "mosquitto", suite)
            if not source.name.startswith(f"mosquitto-{series}."):
                raise StackError(
                    f"Debian's {suite} has {source.name}; MOSQUITTO_SERIES is {series} (native/versions.env)"
                )
            options = [f"-DWITH_{name}=OFF" for name in MOSQUITTO_WITHOUT]
            shell("cmake", "-S", source, "-B", source / "built", "-DCMAKE_BUILD_TYPE=Release", *options,
                  f"-DCMAKE_INSTALL_PREFIX={folder}", "-DCMAKE_INSTALL_SBINDIR=bin", "-DCMAKE_INSTALL_LIBDIR=lib",
                  "-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib")  # fmt: skip
            shell("cmake", "--build", source / "built", "--parallel")
            shell("cmake", "--install", source / "built")

    title = f"Mosquitto {series}, built from Debian's source (about 1 min)"
    return Part(title, ("apt-get",), lambda: Path(mosquitto_program()).exists(), build)


def _debian_source(shell: Shell, folder: Path, package: str, suite: str) -> Path:
    """The unpacked source of `package` in Debian's `suite`, checked with the keys of Debian's archive.

    It uses lists of its own, so that this system's package sources stay as they are."""
    for part in ("state/lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    (folder / "sources.list").write_text(f"deb-src [signed-by={DEBIAN_KEYS}] {_debian_mirror()} {suite} main\n")
    own = {
        "Dir::State": folder / "state", "Dir::Cache": folder / "cache", "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
        "Dir::State::status": "/var/lib/dpkg/status", "APT::Sandbox::User": "root", "Acquire::Retries": "3",
    }  # fmt: skip
    options = [part for name, value in own.items() for part in ("-o", f"{name}={value}")]
    shell("apt-get", "update", "-q", *options)
    shell("apt-get", "source", "-q", *options, f"{package}/{suite}", cwd=folder)
    return next(path for path in folder.glob(f"{package}-*") if path.is_dir())


def _debian_mirror() -> str:
    """The mirror that this Debian uses; Debian's own on another system."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    return next((uri for uri in listed if uri.rstrip("/").endswith("/debian")), DEBIAN)


def _not_installed(packages: Sequence[str]) -> list[str]:
    if shutil.which("dpkg-query") is None:
        return list(packages)
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Package}\n", *packages]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [package for package in packages if f"installed {package}" not in listed]


def telegraf_plugins() -> list[str]:
    """The plugins of the Telegraf build: one per line in `ingest/plugins.txt`."""
    lines = (ROOT / "ingest" / "plugins.txt").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def telegraf_program() -> Path:
    tags = "_".join(sorted(telegraf_plugins()))
    digest = hashlib.sha256(tags.encode()).hexdigest()[:8]
    return cache_dir() / f"telegraf-{VERSIONS['TELEGRAF_VERSION']}-{digest}" / "telegraf"


def go_install(shell: Shell, program: Path, package: str, *options: str, ldflags: str = "-s -w") -> None:
    """Build a published Go program into its folder."""
    with _atomic_folder(program.parent) as folder:
        shell("go", "install", *options, "-ldflags", ldflags, package, env={"GOBIN": str(folder)})


def _telegraf() -> Part:
    version = VERSIONS["TELEGRAF_VERSION"]

    def build(shell: Shell) -> None:
        go_install(shell, telegraf_program(), f"github.com/influxdata/telegraf/cmd/telegraf@v{version}",
                    "-tags", ",".join(["custom", *telegraf_plugins()]),
                    ldflags=f"-s -w -X github.com/influxdata/telegraf/internal.Version={version}")  # fmt: skip

    title = f"Telegraf {version}, built with our plugins (about 2 min)"
    return Part(title, ("go", "cc"), lambda: telegraf_program().exists(), build)


def _influxd() -> Part:
    version = VERSIONS["INFLUXDB_VERSION"]

    def build(shell: Shell) -> None:
        module = ROOT / "native" / "build" / "influxd"
        with _atomic_folder(influxd_program().parent) as folder:
            wrapper = "github.com/influxdata/pkg-config"
            shell("go", "build", "-mod=readonly", "-o", folder / "pkg-config", wrapper, cwd=module)
            environment = {
                "PKG_CONFIG": str(folder / "pkg-config"),
                "RUSTUP_TOOLCHAIN": os.environ.get("RUSTUP_TOOLCHAIN", "stable"),  # its Rust part pins an old toolchain
                "RUSTC_WRAPPER": str(module / "rustc-cap-lints"),
            }
            shell("go", "build", "-mod=readonly", "-tags", "sqlite_foreign_keys,sqlite_json",
                  "-ldflags", f"-s -w -X main.version=v{version}", "-o", folder / "influxd",
                  "github.com/influxdata/influxdb/v2/cmd/influxd", cwd=module, env=environment)  # fmt: skip

    title = f"InfluxDB {version}, built from source (about 5 min)"
    return Part(title, ("go", "cargo", "cc"), lambda: influxd_program().exists(), build)


def _compose() -> Part:
    version = VERSIONS["COMPOSE_VERSION"]

    def build(shell: Shell) -> None:
        with _atomic_folder(compose_program().parent) as folder:
            shell("go", "build", "-mod=readonly",
                  "-ldflags", f"-s -w -X github.com/docker/compose/v2/internal.Version=v{version}",
                  "-o", folder / "docker-compose", "github.com/docker/compose/v2/cmd",
                  cwd=ROOT / "native" / "build" / "compose")  # fmt: skip

    return Part(f"Docker Compose {version}, which checks compose.yaml (about 2 min)", ("go",),
                lambda: compose_program().exists(), build)  # fmt: skip


def _node() -> Part:
    version = VERSIONS["NODE_VERSION"]

    def fetch(shell: Shell) -> None:
        with _atomic_folder(node_folder().parents[2]) as folder:
            shell("npm", "install", "--no-fund", "--no-audit", "--prefix", folder, f"node@{version}")

    return Part(f"Node.js {version} (from npm)", ("npm", "openssl"), lambda: (node_folder() / "node").exists(), fetch)


def _flows() -> Part:
    """Node-RED and the flows' libraries. The stamp is the lock file of the installation."""
    lock, stamp = ROOT / "flows" / "package-lock.json", ROOT / "flows" / "node_modules" / ".installed-lock.json"

    def fetch(shell: Shell) -> None:
        path = f"{node_folder()}:{os.environ['PATH']}"
        shell("npm", "ci", "--no-fund", "--no-audit", cwd=lock.parent, env={"PATH": path})
        shutil.copyfile(lock, stamp)

    return Part(f"Node-RED {VERSIONS['NODE_RED_VERSION']} and its libraries (about 1 min)", ("npm",),
                lambda: stamp.exists() and stamp.read_bytes() == lock.read_bytes(), fetch)  # fmt: skip


def _dashboard() -> Part:
    """The dashboard's pages. The stamp is the digest of their sources."""
    flows = ROOT / "flows"
    stamp = flows / "dashboard" / "dist" / ".built-from"

    def sources() -> str:
        names = ["building/ids.js", "building/geometry.js", "building/import/decode.js", "building/import/layout.js"]
        shared = [flows / "lib" / name for name in [*names, "devices/battery.js", "shared/probable.js"]]
        return digest([flows / "package-lock.json", flows / "dashboard" / "vite.config.js", *shared,
                       *(path for path in (flows / "dashboard" / "src").rglob("*") if path.is_file())])  # fmt: skip

    def build(shell: Shell) -> None:
        before = sources()
        shell("npm", "run", "build", cwd=flows, env={"PATH": f"{node_folder()}:{os.environ['PATH']}"})
        stamp.write_text(before)

    return Part("The dashboard's pages (seconds)", ("npm",),
                lambda: stamp.exists() and stamp.read_text() == sources(), build)  # fmt: skip
