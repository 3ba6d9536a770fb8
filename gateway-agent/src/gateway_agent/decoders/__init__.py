"""Decoders of beacon adverts: bytes in, a record or None out, never an exception. One file a format, all pure."""

from gateway_agent.decoders.combine import decode, describe
from gateway_agent.decoders.types import Frame, Sighting, Telemetry

__all__ = ["Frame", "Sighting", "Telemetry", "decode", "describe"]
