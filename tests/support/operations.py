"""The commands of the operations page that tests run."""

import re

from stack.layout import ROOT

BLOCKS = dict(
    re.findall(r"<!-- tested: ([^\n]+) -->\n```sh\n(.*?)```", (ROOT / "docs" / "operations.md").read_text(), re.DOTALL)
)
"""By the names that stand above them."""


def block(name: str, archive: str = "") -> str:
    """The commands; an archive's name replaces the example's."""
    return re.sub(r"archive=\S+", f"archive={archive}", BLOCKS[name]) if archive else BLOCKS[name]
