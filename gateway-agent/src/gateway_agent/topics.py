"""The contract's topics of one gateway. Pure."""

from dataclasses import dataclass

PREFIX = "sda/v1"


@dataclass(frozen=True, slots=True)
class Topics:
    """Full topic names."""

    readings: str
    status: str
    health: str
    config: str

    @classmethod
    def of(cls, gateway: str) -> "Topics":
        """Those of the gateway with this id."""
        return cls(*(f"{PREFIX}/gateway/{gateway}/{name}" for name in ("readings", "status", "health", "config")))
