"""The contract's topics for one gateway. Pure."""

from dataclasses import dataclass

PREFIX = "sda/v1"
BROKER_UPTIME = "$SYS/broker/uptime"
"""Mosquitto publishes its uptime there: "123 seconds", retained, every ten seconds by default."""


@dataclass(frozen=True, slots=True)
class Topics:
    """Full topic names."""

    readings: str
    status: str
    health: str
    config: str

    @classmethod
    def for_gateway(cls, gateway: str) -> "Topics":
        """The topics of the gateway with this id."""
        return cls(*(f"{PREFIX}/gateway/{gateway}/{name}" for name in ("readings", "status", "health", "config")))
