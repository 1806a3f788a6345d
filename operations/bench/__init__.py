"""Throughput, time to first token and price of a served model, measured by guidellm."""
