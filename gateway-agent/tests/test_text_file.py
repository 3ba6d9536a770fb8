"""Texts in the encodings in which editors save them."""

from pathlib import Path

import pytest
from gateway_agent import config
from gateway_agent.config import ConfigError
from gateway_agent.text_file import EncodingError, decode
from hypothesis import given
from hypothesis import strategies as st

TEXT = 'place = "Büro"\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf_8_is_read_with_and_without_its_mark(encoding: str) -> None:
    assert decode(TEXT.encode(encoding)) == TEXT


OTHERS = [
    (TEXT.encode("latin-1"), r"is Latin-1 or Windows-1252, not UTF-8 \(line 1 has the byte 0xFC\)"),
    (TEXT.encode("utf-16"), r"is UTF-16 \(little-endian\), not UTF-8"),
    (("\ufeff" + TEXT).encode("utf-16-be"), r"is UTF-16 \(big-endian\), not UTF-8"),
    (TEXT.encode("utf-16-le"), r"is UTF-16 \(little-endian\) without a byte order mark"),
    (TEXT.encode("utf-32"), "is UTF-32, not UTF-8"),
]


@pytest.mark.parametrize(("data", "why"), OTHERS)
def test_another_encoding_is_named(data: bytes, why: str, tmp_path: Path) -> None:
    with pytest.raises(EncodingError, match=why):
        decode(data)
    (tmp_path / "config.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=f"config.toml {why}.*save it as UTF-8"):
        config.load(tmp_path / "config.toml", {})


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_have_a_reason(data: bytes) -> None:
    reason = ""
    try:
        text = decode(data)
    except EncodingError as error:
        reason = str(error)
    else:
        assert text.encode("utf-8", "strict") == data.removeprefix(b"\xef\xbb\xbf")
    assert reason == "" or "save it as UTF-8" in reason
