"""Helpers of the system tests, without tests."""
