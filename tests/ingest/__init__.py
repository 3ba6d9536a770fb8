"""What ingest makes of messages, and the helpers these tests share."""
