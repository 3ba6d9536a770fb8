"""`.env` is written once with new secrets, then kept; errors name a damaged line."""

import stat
from pathlib import Path

import pytest
from stack.errors import StackError
from stack.settings import load

SECRETS = ("SDA_API_KEY", "SDA_ADMIN_PASSWORD", "MQTT_TELEGRAF_PASSWORD", "MQTT_NODERED_PASSWORD",
           "MQTT_SIMULATOR_PASSWORD", "INFLUX_ADMIN_TOKEN")  # fmt: skip


def test_fresh_file_is_private_and_its_secrets_differ(tmp_path: Path) -> None:
    settings = load(tmp_path / ".env", {})
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert len({settings[key] for key in SECRETS}) == len(SECRETS)
    assert all(len(settings[key]) >= 40 for key in SECRETS)


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    load(tmp_path / ".env", {})
    before = (tmp_path / ".env").read_bytes()
    load(tmp_path / ".env", {})
    assert (tmp_path / ".env").read_bytes() == before


def test_missing_key_of_a_newer_version_is_added_and_the_rest_kept(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    load(file, {})
    kept = [line for line in file.read_text().splitlines() if not line.startswith("TELEGRAF_PORT=")]
    file.write_text("\n".join(kept))  # without a newline at its end
    assert load(file, {})["TELEGRAF_PORT"] == "8088"
    assert file.read_text().splitlines()[: len(kept)] == kept


def test_missing_key_is_added_above_the_derived_values(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    load(file, {})
    own = [line for line in file.read_text().splitlines() if not line.startswith("TELEGRAF_PORT=")]
    file.write_text("\n".join([*own, "# Worked out by make up", "SDA_UID=1000", ""]))
    load(file, {})
    assert file.read_text().splitlines() == [*own, "TELEGRAF_PORT=8088", "# Worked out by make up", "SDA_UID=1000"]


def test_group_readable_file_is_made_private_again(tmp_path: Path) -> None:
    load(tmp_path / ".env", {})
    (tmp_path / ".env").chmod(0o644)
    load(tmp_path / ".env", {})
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600


def test_environment_overrides_the_file(tmp_path: Path) -> None:
    assert load(tmp_path / ".env", {"HTTP_PORT": "18800", "UNRELATED": "x"})["HTTP_PORT"] == "18800"


def test_what_the_environment_says_at_first_is_kept_for_later_commands(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    first = {
        "HTTP_PORT": "18800", "MQTT_PORT": "18830", "MQTTS_PORT": "18883", "MQTT_READERS_PORT": "18884",
        "INFLUX_PORT": "18086", "TELEGRAF_PORT": "18088", "SPOOL_PORT": "18087", "READINGS_PORT": "18089",
        "HTTPS_PORT": "18443",
        "HTTP_NAMES": "a.example,b.example", "DATA_DIR": str(tmp_path / "da ta"), "SDA_ADMIN_PASSWORD": "a/b+c=",
    }  # fmt: skip
    load(file, first | {"SIM": "0", "SDA_VIEWER_PASSWORD": "w $x 'y' #z", "UNRELATED": "x"})
    later = load(file, {})
    assert {key: later[key] for key in first} == first
    assert later["SIM"] == ""
    assert "$x" not in file.read_text(), "what readers of the file would understand differently"
    assert "UNRELATED" not in file.read_text()
    assert load(file, {"HTTP_PORT": "18801"})["HTTP_PORT"] == "18801"
    assert load(file, {})["HTTP_PORT"] == "18800", "a later value is for its own command"


@pytest.mark.parametrize("value", ["http", "0", "65536", "70000", "999999999999", "-1", "18.80"])
def test_a_port_of_the_environment_that_is_none_leaves_no_file(tmp_path: Path, value: str) -> None:
    with pytest.raises(StackError, match=r"HTTP_PORT=.* is not a port; give a number"):
        load(tmp_path / ".env", {"HTTP_PORT": value})
    assert load(tmp_path / ".env", {})["HTTP_PORT"] == "1880"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("this is no setting", r"line \d+ is not KEY=value"),
        ("lower=case", r"line \d+ is not KEY=value"),
        ("HTTP_PORT=1880", "has HTTP_PORT twice"),
    ],
)
def test_damaged_line_is_named(tmp_path: Path, line: str, words: str) -> None:
    load(tmp_path / ".env", {})
    with (tmp_path / ".env").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(StackError, match=words):
        load(tmp_path / ".env", {})


def test_empty_secret_is_refused_by_name(tmp_path: Path) -> None:
    settings = load(tmp_path / ".env", {})
    file = tmp_path / ".env"
    file.write_text(file.read_text().replace(settings["SDA_API_KEY"], ""))
    with pytest.raises(StackError, match="has no SDA_API_KEY; restore"):
        load(file, {})


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("HTTP_PORT", "http", "HTTP_PORT=http .* is not a port"),
        ("HTTP_PORT", "70000", "HTTP_PORT=70000 .* is not a port"),
        ("HTTP_PORT", "8086", "8086 .* is used twice"),
        ("HTTP_BIND", "everywhere", "HTTP_BIND=everywhere .* is not an IP address"),
        ("HTTPS_PORT", "1880", "1880 .* is used twice"),
        ("HTTPS_BIND", "everywhere", "HTTPS_BIND=everywhere .* is not an IP address"),
        ("HTTPS_CERT", "README.md", "HTTPS_CERT in .* is set alone"),
        ("SDA_BUILDING", "no/such.json", "SDA_BUILDING=no/such.json .* is no file"),
    ],
)
def test_errors_name_the_key_of_an_invalid_value(tmp_path: Path, key: str, value: str, words: str) -> None:
    with pytest.raises(StackError, match=words):
        load(tmp_path / ".env", {key: value})


def test_https_needs_valid_certificate_files_and_plain_http_on_loopback(
    tmp_path: Path,
) -> None:
    file = tmp_path / ".env"
    assert "HTTPS_PORT" not in load(file, {}).port_keys
    settings = load(file, {"HTTPS_PORT": "8443"})
    assert settings.port_keys[-1] == "HTTPS_PORT"
    assert settings.https_certificate[0] == settings.data_dir / "broker" / "https" / "server.crt"
    with pytest.raises(StackError, match=r"HTTP_BIND=0\.0\.0\.0 .* must be 127\.0\.0\.1 while HTTPS_PORT is set"):
        load(file, {"HTTPS_PORT": "8443", "HTTP_BIND": "0.0.0.0"})  # noqa: S104
    own = {"HTTPS_CERT": str(tmp_path / "own.crt"), "HTTPS_KEY": str(tmp_path / "own.key")}
    with pytest.raises(StackError, match=r"HTTPS_CERT=.*own\.crt .* is no file that this user can read"):
        load(file, own)
    for path in own.values():
        Path(path).touch()
    assert load(file, own).https_certificate == (tmp_path / "own.crt", tmp_path / "own.key")
