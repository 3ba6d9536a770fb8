"""The load laboratory: scenarios that drive a whole platform, measure it honestly and count everything afterwards."""
