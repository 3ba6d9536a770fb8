"""Checks that no regular expression of the Python parts and the schemas backtracks; part of `make check`.

Usage: `python -m stack.patterns`. Those of the flows are checked by eslint. All of them may meet text from outside, and
one that backtracks keeps everybody waiting.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .layout import ROOT, node_folder

FOLDERS = ("broker", "gateway-agent/src", "influx", "ingest", "native/src", "simulator/src", "extras")
NOT_SHIPPED = {"tests", "node_modules"}
SCHEMAS = ("flows/building/building.schema.json",)
FUNCTIONS = {"compile", "match", "search", "fullmatch", "sub", "subn", "findall", "finditer", "split"}
FLAGS = {"DOTALL": "s", "S": "s", "MULTILINE": "m", "M": "m", "IGNORECASE": "i", "I": "i", "ASCII": "", "A": ""}
TIMEOUT_MS = 60_000
CHECKER = """
const { checkSync } = require('./node_modules/recheck');
let failed = 0;
for (const { where, source, flags } of JSON.parse(require('node:fs').readFileSync(0, 'utf8'))) {
  const { status, complexity, error } = checkSync(source, flags, { timeout: %d });
  if (status === 'safe') continue;
  failed += 1;
  console.error(`${where}: /${source}/${flags} is ${status}: ${complexity?.summary ?? JSON.stringify(error)}`);
}
process.exitCode = failed > 0 ? 1 : 0;
"""


class Pattern(NamedTuple):
    """A regular expression in JavaScript's syntax, which the checker reads."""

    where: str
    source: str
    flags: str


class UnknownPatternError(Exception):
    """The checker cannot see what the pattern is."""


def patterns(path: Path, name: str) -> Iterator[Pattern]:
    """Every regular expression of a module.

    Raises:
        UnknownPatternError: a pattern is no text that stands in the module.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FUNCTIONS):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re") or not node.args:
            continue
        where = f"{name}:{node.lineno}"
        first = node.args[0]
        if isinstance(first, ast.Name) and first.id in constants:
            first = constants[first.id]
        if isinstance(first, ast.Name | ast.Attribute):
            continue  # a constant of another module, which is checked there, or a compiled one
        if not (isinstance(first, ast.Constant) and isinstance(first.value, str | bytes)):
            message = f"{where}: the pattern is put together while the program runs; write it as one text"
            raise UnknownPatternError(message)
        text = first.value if isinstance(first.value, str) else first.value.decode("latin-1")
        yield Pattern(
            where,
            in_javascript(text, node.func.attr if node.func.attr != "compile" else use_of(node, tree)),
            flags_of(node, where),
        )


def use_of(call: ast.Call, tree: ast.Module) -> str:
    """How a compiled pattern is used in its module; where that differs, it is sought anywhere in the text."""
    names = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and node.value is call
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    uses = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names
    }
    return uses.pop() if len(uses) == 1 else "search"


def in_javascript(text: str, function: str) -> str:
    """The same pattern in JavaScript's syntax; `match` and `fullmatch` begin at the start of the text."""
    text = text.replace("(?P<", "(?<").replace(r"\Z", r"(?![\s\S])").replace(r"\A", "^")
    return {"fullmatch": f"^(?:{text})$", "match": f"^(?:{text})"}.get(function, text)


def flags_of(call: ast.Call, where: str) -> str:
    """The flags of a call, in JavaScript's letters."""
    names = {
        node.attr
        for argument in [*call.args[1:], *(keyword.value for keyword in call.keywords)]
        for node in ast.walk(argument)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re"
    }
    if unknown := names - FLAGS.keys():
        message = f"{where}: the flag {', '.join(sorted(unknown))} is not known to the check"
        raise UnknownPatternError(message)
    return "".join(sorted({FLAGS[one] for one in names}))


def constants_of(path: Path, name: str) -> Iterator[Pattern]:
    """Patterns as texts that other modules match: constants that are called `…_ID`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)):
            continue
        text = node.value.value
        if isinstance(text, str) and text.startswith(("[", "(")):
            named = any(isinstance(target, ast.Name) and target.id.endswith("_ID") for target in node.targets)
            if named:
                yield Pattern(f"{name}:{node.lineno}", in_javascript(text, "fullmatch"), "")


def of_schema(value: object, where: str) -> Iterator[Pattern]:
    """Every `pattern` of a JSON schema."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key == "pattern" and isinstance(one, str):
                yield Pattern(where, one, "u")
            else:
                yield from of_schema(one, f"{where}/{key}")
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from of_schema(one, f"{where}/{place}")


def everything() -> list[Pattern]:
    """All patterns of the product outside of the flows."""
    found: list[Pattern] = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if NOT_SHIPPED & set(path.relative_to(ROOT).parts[2:]):
                continue
            name = str(path.relative_to(ROOT))
            found += [*patterns(path, name), *constants_of(path, name)]
    for schema in SCHEMAS:
        found += of_schema(json.loads((ROOT / schema).read_text(encoding="utf-8")), schema)
    return found


def check(found: list[Pattern]) -> int:
    """Exit code 0: each takes a time in proportion to the text."""
    texts = json.dumps([one._asdict() for one in found])
    command: list[str | Path] = [node_folder() / "node", "-e", CHECKER % TIMEOUT_MS]
    return subprocess.run(command, input=texts, text=True, cwd=ROOT / "flows", check=False).returncode


if __name__ == "__main__":
    sys.exit(check(everything()))
