"""`make bench-api`: what the HTTP API carries, with a well-kept load generator on the same machine."""
