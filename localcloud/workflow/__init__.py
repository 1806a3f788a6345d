"""Runs the unmodified program on the real engine, with stand-ins in place of Google Cloud and Kubernetes."""
