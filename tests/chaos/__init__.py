"""`make chaos`: services are killed at random under load; afterwards nothing is lost, and no answer was half of one."""
