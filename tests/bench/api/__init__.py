"""`make bench-api`: capacity of the HTTP API, with a load generator on the same machine."""
