"""The result lines of `doctor`. Pure."""

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """Result of a check."""

    OK = "OK"
    WARN = "WARN"  # works, but needs attention
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Check:
    """One line: the thing checked, the finding, and the remedy (empty: none needed)."""

    grade: Grade
    name: str
    found: str
    remedy: str = ""

    def lines(self) -> str:
        """For the terminal."""
        first = f"{self.grade.value:<5}{self.name:<14}{self.found}"
        return f"{first}\n{'':<19}-> {self.remedy}" if self.remedy else first


def ok(name: str, found: str) -> Check:
    """A passed check."""
    return Check(Grade.OK, name, found)


def warn(name: str, found: str, remedy: str) -> Check:
    """A warning."""
    return Check(Grade.WARN, name, found, remedy)


def fail(name: str, found: str, remedy: str) -> Check:
    """A failed check."""
    return Check(Grade.FAIL, name, found, remedy)
