"""Queries to a Prometheus: Google's managed one, or that of the laptop cloud."""
