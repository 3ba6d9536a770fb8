"""Errors name missing tools with a remedy; installed parts are not touched; a failed build leaves no files."""

from pathlib import Path

import pytest
from stack import install
from stack.errors import StackError
from stack.install import Part, Shell


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SDA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _part(install_it: object = None, *, ready: bool = False, needs: tuple[str, ...] = ()) -> Part:
    return Part("A part", needs, lambda: ready, install_it)  # type: ignore[arg-type]


def test_installed_parts_are_skipped_silently(capsys: pytest.CaptureFixture[str]) -> None:
    install.install([_part(ready=True, needs=("no-such-tool",))])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("tool", ["go", "cargo", "npm", "cc", "openssl"])
def test_missing_tool_is_named_with_its_remedy(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StackError, match=rf"^{tool} is missing: install .*then run this again"):
        install.install([_part(needs=(tool,))])


def test_full_disk_is_reported_before_a_build_starts(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(install, "BUILD_SPACE_BYTES", 2**60)
    with pytest.raises(StackError, match=rf"{cache} has .* GiB free and building needs .*SDA_CACHE"):
        install.install([_part(needs=("cargo",))])


def test_missing_rights_for_apt_give_the_command_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", str(_fake_sudo_that_refuses()))
    part = next(part for part in install.run_parts() if part.title.startswith("Mosquitto"))
    with pytest.raises(StackError, match=r"apt-get install build-essential cmake .*libssl-dev"):
        part.install(Shell(Path("/dev/null")))


@pytest.mark.parametrize(("version", "taken"), [("2.1.9", True), ("2.0.11", False), ("2.10.0", False)])
def test_the_systems_mosquitto_is_used_if_it_is_of_the_series(
    version: str, taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    program = tmp_path / "mosquitto"
    program.write_text(f"#!/bin/sh\necho mosquitto version {version}\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(install, "which", lambda _: str(program))
    assert install.mosquitto_folder() == (tmp_path if taken else cache / "mosquitto-2.1" / "bin")


def test_a_source_of_another_series_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    cache.mkdir()
    monkeypatch.setattr(install, "_apt_install", lambda *_: [])
    monkeypatch.setattr(install, "_debian_source", lambda *_: tmp_path / "mosquitto-2.2.0")
    part = next(part for part in install.run_parts() if part.title.startswith("Mosquitto"))
    with pytest.raises(StackError, match=r"forky has mosquitto-2.2.0; MOSQUITTO_SERIES is 2.1"):
        part.install(Shell(tmp_path / "log"))
    assert list(cache.iterdir()) == []


def test_failed_command_shows_its_output_and_its_log(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "log")
    with pytest.raises(StackError, match=r"(?s)failed:.*it broke here.*The whole log: "):
        shell("sh", "-c", "echo it broke here; exit 3")


def test_interrupted_build_leaves_no_half_installed_program(cache: Path) -> None:
    target = cache / "program-1.0"

    def build_half() -> None:
        with install._atomic_folder(target) as folder:
            (folder / "program").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_half()
    assert list(cache.iterdir()) == []


def _fake_sudo_that_refuses() -> Path:
    return Path(__file__).parent / "bin"
