"""The configuration file and its overrides: errors name the key."""

import json
from pathlib import Path
from typing import Any

import pytest
from gateway_agent import config
from gateway_agent.config import ConfigError
from gateway_agent.settings import Rule, Settings, rules
from running_agent import write_toml

MINIMAL: dict[str, Any] = {"id": "gw-1", "broker": {"host": "broker.example"}}


def load(folder: Path, sections: dict[str, Any], **environment: str) -> Settings:
    """Settings of a file with these sections."""
    path = folder / "agent.toml"
    write_toml(path, sections)
    return config.load(path, environment)


def test_minimal_configuration(tmp_path: Path) -> None:
    settings = load(tmp_path, MINIMAL)
    assert (settings.id, settings.broker.host, settings.broker.port, settings.broker.tls) == (
        "gw-1",
        "broker.example",
        8883,
        True,
    )
    assert (settings.scan.window_ms, settings.outbox.max_mib, settings.outbox.replay_s) == (1000, 256, 600)
    assert (settings.scan.restart_after_s, settings.scan.reset_after_s, settings.health_s) == (30, 120, 15)


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        {**MINIMAL, "scan": {"min_rssi": -90}},
        SDA_GATEWAY_ID="gw-2",
        SDA_GATEWAY_BROKER_PORT="1884",
        SDA_GATEWAY_BROKER_TLS="false",
        SDA_GATEWAY_SCAN_ALLOW="c2:a6:28:38:4b:08, AABBCCDDEEFF",
        SDA_GATEWAY_SCAN_RESTART_AFTER_S="12.5",
        HOME="/root",
    )
    assert (settings.id, settings.broker.port, settings.broker.tls) == ("gw-2", 1884, False)
    assert settings.scan.allow == ["C2A628384B08", "AABBCCDDEEFF"]
    assert (settings.scan.min_rssi, settings.scan.restart_after_s) == (-90, 12.5)


def test_the_environment_alone_is_enough(tmp_path: Path) -> None:
    settings = config.load(tmp_path / "none.toml", {"SDA_GATEWAY_ID": "gw-1", "SDA_GATEWAY_BROKER_HOST": "b"})
    assert settings.broker.host == "b"


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        ({"broker": {"host": "b"}}, "id is missing"),
        ({"id": "gw-1"}, "broker.host is missing"),
        ({**MINIMAL, "windows": 1}, "windows is no key"),
        ({**MINIMAL, "scan": {"min_rsi": -90}}, "scan.min_rsi is no key"),
        ({**MINIMAL, "scan": 3}, r"a section \[scan\] is needed"),
        ({**MINIMAL, "id": "with space"}, "id is 'with space'"),
        ({**MINIMAL, "id": 7}, "id is 7; text in quotes is needed"),
        ({**MINIMAL, "scan": {"window_ms": 10}}, "scan.window_ms is 10; it must lie between 100 and 60000"),
        ({**MINIMAL, "scan": {"window_ms": 1000.5}}, "scan.window_ms is 1000.5; an integer is needed"),
        ({**MINIMAL, "scan": {"window_ms": True}}, "scan.window_ms is True; an integer is needed"),
        ({**MINIMAL, "scan": {"allow": ["nonsense"]}}, "scan.allow: 'nonsense' is not a beacon id"),
        ({**MINIMAL, "scan": {"allow": "C2A628384B08"}}, "a list of beacon ids is needed"),
        (
            {**MINIMAL, "scan": {"unregistered": "maybe"}},
            "scan.unregistered is 'maybe'; it must be one of drop, publish",
        ),
        ({**MINIMAL, "scan": {"adapter": "eth0"}}, "scan.adapter is 'eth0'"),
        ({**MINIMAL, "scan": {"adapter": "B8:27:EB:00:00"}}, "scan.adapter is 'B8:27:EB:00:00'"),
        ({**MINIMAL, "scan": {"restart_after_s": 200}}, "scan.reset_after_s must be longer"),
        ({**MINIMAL, "state_dir": ""}, "state_dir is ''"),
        ({**MINIMAL, "clock": {"source": "sundial"}}, "clock.source is 'sundial'"),
        ({"id": "g", "broker": {"host": "b", "tls": "yes"}}, "broker.tls is 'yes'; true or false is needed"),
        ({"id": "g", "broker": {"host": "b", "password": "x", "password_file": "y"}}, "both given"),
        ({"id": "g", "broker": {"host": "b", "client_cert": "x"}}, "belong together"),
        ({"id": "g", "broker": {"host": "b", "tls": False, "ca_file": "x"}}, "broker.ca_file"),
    ],
)
def test_errors_name_the_key(tmp_path: Path, sections: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load(tmp_path, sections)


@pytest.mark.parametrize(
    ("variable", "text", "says"),
    [
        ("SDA_GATEWAY_BROKER_HOTS", "b", "SDA_GATEWAY_BROKER_HOTS is no key"),
        ("SDA_GATEWAY_BROKER_PORT", "many", "SDA_GATEWAY_BROKER_PORT is 'many'; a number is needed"),
        ("SDA_GATEWAY_BROKER_PORT", "0", "broker.port is 0"),
        ("SDA_GATEWAY_BROKER_TLS", "perhaps", "SDA_GATEWAY_BROKER_TLS is 'perhaps'"),
    ],
)
def test_errors_name_the_variable(tmp_path: Path, variable: str, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load(tmp_path, MINIMAL, **{variable: text})


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"broker\.password is not shown; text in quotes is needed"):
        load(tmp_path, {"id": "g", "broker": {"host": "b", "password": 12345}})


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    path, word = tmp_path / "agent.toml", tmp_path / "word"
    path.write_text(f'id = "g"\n[broker]\nhost = "b"\npassword_file = "{word}"\n', "utf-8-sig")
    word.write_text("secret\r\n", "utf-8-sig")
    assert config.password(config.load(path, {})) == "secret"


@pytest.mark.parametrize("content", ["id = ", "\xff".encode("latin-1")])
def test_a_file_that_is_not_toml(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "agent.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ConfigError, match=r"agent\.toml"):
        config.load(path, {})


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        config.load(tmp_path / "agent.toml", {})


def test_the_password_comes_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "word").write_text("secret\n")
    assert (
        config.password(load(tmp_path, {"id": "g", "broker": {"host": "b", "password_file": tmp_path / "word"}}))
        == "secret"
    )
    with pytest.raises(ConfigError, match=r"broker\.password_file"):
        config.password(load(tmp_path, {"id": "g", "broker": {"host": "b", "password_file": tmp_path / "none"}}))


def documented(of: type, prefix: str = "") -> dict[str, Rule]:
    """Every key with its rule."""
    found: dict[str, Rule] = {}
    for name, (_, rule) in rules(of).items():
        if isinstance(rule, Rule):
            found[prefix + name] = rule
        else:
            found |= documented(rule, f"{name}.")
    return found


def shown(rule: Rule) -> str:
    """A default in the form of the README's table."""
    if rule.required:
        return "required"
    value = list(rule.default) if isinstance(rule.default, tuple) else rule.default
    return f"`{json.dumps(value)}`"


def test_the_readme_documents_every_key_with_its_default() -> None:
    rows: dict[str, tuple[str, str]] = {}
    for line in (Path(__file__).parents[1] / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").replace("\\|", "¦").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            rows[cells[0].strip("`")] = (cells[1], cells[2].replace("¦", "|"))
    assert rows == {name: (shown(rule), rule.doc) for name, rule in documented(Settings).items()}


def test_every_default_passes_its_own_rule(tmp_path: Path) -> None:
    for name, rule in documented(Settings).items():
        if rule.required or rule.default == ():
            continue
        section, _, key = name.rpartition(".")
        value = {section: {key: rule.default}} if section else {key: rule.default}
        load(tmp_path, {**MINIMAL, **value, "broker": {**MINIMAL["broker"], **value.get("broker", {})}})
