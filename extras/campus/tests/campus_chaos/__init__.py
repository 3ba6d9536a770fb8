"""`make campus-chaos`: parts of a campus are killed, frozen and cut off under load; nothing is lost."""
