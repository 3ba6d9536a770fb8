"""What `doctor` reports: one line for each thing, in order. Pure."""

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """How a check went."""

    OK = "OK"
    LOOK = "LOOK"  # works, but somebody should know
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what was looked at, what was found, and what to do about it (empty: nothing)."""

    grade: Grade
    name: str
    found: str
    remedy: str = ""

    def lines(self) -> str:
        """For the terminal."""
        first = f"{self.grade.value:<5}{self.name:<14}{self.found}"
        return f"{first}\n{'':<19}-> {self.remedy}" if self.remedy else first


def ok(name: str, found: str) -> Check:
    """All is well."""
    return Check(Grade.OK, name, found)


def look(name: str, found: str, remedy: str) -> Check:
    """Works, with a remark."""
    return Check(Grade.LOOK, name, found, remedy)


def fail(name: str, found: str, remedy: str) -> Check:
    """Does not work."""
    return Check(Grade.FAIL, name, found, remedy)
