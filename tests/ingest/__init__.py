"""Tests of ingest's points per message, and their helpers."""
