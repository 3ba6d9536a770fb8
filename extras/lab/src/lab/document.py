"""A report as a list of blocks, and its two forms: Markdown and one HTML page that needs no network. Pure."""

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A verdict, or a doubt."""

    kind: Literal["good", "doubt", "bad"]
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """`note` stands above it: why its figures are worth nothing."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG by the name of its file."""

    name: str
    title: str


Block = Heading | Paragraph | Notice | Table | Picture


WIDTH = 120
"""Of lines of prose in Markdown."""


def markdown(title: str, blocks: Sequence[Block], pictures: str = "pictures") -> str:
    """The report as Markdown; pictures are files in a folder beside it."""
    return f"# {title}\n\n{body(blocks, pictures)}"


def body(blocks: Sequence[Block], pictures: str = "pictures") -> str:
    """The same without a title."""
    lines: list[str] = []
    for block in blocks:
        match block:
            case Heading(text):
                lines += [f"## {text}", ""]
            case Paragraph(text):
                lines += [*textwrap.wrap(text, WIDTH), ""]
            case Notice(_, text):
                lines += [f"**{text}**", ""]
            case Table(head, rows, note):
                lines += [
                    *([f"**{note}**", ""] if note else []),
                    *_markdown_rows([head, ["---"] * len(head), *rows]),
                    "",
                ]
            case Picture(name, picture_title):
                lines += [f"![{picture_title}]({pictures}/{name}.svg)", ""]
    return "\n".join(lines)


def _markdown_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows]


STYLE = """
:root { color-scheme: light; --ink: #1b2430; --soft: #5b6674; --line: #d9dfe6; --bad: #b3261e; --good: #1a6b3c; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f6f8; color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 26px; line-height: 1.25; margin: 8px 0 4px; }
h2 { font-size: 18px; margin: 36px 0 8px; }
p { margin: 8px 0; max-width: 78ch; }
.notice { border-left: 5px solid var(--good); background: #fff; padding: 10px 14px; margin: 12px 0; font-weight: 600; }
.notice.doubt { border-color: #b26a00; font-weight: 400; }
.notice.bad { border-color: var(--bad); color: var(--bad); }
figure, .table { background: #fff; border: 1px solid var(--line); border-radius: 8px; margin: 14px 0; padding: 12px;
  overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: 13px; margin-bottom: 6px; }
table { border-collapse: collapse; font-size: 13.5px; min-width: 100%; }
th, td { text-align: right; padding: 5px 9px; border-bottom: 1px solid var(--line); vertical-align: top;
  font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
th.text, td.text { text-align: left; }
tr:last-child td { border-bottom: 0; }
.void { color: var(--bad); font-weight: 700; }
"""


def page(title: str, blocks: Sequence[Block], pictures: Mapping[str, str]) -> str:
    """The report as one HTML page; the SVGs stand in it."""
    parts = []
    for block in blocks:
        match block:
            case Heading(text):
                parts.append(f"<h2>{html.escape(text)}</h2>")
            case Paragraph(text):
                parts.append(f"<p>{html.escape(text)}</p>")
            case Notice(kind, text):
                parts.append(f'<p class="notice {kind}">{html.escape(text)}</p>')
            case Table(head, rows, note):
                parts.append(_table(head, rows, note))
            case Picture(name, picture_title):
                caption = f"<figcaption>{html.escape(picture_title)}</figcaption>"
                parts.append(f'<figure aria-label="{html.escape(picture_title)}">{caption}{pictures[name]}</figure>')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main><h1>{html.escape(title)}</h1>\n" + "\n".join(parts) + "\n</main></body></html>\n"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], note: str) -> str:
    above = f'<div class="void">{html.escape(note)}</div>' if note else ""
    texts = [any(_is_text(str(row[column])) for row in rows) for column in range(len(head))]
    heads = "".join(
        f'<th scope="col"{_kind(text)}>{html.escape(one)}</th>' for one, text in zip(head, texts, strict=True)
    )
    body = ""
    for row in rows:
        cells = (f"<td{_kind(text)}>{html.escape(str(cell))}</td>" for cell, text in zip(row, texts, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    return f'<div class="table">{above}<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'


def _kind(text: bool) -> str:
    return ' class="text"' if text else ""


def _is_text(cell: str) -> bool:
    return cell[:1].isalpha() or sum(one.isalpha() for one in cell) > 12
