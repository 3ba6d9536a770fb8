"""The contract's topics of one gateway. Pure."""

from dataclasses import dataclass

PREFIX = "sda/v1"
BROKER_UPTIME = "$SYS/broker/uptime"
"""Mosquitto says there how long it has been running: "123 seconds", retained, every ten seconds unless configured."""


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
