"""Plays virtual SDAs, recorded walks and the HACS poller."""
