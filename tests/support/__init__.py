"""Helpers of the system tests; no tests live here."""
