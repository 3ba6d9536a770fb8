"""`make fuzz`: almost valid messages through both parsers, that of ingest and that of the flows; they take the same."""
