"""Throughput, time to first token and price of a served model, by a load generator that others keep."""
