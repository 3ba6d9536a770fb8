"""Measures how often the locator names the right room, on recorded and simulated walks."""
