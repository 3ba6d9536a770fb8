"""Decoders of beacon adverts: bytes in, a frame or None out, never an exception. One file per format, all pure."""

from gateway_agent.decoders.combine import decode, describe
from gateway_agent.decoders.types import Frame, Sighting, Telemetry

__all__ = ["Frame", "Sighting", "Telemetry", "decode", "describe"]
