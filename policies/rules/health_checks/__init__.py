"""Rules about health checks and timeouts."""
