"""Text files that people write with any editor: UTF-8 with or without a byte order mark; another encoding is named."""

from pathlib import Path

_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16 (little-endian)",
    b"\xfe\xff": "UTF-16 (big-endian)",
}


class EncodingError(ValueError):
    """The file is no UTF-8; the message names what it is, and what to do."""


def read_text(path: Path) -> str:
    """The text of a file, without its byte order mark.

    Raises:
        OSError: it cannot be read.
        EncodingError: it is in another encoding.
    """
    return decode(path.read_bytes())


def decode(data: bytes) -> str:
    """The text of these bytes. Raises EncodingError."""
    marked = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    if marked is None and data[1:2] == b"\0" and data[:1] != b"\0":
        marked = "UTF-16 (little-endian) without a byte order mark"
    if marked is None and data[:1] == b"\0" and data[1:2] != b"\0":
        marked = "UTF-16 (big-endian) without a byte order mark"
    if marked is not None:
        raise EncodingError(f"is {marked}, not UTF-8: save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wrong = f"line {line} has the byte 0x{data[error.start]:02X}"
        raise EncodingError(f"is Latin-1 or Windows-1252, not UTF-8 ({wrong}): save it as UTF-8") from error
