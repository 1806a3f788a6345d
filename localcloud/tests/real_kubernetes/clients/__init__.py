"""Clients that others publish, asking a laptop cloud: each a program of its own that prints what it saw as JSON."""
