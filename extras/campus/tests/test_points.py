"""Flux's annotated CSV becomes line protocol without a change of type, text or time."""

import csv
import io

import pytest
from points import lines, nanoseconds

TYPES = {
    "double": ("1e-07", "1e-07"),
    "long": ("-61", "-61i"),
    "unsignedLong": ("7", "7u"),
    "boolean": ("true", "true"),
}


def _read(text: str) -> list[str]:
    return list(lines(csv.reader(io.StringIO(text, newline=""))))


def _table(kind: str, value: str, more: str = "") -> str:
    return (
        f"#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,{kind},string,string,string\r\n"
        ",result,table,_start,_stop,_time,_value,_field,_measurement,beacon\r\n"
        f",_result,0,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,2026-01-01T12:00:00.000000042Z,{value},f,m,{more}\r\n\r\n"
    )


@pytest.mark.parametrize("kind", TYPES)
def test_a_number_keeps_its_type(kind: str) -> None:
    given, written = TYPES[kind]
    assert _read(_table(kind, given)) == [f"m f={written} 1767268800000000042"]


def test_a_text_keeps_quotes_backslashes_lines_and_emptiness() -> None:
    assert _read(_table("string", '"a ""b"" \\ c\nd"')) == ['m f="a \\"b\\" \\\\ c\nd" 1767268800000000042']
    assert _read(_table("string", "")) == ['m f="" 1767268800000000042']


def test_tags_are_escaped_and_an_absent_one_is_left_out() -> None:
    assert _read(_table("long", "1", '"a b,c=d"')) == ["m,beacon=a\\ b\\,c\\=d f=1i 1767268800000000042"]
    assert _read(_table("long", "1")) == ["m f=1i 1767268800000000042"]


def test_tables_of_several_types_follow_each_other() -> None:
    assert [line.split()[1] for line in _read(_table("long", "1") + _table("double", "2"))] == ["f=1i", "f=2"]


def test_an_answer_that_breaks_off_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"broke off: .*out of memory"):
        _read(_table("long", "1") + "#datatype,string,string\r\n,error,reference\r\n,out of memory,897\r\n")
    with pytest.raises(ValueError, match="type duration"):
        _read(_table("duration", "1s"))


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000_000),
        ("1970-01-01T00:00:00.5Z", 500_000_000),
        ("1970-01-02T00:00:00.000000001Z", 86_400_000_000_001),
    ],
)
def test_times_are_exact(text: str, ns: int) -> None:
    assert nanoseconds(text) == ns
