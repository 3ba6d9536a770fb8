"""Benchmarks against the whole stack."""
