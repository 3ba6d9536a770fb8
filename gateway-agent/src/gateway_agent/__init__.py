"""Scans Bluetooth beacons and publishes readings over MQTT."""

from importlib.metadata import version

__version__ = version("sda-gateway-agent")
